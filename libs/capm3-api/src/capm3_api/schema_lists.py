"""Uniqueness in lists of type ``set`` and ``map``.

Apart from the checks of single values, because the API server holds it against an update only if the stored object
was free of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from capm3_api.schema_prune import field_schema
from capm3_api.validation import errors
from capm3_api.validation.errors import SchemaError

Schema = Mapping[str, Any]


def check(schema: Schema | None, value: Any, path: str = "") -> list[SchemaError]:
    """Duplicates at `value` and below; the second appearance of each is named."""
    if schema is None:
        return []
    if isinstance(value, list):
        found = _list(schema, value, path)
        for index, item in enumerate(value):
            found += check(schema.get("items"), item, f"{path}[{index}]")
        return found
    if not isinstance(value, dict):
        return []
    found = []
    properties = schema.get("properties") or {}
    for key in sorted(value, key=str):
        inner = (f"{path}.{key}" if path else key) if key in properties else f"{path}[{key}]"
        found += check(field_schema(schema, key)[1], value[key], inner)
    return found


def _list(schema: Schema, value: list[Any], path: str) -> list[SchemaError]:
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        return [errors.duplicate(f"{path}[{index}]", value[index]) for index in _second(value)]
    if kind != "map":
        return []
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            return [errors.invalid(f"{path}[{index}]", item, "must be an object for an array of list-type map")]
    names: Sequence[str] = schema.get("x-kubernetes-list-map-keys") or []
    keys = [{name: item[name] for name in names if name in item} if item else {} for item in value]
    return [errors.duplicate(f"{path}[{index}]", keys[index]) for index in _second(keys)]


def _second(items: Sequence[Any]) -> list[int]:
    seen: dict[str, int] = {}
    found = []
    for index, item in enumerate(items):
        text = json.dumps(item, sort_keys=True, default=str)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            found.append(index)
    return found
