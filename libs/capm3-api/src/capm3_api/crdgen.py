"""Makes CustomResourceDefinitions from the typed models, their markers and the table of facts.

Apart from the models, which must read objects without knowing OpenAPI. The files under ``crds/`` are its output, checked
in (``python tools/gen_crds.py``), and a test holds them to be the same.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import types
import typing
from collections.abc import Mapping
from typing import Any

from capm3_api import crdgen_facts
from capm3_api.crdgen_facts import Column, Facts, Version
from capm3_api.markers import UNSET, Param, Schema
from capm3_api.meta import Kind, Object
from capm3_api.model import Model, Raw

_SCALARS: Mapping[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}
_PLAIN = {
    "pattern": "pattern",
    "format": "format",
    "min_length": "minLength",
    "max_length": "maxLength",
    "minimum": "minimum",
    "maximum": "maximum",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_properties": "minProperties",
    "list_type": "x-kubernetes-list-type",
    "map_type": "x-kubernetes-map-type",
}
_ROOT: Mapping[str, str] = {
    "apiVersion": "Version of the schema that the object follows.",
    "kind": "Kind of the object.",
}


@dataclasses.dataclass(frozen=True)
class Webhook:
    """Where the API server reaches ``/convert``: a URL, or a Service in the cluster.

    Args:
        ca_bundle: PEM certificates, base64 as the API wants it; ``""`` leaves it to cert-manager.
    """

    url: str = ""
    service: str = "capm3-webhook-service"
    namespace: str = "capm3-system"
    port: int = 443
    path: str = "/convert"
    ca_bundle: str = ""

    def client_config(self) -> Raw:
        """``webhook.clientConfig`` of a CRD."""
        config: Raw = {"caBundle": self.ca_bundle} if self.ca_bundle else {}
        if self.url:
            return {**config, "url": self.url}
        service = {"name": self.service, "namespace": self.namespace, "path": self.path, "port": self.port}
        return {**config, "service": service}


def all_crds(conversion: Webhook | None = None) -> list[Raw]:
    """The CRDs of all kinds that this project ships, our nine first."""
    return [generate(facts, conversion) for facts in crdgen_facts.ALL.values()]


def load(name: str, conversion: Webhook | None = None) -> Raw:
    """The CRD of a kind, by kind (``Metal3Machine``) or, where two groups have it, also ``IPAddress.ipam.metal3.io``.

    Raises:
        KeyError: this project ships no such kind.
    """
    return generate(facts_of(name), conversion)


def facts_of(name: str) -> Facts:
    """The row of the table for a kind name. Raises KeyError."""
    if name in crdgen_facts.ALL:
        return crdgen_facts.ALL[name]
    for facts in crdgen_facts.ALL.values():
        if name in (facts.kind.kind, crd_name(facts.kind)):
            return facts
    raise KeyError(name)


def crd_name(kind: Kind) -> str:
    """``metadata.name`` of the CRD of a kind."""
    return f"{kind.plural}.{kind.group}"


def file_name(kind: Kind) -> str:
    """Name of the checked-in file, as controller-gen would name it."""
    return f"{kind.group}_{kind.plural}.yaml"


def generate(facts: Facts, conversion: Webhook | None = None) -> Raw:
    """One CRD; `conversion` puts the webhook on kinds with two versions."""
    kind = facts.kind
    names: Raw = {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": kind.kind.lower(),
        "shortNames": list(facts.short_names),
    }
    if facts.categories:
        names["categories"] = list(facts.categories)
    spec: Raw = {
        "group": kind.group,
        "names": names,
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "versions": [_version(version) for version in facts.versions],
    }
    if conversion is not None and facts.convert:
        webhook = {"clientConfig": conversion.client_config(), "conversionReviewVersions": ["v1", "v1beta1"]}
        spec["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    metadata: Raw = {"name": crd_name(kind)}
    for key, value in (("labels", facts.labels), ("annotations", facts.annotations)):
        if value:
            metadata[key] = dict(value)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": spec,
    }


def _version(version: Version) -> Raw:
    result: Raw = {"name": version.name, "served": True, "storage": version.storage}
    if version.deprecated:
        result["deprecated"] = True
    if version.columns:
        result["additionalPrinterColumns"] = [_column(column) for column in version.columns]
    if version.subresources is not None:
        result["subresources"] = copy.deepcopy(dict(version.subresources))
    result["schema"] = {"openAPIV3Schema": schema_of_kind(version.model)}
    return result


def _column(column: Column) -> Raw:
    result: Raw = {"name": column.name, "type": column.type, "jsonPath": column.path, "description": column.doc}
    if column.priority:
        result["priority"] = column.priority
    return result


def schema_of_kind(model: type[Object]) -> Raw:
    """The structural schema of a whole kind."""
    own = {name: field for name, field in model.model_fields.items() if name in ("spec", "status")}
    result = _object(model, own, {})
    root: Raw = {name: {"type": "string", "description": doc} for name, doc in _ROOT.items()}
    root["metadata"] = {"type": "object"}  # kube-apiserver refuses anything else here, a description too
    result["properties"] = {**root, **result["properties"]}
    return {**result, "description": _doc(model)}


def schema_of(annotation: Any, marker: Schema, bind: Mapping[str, Any]) -> Raw:
    """The schema of one field.

    Args:
        annotation: its Python type.
        marker: its rules.
        bind: parameters given further out.
    """
    bind = {**bind, **(marker.bind or {})}
    return {**_shape(_without_none(annotation), marker, bind), **_rules(marker, bind)}


def _rules(marker: Schema, bind: Mapping[str, Any]) -> Raw:
    found = {key: _resolve(getattr(marker, name), bind) for name, key in _PLAIN.items()}
    result: Raw = {key: value for key, value in found.items() if value is not None and value != ""}
    optional = {
        "enum": list(marker.enum),
        "x-kubernetes-list-map-keys": list(marker.list_keys),
        "nullable": marker.nullable,
        "x-kubernetes-preserve-unknown-fields": marker.preserve,
        "description": marker.doc,
    }
    result.update({key: value for key, value in optional.items() if value})
    if marker.default is not UNSET:
        result["default"] = copy.deepcopy(marker.default)
    return result


def _shape(annotation: Any, marker: Schema, bind: Mapping[str, Any]) -> Raw:
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    inner = marker.items or Schema()
    if origin is list:
        return {"type": "array", "items": schema_of(arguments[0], inner, bind)}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(arguments[1], inner, bind)}
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return _object(annotation, annotation.model_fields, bind)
    if annotation is Any:
        return {"type": marker.type} if marker.type else {}
    return {"type": _SCALARS[annotation]}


def _object(model: type[Model], fields: Mapping[str, Any], bind: Mapping[str, Any]) -> Raw:
    properties: Raw = {}
    required: list[str] = []
    for name, field in fields.items():
        marker = next((item for item in field.metadata if isinstance(item, Schema)), Schema())
        key = field.alias or name
        properties[key] = schema_of(field.annotation, marker, bind)
        if _resolve(marker.required, bind):
            required.append(key)
    result: Raw = {"type": "object", "properties": properties}
    if required:
        result["required"] = sorted(required)
    whole = getattr(model, "SCHEMA", None)
    if isinstance(whole, Schema) and whole.map_type:
        result["x-kubernetes-map-type"] = whole.map_type
    return result


def _without_none(annotation: Any) -> Any:
    """``X | None`` -> ``X``; ``int | float`` -> ``float``."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        kept = [part for part in typing.get_args(annotation) if part is not type(None)]
        return float if float in kept else kept[0]
    return annotation


def _resolve(value: Any, bind: Mapping[str, Any]) -> Any:
    return bind[value.name] if isinstance(value, Param) else value


def _doc(model: type[Model]) -> str:
    text = inspect.cleandoc(model.__doc__ or "").split("\n\n")[0]
    return " ".join(text.replace("``", "").split())
