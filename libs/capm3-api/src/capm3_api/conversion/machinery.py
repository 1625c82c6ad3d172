"""How one part of an object is written in either version: fields with two names and two rules, put together to shapes.

Apart from the kinds, so that a kind is a table of its fields that can be read beside the facts. ``up`` is v1beta1 to
v1beta2, ``down`` the way back. Everything works on raw JSON; what neither version knows is carried along as it is.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal

from capm3_api.model import Raw

Way = Literal["up", "down"]
Rule = Callable[[Any], Any]
Hook = Callable[[Mapping[str, Any], Raw], None]

OMIT: Any = object()
"""Stands for a field that is absent; a ``null`` counts as absent."""


class ConversionError(ValueError):
    """An object cannot be converted.

    Args:
        message: what is wrong, without the value unless it is harmless.
        path: the field, ``spec.strategy.timeout``; ``""`` for the whole object.
        subject: kind and name of the object.
    """

    def __init__(self, message: str, path: str = "", subject: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.subject = subject

    def __str__(self) -> str:
        return ": ".join(part for part in (self.subject, self.path, self.message) if part)

    def inside(self, part: str) -> ConversionError:
        """The same error seen from one level further out."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return ConversionError(self.message, f"{part}{joint}{self.path}", self.subject)


@dataclasses.dataclass(frozen=True)
class Field:
    """One field: its name and its rule in each direction.

    A rule gets the value or `OMIT` and gives the value for the other version or `OMIT`.
    """

    old: str
    new: str
    up: Rule
    down: Rule


@dataclasses.dataclass(frozen=True)
class Shape:
    """A JSON object in both versions.

    Args:
        up_hook: called with source and result for what no single field can say; so is `down_hook`.
        old_only: names of v1beta1 that v1beta2 has no place for, or that a hook handles; so is `new_only`.
    """

    fields: tuple[Field, ...]
    up_hook: Hook | None = None
    down_hook: Hook | None = None
    old_only: tuple[str, ...] = ()
    new_only: tuple[str, ...] = ()
    old_names: frozenset[str] = dataclasses.field(init=False)
    new_names: frozenset[str] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "old_names", frozenset([*(f.old for f in self.fields), *self.old_only]))
        object.__setattr__(self, "new_names", frozenset([*(f.new for f in self.fields), *self.new_only]))

    def convert(self, raw: Any, way: Way) -> Raw:
        """The object in the other version. Raises `ConversionError` when `raw` is no object."""
        source = expect(raw, dict)
        result: Raw = {}
        for field in self.fields:
            name, other, rule = (field.old, field.new, field.up) if way == "up" else (field.new, field.old, field.down)
            try:
                value = rule(_present(source.get(name)))
            except ConversionError as error:
                raise error.inside(name) from None
            if value is not OMIT:
                result[other] = value
        known = self.old_names | self.new_names
        result.update({key: copy.deepcopy(value) for key, value in source.items() if key not in known})
        hook = self.up_hook if way == "up" else self.down_hook
        if hook is not None:
            hook(source, result)
        return result


WORDS = {
    **{"dict": "an object", "list": "a list", "str": "a string", "int": "a whole number", "bool": "true or false"},
    **{"object": "an object", "array": "a list", "string": "a string", "integer": "a whole number"},
    "boolean": "true or false",
}
"""What a type of Python or of a schema is called in messages."""


def expect(value: Any, kind: type | tuple[type, ...]) -> Any:
    """The value if it has that type. Raises `ConversionError`."""
    if isinstance(value, kind) and not (isinstance(value, bool) and kind is int):
        return value
    name = kind.__name__ if isinstance(kind, type) else "value"
    raise ConversionError(f"must be {WORDS.get(name, name)}")


def _present(value: Any) -> Any:
    return OMIT if value is None else value


# Rules


def kept(kind: type | tuple[type, ...]) -> Rule:
    """Copies a value, zero or not: a pointer in both versions."""

    def rule(value: Any) -> Any:
        return OMIT if value is OMIT else copy.deepcopy(expect(value, kind))

    return rule


def non_zero(kind: type | tuple[type, ...]) -> Rule:
    """Copies a value that is not empty, zero or false."""

    def rule(value: Any) -> Any:
        return OMIT if value is OMIT or not expect(value, kind) else copy.deepcopy(value)

    return rule


def always(zero: Any) -> Rule:
    """Copies a value; an absent one becomes `zero`."""

    def rule(value: Any) -> Any:
        return copy.deepcopy(zero if value is OMIT else expect(value, type(zero)))

    return rule


def drop(value: Any) -> Any:
    """The other version has no place for it."""
    return OMIT


def then(first: Rule, second: Rule) -> Rule:
    """One rule after the other."""
    return lambda value: second(first(value))


def struct(shape: Shape, way: Way) -> Rule:
    """An object that is left out when empty."""

    def rule(value: Any) -> Any:
        return OMIT if value is OMIT else shape.convert(value, way) or OMIT

    return rule


def pointer(shape: Shape, way: Way) -> Rule:
    """An object that may be there and empty."""

    def rule(value: Any) -> Any:
        return OMIT if value is OMIT else shape.convert(value, way)

    return rule


def written(shape: Shape, way: Way) -> Rule:
    """An object that is always written."""

    def rule(value: Any) -> Any:
        return shape.convert({} if value is OMIT else value, way)

    return rule


def each(shape: Shape, way: Way) -> Rule:
    """A list of objects; an empty one is left out."""

    def rule(value: Any) -> Any:
        if value is OMIT or not expect(value, list):
            return OMIT
        result = []
        for index, item in enumerate(value):
            try:
                result.append(shape.convert({} if item is None else item, way))
            except ConversionError as error:
                raise error.inside(f"[{index}]") from None
        return result

    return rule


# Fields, the usual ones


def same(name: str, kind: type | tuple[type, ...] = str, *, new: str = "") -> Field:
    """A value that is copied, but left out when empty, zero or false."""
    return Field(name, new or name, non_zero(kind), non_zero(kind))


def copied(name: str, kind: type | tuple[type, ...] = str, *, new: str = "") -> Field:
    """A value that is copied, empty or not."""
    return Field(name, new or name, kept(kind), kept(kind))


def forced(name: str, zero: Any, *, new: str = "") -> Field:
    """A value that v1beta1 always writes and v1beta2 leaves out when empty."""
    return Field(name, new or name, non_zero(type(zero)), always(zero))


def required(name: str, zero: Any) -> Field:
    """A value that both versions always write."""
    return Field(name, name, always(zero), always(zero))


def part(name: str, shape: Shape, kind: Callable[[Shape, Way], Rule] = struct, *, new: str = "") -> Field:
    """An object or a list of objects, handled alike both ways."""
    return Field(name, new or name, kind(shape, "up"), kind(shape, "down"))


def parts(name: str, shape: Shape, *, new: str = "") -> Field:
    """A list of objects."""
    return part(name, shape, each, new=new)


def nested(name: str, shape: Shape) -> Field:
    """An object that v1beta1 always writes and v1beta2 leaves out when empty."""
    up = written(shape, "up")
    return Field(name, name, lambda value: up(value) or OMIT, written(shape, "down"))


def null_when_absent(rule: Rule) -> Rule:
    """``null`` in place of an absent value, as Go writes a nil list or pointer without ``omitempty``."""

    def wrapped(value: Any) -> Any:
        result = rule(value)
        return None if result is OMIT else result

    return wrapped
