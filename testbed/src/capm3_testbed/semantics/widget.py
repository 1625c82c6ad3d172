"""The CustomResourceDefinition that the cases use.

Apart from the project's own CRDs, so that a case shows the server's behaviour and not a schema's.
"""

from __future__ import annotations

from typing import Any

from capm3_api.model import Raw

from capm3_testbed.semantics.cases import WIDGET

_CONDITION: Raw = {
    "type": "object",
    "required": ["type", "status"],
    "properties": {"type": {"type": "string"}, "status": {"type": "string"}, "reason": {"type": "string"}},
}
_SCHEMA: Raw = {
    "type": "object",
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "properties": {
                "replicas": {"type": "integer"},
                "size": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
                "colour": {"type": "string", "enum": ["red", "green"]},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                "nested": {
                    "type": "object",
                    "required": ["must"],
                    "properties": {
                        "must": {"type": "string", "pattern": "^[a-z]+$"},
                        "mode": {"type": "string", "default": "auto"},
                    },
                },
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        },
        "status": {
            "type": "object",
            "properties": {
                "ready": {"type": "boolean"},
                "replicas": {"type": "integer"},
                "count": {"type": "integer", "minimum": 0},
                "conditions": {
                    "type": "array",
                    "items": _CONDITION,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["type"],
                },
            },
        },
    },
}


_SCALE: Raw = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


def crd() -> Raw:
    """Widget, served as v1 (stored) and v1beta1, without a conversion webhook."""
    columns = [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
        {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]

    def version(name: str, *, storage: bool) -> dict[str, Any]:
        return {
            "name": name,
            "served": True,
            "storage": storage,
            "deprecated": not storage,
            "schema": {"openAPIV3Schema": _SCHEMA},
            "subresources": {"status": {}, "scale": _SCALE},
            "additionalPrinterColumns": columns,
        }

    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{WIDGET.plural}.{WIDGET.group}"},
        "spec": {
            "group": WIDGET.group,
            "scope": "Namespaced",
            "names": {"kind": WIDGET.kind, "plural": WIDGET.plural, "singular": "widget", "shortNames": ["wd"]},
            "versions": [version("v1", storage=True), version("v1beta1", storage=False)],
        },
    }
