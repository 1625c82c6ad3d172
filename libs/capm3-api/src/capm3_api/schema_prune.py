"""Takes away what a structural schema does not have and fills in what it has a default for.

Apart from the checks of `capm3_api.schema_values`: these two change an object and never refuse it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from capm3_api.model import Raw

Schema = Mapping[str, Any]

_META = frozenset({"apiVersion", "kind", "metadata"})
_OBJECT_META = frozenset(
    {
        "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
        "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
        "managedFields",
    }
)  # fmt: skip


def prune(schema: Schema, obj: Raw) -> tuple[Raw, list[str]]:
    """See `capm3_api.schema.prune`."""
    dropped: list[str] = []
    root = {**schema, "x-kubernetes-embedded-resource": True}
    result: Raw = _pruned(root, obj, "", dropped)
    return result, sorted(dropped)


def _pruned(schema: Schema | None, value: Any, path: str, dropped: list[str]) -> Any:
    if isinstance(value, list):
        items = (schema or {}).get("items")
        keep = bool((schema or {}).get("x-kubernetes-preserve-unknown-fields"))
        if keep and items is None:
            return copy.deepcopy(value)
        return [_pruned(items, item, f"{path}[{index}]", dropped) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    return _pruned_map(schema or {}, value, path, dropped)


def _pruned_map(schema: Schema, value: Raw, path: str, dropped: list[str]) -> Raw:
    keep = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    result: Raw = {}
    for key, item in value.items():
        inner = f"{path}.{key}" if path else key
        known, child = field_schema(schema, key)
        if embedded and key in _META:
            result[key] = _pruned_meta(item, inner, dropped) if key == "metadata" else item
        elif known:
            result[key] = _pruned(child, item, inner, dropped)
        elif keep:
            result[key] = copy.deepcopy(item)
        else:
            dropped.append(inner)
    return result


def _pruned_meta(value: Any, path: str, dropped: list[str]) -> Any:
    if not isinstance(value, dict):
        return value
    dropped.extend(f"{path}.{key}" for key in value if key not in _OBJECT_META)
    return {key: copy.deepcopy(item) for key, item in value.items() if key in _OBJECT_META}


def field_schema(schema: Schema, key: str) -> tuple[bool, Schema | None]:
    """Whether a map may hold `key`, and the schema of its value (``None``: anything)."""
    properties = schema.get("properties") or {}
    if key in properties:
        return True, properties[key]
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping):
        return True, extra
    return bool(extra), {"x-kubernetes-preserve-unknown-fields": True} if extra else None


def default(schema: Schema, obj: Raw) -> Raw:
    """See `capm3_api.schema.default`."""
    result: Raw = _defaulted(schema, _without_nulls(schema, obj))
    return result


def _forbidden_null(schema: Schema | None, value: Any) -> bool:
    return value is None and schema is not None and not schema.get("nullable")


def _without_nulls(schema: Schema | None, value: Any) -> Any:
    if isinstance(value, list):
        items = (schema or {}).get("items")
        return [_without_nulls(items, item) for item in value]
    if not isinstance(value, dict):
        return value
    result: Raw = {}
    for key, item in value.items():
        child = field_schema(schema, key)[1] if schema is not None else None
        if _forbidden_null(child, item) and child is not None and "default" not in child:
            continue
        result[key] = _without_nulls(child, item)
    return result


def _defaulted(schema: Schema | None, value: Any) -> Any:
    if schema is None:
        return value
    if isinstance(value, list):
        return [_defaulted(schema.get("items"), _filled(schema.get("items"), item)) for item in value]
    if not isinstance(value, dict):
        return value
    result = dict(value)
    for key, child in (schema.get("properties") or {}).items():
        if "default" in child and (key not in result or _forbidden_null(child, result[key])):
            result[key] = copy.deepcopy(child["default"])
    return {key: _defaulted_field(schema, key, item) for key, item in result.items()}


def _defaulted_field(schema: Schema, key: str, item: Any) -> Any:
    child = field_schema(schema, key)[1]
    return _defaulted(child, _filled(child, item))


def _filled(schema: Schema | None, item: Any) -> Any:
    if schema is not None and _forbidden_null(schema, item):
        return copy.deepcopy(schema.get("default"))
    return item
