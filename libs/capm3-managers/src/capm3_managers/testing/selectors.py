"""Label and field selectors, as text or mapping, turned into predicates over raw objects.

Apart from the server, because `World`, its readers, watches and the embedded HTTP API all select in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from capm3_api.model import Raw

from capm3_managers.testing import world_errors
from capm3_managers.testing.world_types import metadata_of

Predicate = Callable[[Raw], bool]

_SET = re.compile(r"^\s*(?P<key>\S+)\s+(?P<op>in|notin)\s*\((?P<values>[^)]*)\)\s*$")
_EQUAL = re.compile(r"^\s*(?P<key>[^\s=!,]+)\s*(?P<op>==|=|!=)\s*(?P<value>[^\s=!,]*)\s*$")
_EXISTS = re.compile(r"^\s*(?P<not>!?)\s*(?P<key>[A-Za-z0-9./_-]+)\s*$")


def everything(obj: Raw) -> bool:
    return True


def labels(selector: Mapping[str, str] | str | None) -> Predicate:
    """A predicate on labels.

    Args:
        selector: a mapping (all must be equal), or text such as ``a=b,c in (d,e),!f``.

    Raises:
        ApiError: 400, the text is no selector.
    """
    if not selector:
        return everything
    if isinstance(selector, Mapping):
        wanted = dict(selector)
        return lambda obj: _covers(metadata_of(obj).get("labels") or {}, wanted)
    terms = [_label_term(text) for text in _split(selector) if text.strip()]
    return lambda obj: all(term(metadata_of(obj).get("labels") or {}) for term in terms)


def fields(selector: str | None) -> Predicate:
    """A predicate on fields, ``metadata.name=x,spec.nodeName!=y``; a missing field counts as ``""``."""
    if not selector:
        return everything
    terms = [_field_term(text) for text in selector.split(",") if text.strip()]
    return lambda obj: all(term(obj) for term in terms)


def both(label_selector: Mapping[str, str] | str | None, field_selector: str | None) -> Predicate:
    by_label, by_field = labels(label_selector), fields(field_selector)
    if by_label is everything:
        return by_field
    return lambda obj: by_label(obj) and by_field(obj)


def _covers(have: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(have.get(key) == value for key, value in wanted.items())


def _split(text: str) -> list[str]:
    """Splits at commas outside parentheses."""
    return re.split(r",(?![^(]*\))", text)


def _label_term(text: str) -> Callable[[Mapping[str, str]], bool]:
    if found := _SET.match(text):
        key, values = found["key"], {value.strip() for value in found["values"].split(",")}
        if found["op"] == "in":
            return lambda have: key in have and have[key] in values
        return lambda have: key not in have or have[key] not in values
    if found := _EQUAL.match(text):
        key, value = found["key"], found["value"]
        if found["op"] == "!=":
            return lambda have: have.get(key) != value
        return lambda have: have.get(key) == value
    if found := _EXISTS.match(text):
        key, absent = found["key"], bool(found["not"])
        return lambda have: (key in have) is not absent
    raise world_errors.bad_request(f"unable to parse requirement: {text.strip()!r}")


def _field_term(text: str) -> Predicate:
    found = _EQUAL.match(text)
    if not found:
        raise world_errors.bad_request(f"invalid selector: {text.strip()!r}; can't understand it")
    path, value, equal = found["key"].split("."), found["value"], found["op"] != "!="
    return lambda obj: (_text_at(obj, path) == value) is equal


def _text_at(obj: Any, path: list[str]) -> str:
    for part in path:
        obj = obj.get(part) if isinstance(obj, dict) else None
    if isinstance(obj, bool):
        return "true" if obj else "false"
    return "" if obj is None else str(obj)
