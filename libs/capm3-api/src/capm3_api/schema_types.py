"""Which values of an object are of the wrong JSON type: what a typed decoder trips over.

Apart from the full check, because admission must tell "this is no such object" (a bad request) from "this object is
invalid", and because limits are none of its business. A ``null`` passes: a decoder reads it as absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capm3_api.schema_prune import field_schema
from capm3_api.schema_values import json_type
from capm3_api.validation import errors
from capm3_api.validation.errors import SchemaError

Schema = Mapping[str, Any]


_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "object", "additionalProperties": _TEXT}
_OWNER: Schema = {"type": "object", "properties": dict.fromkeys(("apiVersion", "kind", "name", "uid"), _TEXT)}
OBJECT_META: Schema = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("name", "generateName", "namespace", "uid", "resourceVersion"), _TEXT),
        "generation": {"type": "integer"},
        "labels": _TEXTS,
        "annotations": _TEXTS,
        "finalizers": {"type": "array", "items": _TEXT},
        "ownerReferences": {"type": "array", "items": _OWNER},
    },
}
"""The types of object metadata, of which a CRD's schema says nothing."""


def wrong_object(schema: Schema | None, obj: Mapping[str, Any]) -> list[SchemaError]:
    """Values of the wrong type in a whole object, its metadata included."""
    return wrong(OBJECT_META, obj.get("metadata"), "metadata") + wrong(schema, dict(obj))


def wrong(schema: Schema | None, value: Any, path: str = "") -> list[SchemaError]:
    """Every value below `value` that has another type than the schema says, by JSON path."""
    if schema is None or value is None or schema.get("x-kubernetes-preserve-unknown-fields"):
        return []
    if not _fits(schema, value):
        wanted = "integer or string" if schema.get("x-kubernetes-int-or-string") else schema.get("type")
        return [errors.make(errors.TYPE_INVALID, path, json_type(value), f"must be of type {wanted}")]
    if isinstance(value, list):
        found = [wrong(schema.get("items"), item, f"{path}[{index}]") for index, item in enumerate(value)]
    elif isinstance(value, dict):
        names = sorted(value, key=str)
        found = [
            wrong(field_schema(schema, name)[1], value[name], f"{path}.{name}" if path else name) for name in names
        ]
    else:
        found = []
    return [error for part in found for error in part]


def _fits(schema: Schema, value: Any) -> bool:
    actual = json_type(value)
    if schema.get("x-kubernetes-int-or-string"):
        return actual in ("integer", "string")
    wanted = schema.get("type")
    if wanted in (None, actual) or (wanted == "number" and actual == "integer"):
        return True
    return wanted == "integer" and isinstance(value, float) and value.is_integer()
