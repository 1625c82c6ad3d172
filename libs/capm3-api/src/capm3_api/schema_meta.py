"""The rules on object metadata that hold for every kind, and on the metadata of embedded resources.

Apart from the schema's own checks: a CRD's schema says nothing on ``metadata`` beyond its type, the API server adds
these. Needed wherever there is no API server: ``capm3 validate`` and the embedded API.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from capm3_api.model import Raw
from capm3_api.schema_prune import field_schema
from capm3_api.validation import errors
from capm3_api.validation.errors import SchemaError

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_NAME_PART = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\Z")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?\Z")

_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_NAME_PART_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_ANNOTATIONS_LIMIT = 256 * 1024


def validate(obj: Mapping[str, Any], *, namespaced: bool = True) -> list[SchemaError]:
    """Everything wrong with the metadata of a whole object that is to be created.

    Args:
        obj: name or generateName, and namespace where the kind has one, as they will be stored.
    """
    metadata = obj.get("metadata")
    if not isinstance(metadata, Mapping):
        return [errors.required("metadata.name", "name or generateName is required")]
    return _name(metadata, namespaced) + common(metadata, "metadata")


def common(metadata: Mapping[str, Any], path: str) -> list[SchemaError]:
    """Labels, annotations, finalizers and owner references."""
    return (
        _labels(metadata.get("labels"), f"{path}.labels")
        + _annotations(metadata.get("annotations"), f"{path}.annotations")
        + _finalizers(metadata.get("finalizers"), f"{path}.finalizers")
        + _owners(metadata.get("ownerReferences"), f"{path}.ownerReferences")
    )


def _name(metadata: Mapping[str, Any], namespaced: bool) -> list[SchemaError]:
    name, prefix = metadata.get("name") or "", metadata.get("generateName") or ""
    found = []
    if not name and not prefix:
        found.append(errors.required("metadata.name", "name or generateName is required"))
    elif name and subdomain_problem(str(name)):
        found.append(errors.invalid("metadata.name", name, subdomain_problem(str(name))))
    namespace = metadata.get("namespace")
    if namespaced and namespace and (len(str(namespace)) > 63 or not _DNS_LABEL.match(str(namespace))):
        found.append(errors.invalid("metadata.namespace", namespace, _LABEL_TEXT))
    return found


def subdomain_problem(name: str) -> str:
    """Why a text is no name of an object; ``""`` when it is one."""
    if len(name) > 253:
        return "must be no more than 253 bytes"
    return "" if _SUBDOMAIN.match(name) else _SUBDOMAIN_TEXT


def key_problem(key: str) -> str:
    """Why a text is no key of a label or annotation; ``""`` when it is one."""
    prefix, slash, name = key.rpartition("/")
    if slash and (not prefix or subdomain_problem(prefix)):
        return f"prefix part {subdomain_problem(prefix) if prefix else 'must be non-empty'}"
    if not name:
        return "name part must be non-empty"
    if len(name) > 63:
        return "name part must be no more than 63 bytes"
    return "" if _NAME_PART.match(name) else _NAME_PART_TEXT


def label_value_problem(value: str) -> str:
    """Why a text is no value of a label; ``""`` when it is one."""
    if len(value) > 63:
        return "must be no more than 63 bytes"
    return "" if _LABEL_VALUE.match(value) else _VALUE_TEXT


def _labels(labels: Any, path: str) -> list[SchemaError]:
    found = []
    for key, value in _items(labels):
        if problem := key_problem(key):
            found.append(errors.invalid(path, key, problem))
        if not isinstance(value, str):
            found.append(errors.invalid(f"{path}.{key}", value, "must be a string"))
        elif problem := label_value_problem(value):
            found.append(errors.invalid(path, value, problem))
    return found


def _annotations(annotations: Any, path: str) -> list[SchemaError]:
    found = []
    size = 0
    for key, value in _items(annotations):
        # Annotation keys may have capitals where label keys may: in the name; the prefix is compared in lower case.
        if problem := key_problem(key.lower()):
            found.append(errors.invalid(path, key, problem))
        if not isinstance(value, str):
            found.append(errors.invalid(f"{path}.{key}", value, "must be a string"))
        size += len(key.encode()) + len(str(value).encode())
    if size > _ANNOTATIONS_LIMIT:
        found.append(errors.make(errors.TOO_LONG, path, None, f"may not be more than {_ANNOTATIONS_LIMIT} bytes"))
    return found


def _finalizers(finalizers: Any, path: str) -> list[SchemaError]:
    found = []
    for index, item in enumerate(finalizers if isinstance(finalizers, list) else []):
        problem = key_problem(item) if isinstance(item, str) else "must be a string"
        if problem:
            found.append(errors.invalid(f"{path}[{index}]" if not isinstance(item, str) else path, item, problem))
    return found


def _owners(owners: Any, path: str) -> list[SchemaError]:
    found: list[SchemaError] = []
    controllers = 0
    for index, item in enumerate(owners if isinstance(owners, list) else []):
        owner = item if isinstance(item, dict) else {}
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                detail = "version must not be empty" if name == "apiVersion" else "must not be empty"
                found.append(errors.invalid(f"{path}[{index}].{name}", owner.get(name) or "", detail))
        controllers += owner.get("controller") is True
    if controllers > 1:
        found.append(errors.invalid(path, owners, "Only one reference can have Controller set to true"))
    return found


def _items(value: Any) -> list[tuple[str, Any]]:
    return sorted((str(key), item) for key, item in value.items()) if isinstance(value, dict) else []


def embedded(schema: Mapping[str, Any] | None, value: Any, path: str = "") -> list[SchemaError]:
    """The same rules for every ``x-kubernetes-embedded-resource`` below `value`; the root itself is not one."""
    if schema is None:
        return []
    if isinstance(value, list):
        items = schema.get("items")
        return [error for index, item in enumerate(value) for error in embedded(items, item, f"{path}[{index}]")]
    if not isinstance(value, dict):
        return []
    found = _resource(value, path) if path and schema.get("x-kubernetes-embedded-resource") else []
    for key, item in value.items():
        found += embedded(field_schema(schema, key)[1], item, f"{path}.{key}" if path else key)
    return found


def _resource(value: Raw, path: str) -> list[SchemaError]:
    found = []
    for name in ("apiVersion", "kind"):
        if name not in value:
            found.append(errors.required(f"{path}.{name}"))
        elif not isinstance(value[name], str):
            found.append(errors.invalid(f"{path}.{name}", value[name], "must be a string"))
        elif not value[name]:
            found.append(errors.invalid(f"{path}.{name}", "", "must not be empty"))
    metadata = value.get("metadata")
    return found + (common(metadata, f"{path}.metadata") if isinstance(metadata, dict) else [])
