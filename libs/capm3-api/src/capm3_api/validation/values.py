"""Small readers for rules: they look into raw JSON that may have any shape and never raise.

Apart from the typed objects, because a rule must name the value as it was sent and must work on objects that no schema
has seen.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from capm3_api.model import Raw


@dataclasses.dataclass(frozen=True)
class Change:
    """One request as the rules see it.

    Args:
        new: the object as it is to be stored.
        old: the stored object on update, else ``None``.
        dry_run: whether the request asks for a dry run.
    """

    new: Raw
    old: Raw | None = None
    dry_run: bool = False

    @property
    def namespace(self) -> str:
        return text(at(self.new, "metadata", "namespace"))

    def touched(self, *path: str) -> bool:
        """Whether the value there is new or changed; on create everything is."""
        return self.old is None or normal(at(self.old, *path)) != normal(at(self.new, *path))


def at(value: Any, *path: str) -> Any:
    """The value at a path of keys; ``None`` where there is nothing or no map on the way."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> list[Mapping[str, Any]]:
    """The maps of a list, each in its place; anything else in it counts as an empty map."""
    return [mapping(item) for item in value] if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def number(value: Any) -> int:
    """An integer; 0 for anything else, as Go's zero value."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def normal(value: Any) -> Any:
    """A value for comparison: ``null``, ``{}`` and ``[]`` count as absent at every depth."""
    if isinstance(value, Mapping):
        found = {key: normal(item) for key, item in value.items()}
        return {key: item for key, item in found.items() if item is not None} or None
    if isinstance(value, list):
        return [normal(item) for item in value] or None
    return value
