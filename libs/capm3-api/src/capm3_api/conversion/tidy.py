"""The form in which two objects of one version are compared: what means "nothing" is left out.

Apart from the conversion, because it knows the types: in a field that is no pointer in Go, an empty value and an absent
one are the same; in a pointer they are not. The preserved data have this form too, since Go writes them so.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal

from capm3_api.markers import Schema
from capm3_api.model import Model, Raw

Content = Literal["scalar", "list", "map", "model", "any"]
_DROP: Any = object()


@dataclasses.dataclass(frozen=True)
class Known:
    """What is known of one field."""

    content: Content
    pointer: bool
    inner: type[Model] | None
    required: bool = False


def tidy(model: type[Model], raw: Mapping[str, Any], *, soft: bool = False, known_only: bool = False) -> Raw:
    """The object without what means nothing.

    Args:
        soft: an empty text or object in a pointer, and zero in a required field, mean nothing either (a pointer to zero
            or false still does not).
        known_only: unknown fields are left out.
    """
    fields = _fields(model)
    result: Raw = {}
    for key, value in raw.items():
        known = fields.get(key)
        if value is None or (known is None and known_only):
            continue
        kept = value if known is None else _value(known, value, soft, known_only)
        if kept is not _DROP:
            result[key] = kept
    return result


def _value(known: Known, value: Any, soft: bool, known_only: bool) -> Any:
    if known.content == "any":
        return value
    if known.content == "scalar":
        return _DROP if _is_nothing(known, value, soft) else value
    if known.content == "list" and isinstance(value, list):
        return [_item(known.inner, item, soft, known_only) for item in value] or _DROP
    if known.content == "map" and isinstance(value, dict):
        return {name: _item(known.inner, item, soft, known_only) for name, item in value.items()} or _DROP
    if known.content == "model" and isinstance(value, dict) and known.inner is not None:
        result = tidy(known.inner, value, soft=soft, known_only=known_only)
        empty = not result and (soft or not (known.pointer or _holds_empty(known.inner, value)))
        return _DROP if empty else result
    return value


def _is_nothing(known: Known, value: Any, soft: bool) -> bool:
    if value or isinstance(value, (dict, list)):
        return False
    if known.pointer:
        return soft and value == ""
    return soft or not known.required


def _item(inner: type[Model] | None, item: Any, soft: bool, known_only: bool) -> Any:
    if inner is None or not isinstance(item, dict):
        return item
    return tidy(inner, item, soft=soft, known_only=known_only)


def _holds_empty(model: type[Model], raw: Mapping[str, Any]) -> bool:
    """Go does not take a struct for empty that holds an empty map or list."""
    fields = _fields(model)
    return any(
        isinstance(value, (dict, list)) and key in fields and fields[key].content in ("list", "map")
        for key, value in raw.items()
    )


@functools.cache
def _fields(model: type[Model]) -> Mapping[str, Known]:
    result = {}
    for name, field in model.model_fields.items():
        marker = next((item for item in field.metadata if isinstance(item, Schema)), Schema())
        result[field.alias or name] = _known(field.annotation, marker)
    return result


def _known(annotation: Any, marker: Schema) -> Known:
    optional = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    if optional:
        annotation = next(part for part in typing.get_args(annotation) if part is not type(None))
    # A number that may not be zero has no pointer in Go: zero says that it is absent.
    pointer = marker.keep_empty or (optional and (marker.minimum or 0) <= 0)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list:
        return Known("list", pointer, _model(arguments[0]))
    if origin is dict:
        return Known("map", pointer, _model(arguments[1]))
    if _model(annotation) is not None:
        return Known("model", pointer, annotation)
    return Known("any" if annotation is Any else "scalar", pointer, None, bool(marker.required))


def _model(annotation: Any) -> type[Model] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, Model) else None
