"""The checks of a structural schema on values: types, limits, enums, patterns, formats, required fields.

Apart from pruning and list types, because these errors are ratcheted: a value that an update leaves as it is stored
is not refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from capm3_api import schema_formats
from capm3_api.validation import errors
from capm3_api.validation.errors import SchemaError

Schema = Mapping[str, Any]
_ABSENT: Any = object()


def check(schema: Schema, value: Any, old: Any = None) -> list[SchemaError]:
    """Errors of the whole object; `old` is the stored one on update."""
    return _check(schema, value, _ABSENT if old is None else old, "")


def _check(schema: Schema, value: Any, old: Any, path: str) -> list[SchemaError]:
    found = _check_fresh(schema, value, old, path)
    return [] if found and old is not _ABSENT and same(value, old) else found


def _check_fresh(schema: Schema, value: Any, old: Any, path: str) -> list[SchemaError]:
    wrong = _type_error(schema, value, path)
    found = [wrong] if wrong else []
    if value is not None:
        found += _composed(schema, value, path)
        check_kind = _BY_TYPE.get(type(value))
        if check_kind is not None and (wrong is None or not isinstance(value, str)):
            found += check_kind(schema, value, old, path)
    allowed = schema.get("enum")
    if allowed is not None and not (value is None and schema.get("nullable")) and not _among(value, allowed):
        found.append(errors.not_supported(path, value, allowed))
    return found


def json_type(value: Any) -> str:
    """The JSON name of a value's type, integers apart from other numbers."""
    if value is None:
        return "null"
    return _NAMES.get(type(value), "object")


def _type_error(schema: Schema, value: Any, path: str) -> SchemaError | None:
    wanted = ["integer", "string"] if schema.get("x-kubernetes-int-or-string") else [schema.get("type")]
    if wanted == [None] or (value is None and schema.get("nullable")):
        return None
    actual = json_type(value)
    if actual in wanted or (actual == "integer" and "number" in wanted):
        return None
    if isinstance(value, float) and value.is_integer() and "integer" in wanted:
        return None
    detail = f'{_in_body(path)} must be of type {",".join(str(item) for item in wanted)}: "{actual}"'
    return errors.make(errors.TYPE_INVALID, path, actual, detail)


def _in_body(path: str) -> str:
    return f"{path} in body"


def _broken(path: str, value: Any, text: str) -> SchemaError:
    return errors.invalid(path, value, f"{_in_body(path)} {text}")


def _string(schema: Schema, value: str, _old: Any, path: str) -> list[SchemaError]:
    found = []
    longest, shortest = schema.get("maxLength"), schema.get("minLength")
    if longest is not None and len(value) > longest:
        found.append(errors.make(errors.TOO_LONG, path, None, f"may not be more than {longest} bytes"))
    if shortest is not None and len(value) < shortest:
        found.append(_broken(path, value, f"should be at least {shortest} chars long"))
    pattern = schema.get("pattern")
    if pattern and not schema_formats.matches(pattern, value):
        found.append(_broken(path, value, f"should match '{pattern}'"))
    form = schema.get("format")
    if form and schema.get("type") in (None, "string") and not schema_formats.is_of(form, value):
        detail = f"{_in_body(path)} must be of type {form}: {errors.quote(value)}"
        found.append(errors.make(errors.TYPE_INVALID, path, value, detail))
    return found


_RANGES = {"int32": 2**31, "int64": 2**63}


def _number(schema: Schema, value: int | float, _old: Any, path: str) -> list[SchemaError]:
    found = []
    half = _RANGES.get(schema.get("format", "int64"), 2**63)
    if schema.get("type") == "integer" and not -half <= value < half:
        form = f"with format {schema['format']}" if "format" in schema else "(default format)"
        found.append(errors.invalid("", "", f"Checked value must be of type integer {form} in {path}"))
    step = schema.get("multipleOf")
    if step and (value / step) % 1:
        found.append(_broken(path, value, f"should be a multiple of {errors.value_text(step)}"))
    return found + _limits(schema, value, path)


