"""The objects of one kind as last seen: raw, projected, indexed, thread-safe.

Apart from the reflector that fills it, so that what a late, repeated or lost event does to it is tested without any
connection. Objects are handed out as they are: nobody may change them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from capm3_api import meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.indexes import INDEXES, IndexFunction
from capm3_managers.ports import ALL_NAMESPACES

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Change:
    """What an event meant: ``old`` is ``None`` for a new object, ``new`` for one that is gone."""

    old: Raw | None
    new: Raw | None


class Store:
    """See the module; `indexes` default to those that the managers ask for."""

    def __init__(self, kind: Kind, indexes: Mapping[str, IndexFunction] | None = None) -> None:
        self.kind = kind
        self._functions = INDEXES.get(kind, {}) if indexes is None else indexes
        self._lock = threading.RLock()
        self._objects: dict[Key, Raw] = {}
        self._namespaces: dict[str, set[Key]] = {}
        self._index: dict[tuple[str, str], set[Key]] = {}
        self._before: dict[Key, Raw | None] = {}
        self._gone: dict[Key, str] = {}
        self._version = ""

    def __len__(self) -> int:
        return len(self._objects)

    @property
    def version(self) -> str:
        """The resourceVersion up to which everything has been seen; ``""`` before the first list."""
        return self._version

    def get(self, key: Key) -> Raw | None:
        with self._lock:
            return self._objects.get(key)

    def list(
        self,
        namespace: str = ALL_NAMESPACES,
        *,
        labels: Mapping[str, str] | None = None,
        index: tuple[str, str] | None = None,
    ) -> Sequence[Raw]:
        """As `capm3_managers.ports.Reader.list`, ordered by key."""
        with self._lock:
            found = [(key, self._objects[key]) for key in self._candidates(namespace, index)]
        if labels:
            found = [(key, obj) for key, obj in found if _carries(obj, labels)]
        found.sort(key=lambda item: (item[0].namespace, item[0].name))  # a third of the time that comparing keys takes
        return [obj for _, obj in found]

    def replace(self, items: Iterable[Raw], version: str) -> Sequence[Change]:
        """A new list: what it lacks is gone (unless this process wrote it after the list was made)."""
        with self._lock:
            self._version = version
            self._gone = {key: at for key, at in self._gone.items() if _newer(at, version)}
            fresh = {meta.key_of(item): project(item) for item in items}
            changes = []
            for key in [key for key in self._objects if key not in fresh]:
                if not _newer(meta.version_of(self._objects[key]), version):
                    changes.append(Change(self._old(key), None))
                    self._remove(key)
            for key, obj in fresh.items():
                old = self._old(key)
                if old is None or meta.version_of(old) != meta.version_of(obj):
                    changes.append(Change(old, obj))
                self._put(key, obj)
            self._before = {key: fresh.get(key) for key, obj in self._objects.items() if obj is not fresh.get(key)}
            return changes

    def event(self, type_: str, obj: Raw) -> Change | None:
        """One event of a watch; a bookmark only moves the version. ``None`` when nothing changed."""
        with self._lock:
            self._version = meta.version_of(obj) or self._version
            if type_ == "BOOKMARK":
                return None
            key = meta.key_of(obj)
            old = self._old(key)
            self._before.pop(key, None)
            if type_ == "DELETED":
                self._gone.pop(key, None)
                self._remove(key)
                return Change(old if old is not None else project(obj), None)
            new = project(obj)
            self._put(key, new)
            return Change(old, new)

    def assume(self, obj: Raw) -> None:
        """The answer to a write of our own, ahead of its event, so that the next pass sees it.

        Ignored unless it is newer than all that was seen: an event that could still remove it must be to come. A write
        that ended the object removes it, and older events don't bring it back.
        """
        with self._lock:
            key, version = meta.key_of(obj), meta.version_of(obj)
            if not _newer(version, self._version):
                return
            self._before.setdefault(key, self._objects.get(key))
            if _ends(obj):
                self._gone[key] = version
                self._remove(key)
                return
            self._put(key, project(dict(obj, metadata=dict(obj.get("metadata") or {}))))

    def _old(self, key: Key) -> Raw | None:
        """What the watch last said, whatever was assumed since."""
        return self._before[key] if key in self._before else self._objects.get(key)

    def _candidates(self, namespace: str, index: tuple[str, str] | None) -> Iterable[Key]:
        if index is not None:
            if index[0] not in self._functions:
                raise KeyError(f"{self.kind.kind} has no index {index[0]!r}")
            keys = self._index.get(index, set())
            return keys if namespace == ALL_NAMESPACES else {key for key in keys if key.namespace == namespace}
        return self._objects.keys() if namespace == ALL_NAMESPACES else self._namespaces.get(namespace, set())

    def _put(self, key: Key, obj: Raw) -> None:
        if key in self._gone and not _newer(meta.version_of(obj), self._gone[key]):
            return
        old = self._objects.get(key)
        if old is not None:
            if _newer(meta.version_of(old), meta.version_of(obj)) and meta.uid_of(old) == meta.uid_of(obj):
                return
            self._unindex(key, old)
        self._objects[key] = obj
        self._namespaces.setdefault(key.namespace, set()).add(key)
        for entry in self._entries(obj):
            self._index.setdefault(entry, set()).add(key)

    def _remove(self, key: Key) -> None:
        obj = self._objects.pop(key, None)
        if obj is not None:
            self._unindex(key, obj)
            _discard(self._namespaces, key.namespace, key)

    def _unindex(self, key: Key, obj: Raw) -> None:
        for entry in self._entries(obj):
            _discard(self._index, entry, key)

    def _entries(self, obj: Raw) -> set[tuple[str, str]]:
        try:
            return {(name, value) for name, function in self._functions.items() for value in function(obj)}
        except (AttributeError, TypeError):
            log.warning("%s %s has a shape that can't be indexed", self.kind.kind, meta.key_of(obj))
            return set()


def project(obj: Raw) -> Raw:
    """Drops what no decision looks at (in place), and keeps long lists of repeated words once in memory."""
    metadata = obj.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("managedFields", None)
    if obj.get("kind") == "Secret":
        _blind(obj)
    cpu = ((obj.get("status") or {}).get("hardware") or {}).get("cpu") or {}
    flags = cpu.get("flags")
    if isinstance(flags, list):
        cpu["flags"] = [sys.intern(flag) if type(flag) is str else flag for flag in flags]
    return obj


def _blind(secret: Raw) -> None:
    """Keeps of a Secret's values only what tells one from another: nobody reads them from memory."""
    for field in ("data", "stringData"):
        if isinstance(secret.get(field), dict):
            values = {name: hashlib.sha256(str(value).encode()).hexdigest() for name, value in secret[field].items()}
            secret[field] = values


def _ends(obj: Raw) -> bool:
    """Whether a write took the last finalizer of a deleted object, which is then gone."""
    metadata = obj.get("metadata") or {}
    return bool(metadata.get("deletionTimestamp")) and not metadata.get("finalizers")


def _carries(obj: Raw, labels: Mapping[str, str]) -> bool:
    own = (obj.get("metadata") or {}).get("labels") or {}
    return all(own.get(name) == value for name, value in labels.items())


def _newer(version: str, than: str) -> bool:
    """Whether one resourceVersion is later; unknown when they are no numbers, then not."""
    return version.isdigit() and than.isdigit() and int(version) > int(than)


def _discard(table: dict[T, set[Key]], entry: T, key: Key) -> None:
    keys = table.get(entry)
    if keys is not None:
        keys.discard(key)
        if not keys:
            del table[entry]
