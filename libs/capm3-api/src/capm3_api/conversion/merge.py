"""Puts preserved data back: a three-way merge in which an edit wins over what was preserved.

Apart from the annotations that hold the data: this is pure JSON and knows no kinds.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

_MISSING: Any = object()
_REFERENCE = frozenset(("apiGroup", "apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid"))
_KEYS = ("key", "id", "network", "name", "type", "vlanID", "index")


def merge(base: Any, new: Any, preserved: Any) -> Any:
    """What the object was, with the changes that were made since.

    Args:
        base: the preserved object after a conversion there and back, that is, with what the way loses lost.
        new: the object now.
        preserved: the object as it was.
    """
    if _equal(new, base):
        return copy.deepcopy(preserved)
    if all(isinstance(side, dict) for side in (base, new, preserved)):
        return new if _other_reference(base, new) else _merge_objects(base, new, preserved)
    if all(isinstance(side, list) for side in (base, new, preserved)):
        return _merge_lists(base, new, preserved)
    return new


def _merge_objects(base: Mapping[str, Any], new: Mapping[str, Any], preserved: Mapping[str, Any]) -> Any:
    result = {}
    for key, value in new.items():
        before, kept = base.get(key, _MISSING), preserved.get(key, _MISSING)
        if before is _MISSING:
            # The way lost all that was in it, so nothing of it can have been taken away on purpose.
            both = isinstance(value, dict) and isinstance(kept, dict)
            result[key] = merge({}, value, kept) if both else value
        elif kept is not _MISSING:
            result[key] = merge(before, value, kept)
        elif not _equal(value, before):
            result[key] = merge(before, value, {}) if isinstance(before, dict) and isinstance(value, dict) else value
    for key, value in preserved.items():
        if key not in new and key not in base:
            result[key] = copy.deepcopy(value)
    return result


def _merge_lists(base: list[Any], new: list[Any], preserved: list[Any]) -> list[Any]:
    key = next((name for name in _KEYS if all(_keyed(side, name) for side in (base, new, preserved))), None)
    if key is None:
        if len(base) == len(new) == len(preserved):
            return [merge(*sides) for sides in zip(base, new, preserved, strict=True)]
        return new
    before = {item[key]: item for item in base}
    kept = {item[key]: item for item in preserved}
    merged = {
        item[key]: merge(before[item[key]], item, kept[item[key]])
        if item[key] in before and item[key] in kept
        else item
        for item in new
    }
    same_order = list(merged) == list(before) and merged.keys() == kept.keys()
    return [merged[name] for name in (kept if same_order else merged)]


def _keyed(items: Sequence[Any], key: str) -> bool:
    names = [item.get(key) if isinstance(item, dict) else None for item in items]
    return all(isinstance(name, (str, int)) for name in names) and len(set(names)) == len(names)


def _other_reference(base: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """A reference that names another object now: the uid and kind of the former one mean nothing for it."""
    both = base.keys() | new.keys()
    return "name" in both and both <= _REFERENCE and any(base.get(k) != new.get(k) for k in ("name", "namespace"))


def _equal(one: Any, other: Any) -> bool:
    """Equality in which ``true`` is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_equal(*pair) for pair in zip(one, other, strict=True))
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
