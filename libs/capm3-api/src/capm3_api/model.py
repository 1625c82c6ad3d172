"""The base of every typed object: reads leniently, keeps what it does not know, writes back what it read.

It stands apart from the kinds because three promises hold for all of them and are tested once: unknown fields survive
a round trip, an absent field and one that is ``null`` or empty stay apart, and a value of the wrong type never raises
but becomes a `Problem` that names its path. Constraints of the CRD schemas (patterns, lengths, enums) are metadata for
`capm3_api.crdgen` and the validators, not checked while reading: an object stored before a rule existed must still be
readable.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Mapping
from typing import Any, Self, TypeVar

import pydantic
from pydantic import BaseModel, ConfigDict

Raw = dict[str, Any]
"""A Kubernetes object (or a part of one) as JSON gives it."""

_INITIALISMS = {"id": "ID", "url": "URL", "uid": "UID"}


def camel(name: str) -> str:
    """The JSON name of a Python field: ``host_selector`` -> ``hostSelector``. Irregular ones use an explicit alias."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


@dataclasses.dataclass(frozen=True)
class Problem:
    """One value that could not be read.

    Args:
        path: JSON path as Kubernetes prints it, ``spec.image.url`` or ``spec.links[0].id``.
        message: what is wrong, in one sentence without the value (it may be a secret).
    """

    path: str
    message: str


T = TypeVar("T", bound=BaseModel)


class Model(BaseModel):
    """A part of an object. Frozen; `replace` gives a changed copy."""

    model_config = ConfigDict(extra="allow", frozen=True, alias_generator=camel, strict=True, protected_namespaces=())

    def replace(self, **changes: Any) -> Self:
        """A copy with the named fields set; everything else, unknown fields included, stays."""
        return self.model_copy(update=changes)

    def to_raw(self) -> Raw:
        """JSON as it was read: fields never set are absent, ``None`` that was read as ``null`` stays ``null``."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def has(self, field: str) -> bool:
        """Whether the field was there at all (as value, ``null`` or empty)."""
        return field in self.model_fields_set


def read(model: type[T], raw: Mapping[str, Any]) -> tuple[T, tuple[Problem, ...]]:
    """Validates `raw`; values of a wrong type are left out one by one and named in the problems.

    A ``null`` where the field has no meaning for it counts as absent, as in Go, and is no problem.
    """
    problems: list[Problem] = []
    data: Any = raw
    for _ in range(64):
        try:
            return model.model_validate(data), tuple(problems)
        except pydantic.ValidationError as error:
            if data is raw:
                data = copy.deepcopy(dict(raw))
            removed = False
            for item in error.errors(include_url=False, include_input=False, include_context=False):
                if item["type"] != "none_required" and _at(raw, item["loc"]) is not None:
                    problems.append(Problem(path_text(item["loc"]), item["msg"]))
                removed = _drop(data, item["loc"]) or removed
            if not removed:
                break
    return model.model_construct(), tuple(problems)


def _at(data: Any, loc: tuple[int | str, ...]) -> Any:
    """The value at a pydantic location, or the deepest value on the way to it."""
    for part in loc:
        if isinstance(data, dict) and part in data:
            data = data[part]
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            break
    return data


def path_text(loc: tuple[int | str, ...]) -> str:
    """A pydantic location as a Kubernetes field path. Names of union members that pydantic puts in are left out."""
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"[A-Za-z0-9_.\-/$]+", part):
            text += f".{part}" if text else part
        else:
            text += f"[{part}]"
    return text


def _drop(data: Any, loc: tuple[int | str, ...]) -> bool:
    """Takes the value at `loc` out of `data`; a list item is emptied instead: indexes keep their meaning."""
    parent: Any = None
    key: int | str | None = None
    here = data
    for part in loc:
        if isinstance(here, dict) and part in here:
            parent, key, here = here, part, here[part]
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            if not isinstance(here[part], dict):
                break
            parent, key, here = here, part, here[part]
        else:
            break
    if parent is None:
        return False
    if isinstance(parent, list) and isinstance(key, int):
        parent[key] = {}
        return bool(here != {})
    del parent[key]
    return True