def _limits(schema: Schema, value: int | float, path: str) -> list[SchemaError]:
    found = []
    top, bottom = schema.get("maximum"), schema.get("minimum")
    if top is not None:
        strict = bool(schema.get("exclusiveMaximum"))
        if value > top or (strict and value == top):
            found.append(_broken(path, value, f"should be less than {'' if strict else 'or equal to '}{top}"))
    if bottom is not None:
        strict = bool(schema.get("exclusiveMinimum"))
        if value < bottom or (strict and value == bottom):
            found.append(_broken(path, value, f"should be greater than {'' if strict else 'or equal to '}{bottom}"))
    return found


def _list(schema: Schema, value: list[Any], old: Any, path: str) -> list[SchemaError]:
    found: list[SchemaError] = []
    items = schema.get("items")
    if items is not None:
        for index, item in enumerate(value):
            found += _check(items, item, _correlated(schema, item, old), f"{path}[{index}]")
    most, least = schema.get("maxItems"), schema.get("minItems")
    if most is not None and len(value) > most:
        found.append(errors.make(errors.TOO_MANY, path, len(value), f"must have at most {most} items"))
    if least is not None and len(value) < least:
        found.append(_broken(path, len(value), f"should have at least {least} items"))
    return found


def _correlated(schema: Schema, item: Any, old: Any) -> Any:
    """The stored item with the same keys; only lists of type map can tell."""
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list) or not isinstance(item, dict):
        return _ABSENT
    keys = schema.get("x-kubernetes-list-map-keys") or []
    wanted = [item.get(key) for key in keys]
    found = [entry for entry in old if isinstance(entry, dict) and [entry.get(key) for key in keys] == wanted]
    return found[0] if len(found) == 1 else _ABSENT


def _map(schema: Schema, value: dict[str, Any], old: Any, path: str) -> list[SchemaError]:
    found: list[SchemaError] = []
    most, least = schema.get("maxProperties"), schema.get("minProperties")
    if least is not None and len(value) < least:
        found.append(_broken(path, len(value), f"should have at least {least} properties"))
    if most is not None and len(value) > most:
        found.append(errors.make(errors.TOO_MANY, path, len(value), f"must have at most {most} items"))
    properties = schema.get("properties") or {}
    extra = schema.get("additionalProperties")
    for key in sorted(value, key=str):
        child = properties.get(key, extra)
        if isinstance(child, Mapping):
            stored = old.get(key, _ABSENT) if isinstance(old, dict) else _ABSENT
            found += _check(child, value[key], stored, f"{path}.{key}" if path else str(key))
    for key in schema.get("required") or []:
        if key not in value:
            found.append(errors.required(f"{path}.{key}" if path else key))
    return found


def _composed(schema: Schema, value: Any, path: str) -> list[SchemaError]:
    """``allOf``, ``anyOf``, ``oneOf`` and ``not``; what is within them is never ratcheted by itself."""
    found: list[SchemaError] = []
    for part in schema.get("allOf") or []:
        found += _check(part, value, _ABSENT, path)
    choices = schema.get("anyOf")
    if choices and not any(not _check(part, value, _ABSENT, path) for part in choices):
        found.append(errors.invalid(path, "", f"{path} in body must validate at least one schema (anyOf)"))
    single = schema.get("oneOf")
    if single and sum(not _check(part, value, _ABSENT, path) for part in single) != 1:
        found.append(errors.invalid(path, "", f"{path} in body must validate one and only one schema (oneOf)"))
    without = schema.get("not")
    if without is not None and not _check(without, value, _ABSENT, path):
        found.append(errors.invalid(path, "", f"{path} in body must not validate the schema (not)"))
    return found


def same(left: Any, right: Any) -> bool:
    """Equality of JSON values: ``True`` is not ``1``, ``1.0`` is ``1``."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(item, right[key]) for key, item in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _among(value: Any, allowed: list[Any]) -> bool:
    return any(same(value, item) for item in allowed)


_NAMES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
_BY_TYPE: dict[type, Callable[..., list[SchemaError]]] = {
    int: _number,
    float: _number,
    str: _string,
    list: _list,
    dict: _map,
}
