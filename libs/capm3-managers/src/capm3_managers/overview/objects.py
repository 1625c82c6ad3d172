"""The objects that a view is made of, and the small questions that all views ask of one.

Apart from `capm3_managers.ports`, since a view asks for everything there is and knows no staleness: the demo answers from
a mirror, `Reading` from an API server, each kind asked for once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from capm3_api import condition, kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import hosts
from capm3_managers.ports import Reader

_BY_GROUP_KIND = {(kind.group, kind.kind): kind for kind in vars(kinds).values() if isinstance(kind, Kind)}


class Objects(Protocol):
    """Everything within some scope; read only."""

    def all(self, kind: Kind) -> Sequence[Raw]: ...

    def get(self, kind: Kind, key: Key) -> Raw | None: ...


class Reading:
    """The objects of one namespace, read live when they are first asked for; they do not change afterwards."""

    def __init__(self, reader: Reader, namespace: str) -> None:
        self._reader = reader
        self._namespace = namespace
        self._listed: dict[Kind, Sequence[Raw]] = {}
        self._single: dict[tuple[Kind, Key], Raw | None] = {}

    def all(self, kind: Kind) -> Sequence[Raw]:
        if kind not in self._listed:
            found = self._reader.list(kind, self._namespace, live=True)
            self._listed[kind] = sorted(found, key=meta.key_of)
        return self._listed[kind]

    def get(self, kind: Kind, key: Key) -> Raw | None:
        if kind in self._listed:
            return next((obj for obj in self._listed[kind] if meta.key_of(obj) == key), None)
        if (kind, key) not in self._single:
            self._single[kind, key] = self._reader.get(kind, key, live=True)
        return self._single[kind, key]


def known(group: str, kind: str) -> Kind | None:
    """The kind in the version that this project reads; ``None`` for one that it has no name for."""
    return _BY_GROUP_KIND.get((group, kind))


def kind_of(obj: Mapping[str, Any]) -> Kind | None:
    """The same for an object."""
    return known(meta.group_of(str(obj.get("apiVersion") or "")), str(obj.get("kind") or ""))


def target(obj: Mapping[str, Any], *path: str) -> tuple[Kind, Key] | None:
    """What a reference at that path names, in the object's namespace; ``None``: nothing, or a kind unknown here."""
    ref = hosts.part(obj, *path)
    group = hosts.text(ref, "apiGroup") or meta.group_of(hosts.text(ref, "apiVersion"))
    kind = known(group, hosts.text(ref, "kind"))
    name = hosts.text(ref, "name")
    return (kind, Key(meta.key_of(obj).namespace, name)) if kind is not None and name else None


def name_of(obj: Mapping[str, Any]) -> str:
    return meta.key_of(obj).name


def number(obj: Mapping[str, Any], default: int, *path: str) -> int:
    """The whole number at a path."""
    value = hosts.part(obj, *path[:-1]).get(path[-1])
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def deleting(obj: Mapping[str, Any]) -> bool:
    return bool(hosts.part(obj, "metadata").get("deletionTimestamp"))


def provisioned(obj: Mapping[str, Any]) -> bool:
    """What an infrastructure object of ours tells Cluster API."""
    return hosts.part(obj, "status", "initialization").get("provisioned") is True


def host_name(metal3machine: Mapping[str, Any]) -> str:
    """The host that a Metal3Machine names."""
    return str(hosts.marks(metal3machine).get("metal3.io/BareMetalHost") or "").rpartition("/")[2]


def conditions(obj: Mapping[str, Any]) -> list[Raw]:
    """``status.conditions``; entries that are no objects are left out."""
    found = hosts.part(obj, "status").get("conditions")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def message(obj: Mapping[str, Any], type_: str) -> str:
    """What a condition says that is not true, or that is about deletion."""
    found = condition.get(obj, type_) or {}
    return "" if found.get("status") == "True" and type_ != "Deleting" else str(found.get("message") or "")


def line(text: str, longest: int = 160) -> str:
    """A message of many lines in one."""
    one = "; ".join(part.strip(" *") for part in text.splitlines() if part.strip(" *"))
    return one if len(one) <= longest else f"{one[: longest - 3]}..."
