"""The words that the parts of `World` share: a request, what is known of a resource, a stored change, a logged write.

Apart from the parts, so that rules, storage, garbage collection and the HTTP server need not import each other.
"""

from __future__ import annotations

import dataclasses
import json
import marshal
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers.testing.world_errors import Cause

Resource = tuple[str, str]
"""API group and plural: what a stored object belongs to, whatever version it is read in."""


def resource_of(kind: Kind) -> Resource:
    return kind.group, kind.plural


@dataclasses.dataclass
class Request:
    """One write on its way through the server.

    Args:
        verb: ``create``, ``update``, ``patch`` or ``delete``.
        kind: in the version that the client speaks.
        field_validation: ``Strict``, ``Warn`` or ``Ignore``; read by `Definition.decode`.
        warnings: filled on the way; the HTTP server sends them as ``Warning`` headers.
        body: the patch or object as sent, for the log of writes.
    """

    verb: str
    kind: Kind
    key: Key
    subresource: str = ""
    dry_run: bool = False
    field_validation: str = "Ignore"
    user: str = ""
    warnings: list[str] = dataclasses.field(default_factory=list)
    body: Any = None


def _keep(obj: Raw, request: Request) -> Raw:
    return obj


def _accept(new: Raw, old: Raw | None, request: Request) -> Sequence[Cause]:
    return ()


def relabel(objects: Sequence[Raw], api_version: str) -> list[Raw]:
    """Conversion strategy ``None``: only ``apiVersion`` changes."""
    return [{**obj, "apiVersion": api_version} for obj in objects]


@dataclasses.dataclass(frozen=True)
class Definition:
    """What the server knows of one resource.

    Args:
        kind: in the stored version.
        status: there is a status subresource, so that the main endpoint ignores ``status``.
        generation: the server counts changes outside metadata and status.
        status_on_create: ``status`` of a new object is kept (core kinds such as Node).
        unconditional_update: PUT without a resourceVersion is allowed (core kinds).
        decode: (object as sent, request) -> pruned and defaulted object; raises `ApiError` for unknown fields when strict.
        validate: (new, old or None, request) -> what is wrong, field by field.
        convert: (objects, apiVersion) -> the same objects, same order, in that version.
    """

    kind: Kind
    status: bool = True
    generation: bool = True
    status_on_create: bool = False
    unconditional_update: bool = False
    decode: Callable[[Raw, Request], Raw] = _keep
    validate: Callable[[Raw, Raw | None, Request], Sequence[Cause]] = _accept
    convert: Callable[[Sequence[Raw], str], list[Raw]] = relabel


@dataclasses.dataclass
class Hooks:
    """Admission, called outside every lock; `embedded` puts webhooks here.

    Args:
        mutate: (request, new, old) -> object to go on with.
        validate: (request, new, old); ``new`` is ``None`` for a delete. Raises `ApiError` to refuse.
    """

    mutate: Callable[[Request, Raw, Raw | None], Raw] = lambda request, new, old: new
    validate: Callable[[Request, Raw | None, Raw | None], None] = lambda request, new, old: None


@dataclasses.dataclass(frozen=True)
class Event:
    """A committed change.

    Args:
        version: the resourceVersion it made.
        type: ``ADDED``, ``MODIFIED`` or ``DELETED``.
        obj: the object after it; for ``DELETED`` its last state with the new version.
        old: the object before it, ``None`` when it is new.
    """

    version: int
    type: str
    resource: Resource
    key: Key
    obj: Raw
    old: Raw | None

    @property
    def after(self) -> Raw | None:
        """What is stored after it."""
        return None if self.type == "DELETED" else self.obj

    def seen(self, chosen: Callable[[Raw], bool]) -> tuple[str, Raw] | None:
        """How it looks to a watch of chosen objects only: one that stops being chosen is deleted, ``None``: unseen."""
        before = self.old is not None and chosen(self.old)
        after = self.after is not None and chosen(self.obj)
        if after:
            return ("MODIFIED" if before else "ADDED", self.obj)
        if not before or self.old is None:
            return None
        if self.type == "DELETED":
            return "DELETED", self.obj
        return "DELETED", {**self.old, "metadata": {**self.old["metadata"], "resourceVersion": str(self.version)}}


class Write(NamedTuple):
    """A write that the server carried out (also one that changed nothing); dry runs are not logged."""

    verb: str
    kind: Kind
    key: Key
    patch: Any


def copied(value: Any) -> Any:
    """A deep copy of JSON data; several times faster than `copy.deepcopy`."""
    return marshal.loads(marshal.dumps(value))


def received(value: Any) -> Any:
    """What a server would read from the wire: plain JSON types, nothing shared with the sender.

    Raises:
        TypeError: the value is no JSON.
    """
    return json.loads(json.dumps(value))


def alike(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same; unlike ``==`` it keeps ``true`` and 1, and 1 and 1.0, apart."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(alike(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(alike(*pair) for pair in zip(left, right, strict=True))
    return bool(left == right)


def whole_numbers(value: Any) -> Any:
    """JSON data as Go writes it: 4.0 becomes 4."""
    if isinstance(value, dict):
        return {key: whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e21 else value


def metadata_of(obj: Raw) -> Raw:
    """``metadata``, an empty dict when it is missing."""
    found: Raw = obj.get("metadata") or {}
    return found
