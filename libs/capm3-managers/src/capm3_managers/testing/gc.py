"""Deletion: finalizers, and the collection of what a deleted owner or namespace leaves behind.

Apart from the write path, because deletion goes on by itself: an object that goes may take others with it. It runs in the
write that causes it, so a test sees the end of it at once; the real collector does the same some moments later.
"""

from __future__ import annotations

from collections.abc import Callable

from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers.testing.world_store import Store
from capm3_managers.testing.world_types import Resource, metadata_of, resource_of

FOREGROUND = "foregroundDeletion"
_NAMESPACES = resource_of(kinds.NAMESPACE)


class Collector:
    """Args:
    now: RFC 3339 time.
    strict: an owner that never existed counts as gone too, as for the real collector; off, only a deleted one does, so
        that a test may put a dependent before its owner.
    enabled: off, owners take nothing with them (a bare kube-apiserver without its controller manager).
    """

    def __init__(self, store: Store, now: Callable[[], str], *, strict: bool = False, enabled: bool = True) -> None:
        self._store = store
        self._now = now
        self._strict = strict
        self._enabled = enabled
        self._gone: set[str] = set()

    def delete(self, resource: Resource, key: Key, propagation: str = "Background") -> Raw | None:
        """Deletes a stored object as far as its finalizers let it; the object while it is still there.

        Call it under the store's lock.
        """
        stored = self._store.get(resource, key)
        if stored is None:
            return None
        if propagation == "Orphan" and self._enabled:
            self._orphan(stored)
            stored = self._store.get(resource, key) or stored
        finalizers = list(metadata_of(stored).get("finalizers") or [])
        if propagation == "Foreground" and self._enabled and self._blockers(stored) and FOREGROUND not in finalizers:
            finalizers.append(FOREGROUND)
        if resource == _NAMESPACES and self._enabled:
            return self._terminate_namespace(key, stored)
        if not finalizers:
            self._remove(resource, key)
            return None
        self._mark(resource, key, stored, finalizers)
        if FOREGROUND in finalizers:
            for place in self._store.dependents(meta.uid_of(stored)):
                self.delete(*place, propagation="Foreground")
        return self._store.get(resource, key)

    def written(self, resource: Resource, key: Key) -> Raw | None:
        """Follows a write: lets go an object whose last finalizer went, collects one without a living owner.

        Call it under the store's lock. The object if it is still there.
        """
        stored = self._store.get(resource, key)
        if stored is None:
            return None
        metadata = metadata_of(stored)
        if metadata.get("deletionTimestamp") and not metadata.get("finalizers"):
            if resource == _NAMESPACES and self._enabled:
                return self._terminate_namespace(key, stored)
            self._remove(resource, key)
            return None
        if self._enabled and metadata.get("ownerReferences"):
            self._check_owners(resource, key)
        return self._store.get(resource, key)

    def _mark(self, resource: Resource, key: Key, stored: Raw, finalizers: list[str]) -> None:
        metadata = dict(metadata_of(stored))
        if metadata.get("deletionTimestamp") and finalizers == metadata.get("finalizers"):
            return
        if not metadata.get("deletionTimestamp"):
            metadata.update(deletionTimestamp=self._now(), deletionGracePeriodSeconds=0)
            if metadata.get("generation"):
                metadata["generation"] += 1
        metadata["finalizers"] = finalizers
        self._store.write(resource, key, {**stored, "metadata": metadata})

    def _remove(self, resource: Resource, key: Key) -> None:
        last = self._store.remove(resource, key)
        uid = meta.uid_of(last)
        self._gone.add(uid)
        if not self._enabled:
            return
        for place in self._store.dependents(uid):
            self._check_owners(*place)
        for owner in metadata_of(last).get("ownerReferences") or []:
            self._foreground_done(owner.get("uid") or "")
        if key.namespace:
            self._namespace_done(key.namespace)

    def _absent(self, uid: str) -> bool:
        return uid in self._gone or (self._strict and self._store.owner_of(uid) is None)

    def _check_owners(self, resource: Resource, key: Key) -> None:
        """Deletes an object whose owners are all gone; drops references to those that are, if others live."""
        stored = self._store.get(resource, key)
        if stored is None:
            return
        owners = metadata_of(stored).get("ownerReferences") or []
        living = [owner for owner in owners if not self._absent(owner.get("uid") or "")]
        if len(living) == len(owners):
            return
        if not living:
            if not metadata_of(stored).get("deletionTimestamp"):
                self.delete(resource, key)
            return
        metadata = {**metadata_of(stored), "ownerReferences": living}
        self._store.write(resource, key, {**stored, "metadata": metadata})

    def _blockers(self, owner: Raw) -> list[tuple[Resource, Key]]:
        uid = meta.uid_of(owner)
        found = []
        for place in self._store.dependents(uid):
            references = metadata_of(self._store.get(*place) or {}).get("ownerReferences") or []
            if any(item.get("uid") == uid and item.get("blockOwnerDeletion") for item in references):
                found.append(place)
        return found

    def _foreground_done(self, uid: str) -> None:
        place = self._store.owner_of(uid)
        owner = self._store.get(*place) if place else None
        finalizers = list(metadata_of(owner or {}).get("finalizers") or [])
        if place is None or owner is None or FOREGROUND not in finalizers or self._blockers(owner):
            return
        finalizers.remove(FOREGROUND)
        metadata = {**metadata_of(owner), "finalizers": finalizers}
        if not finalizers:
            del metadata["finalizers"]
        self._store.write(*place, {**owner, "metadata": metadata})
        self.written(*place)

    def _orphan(self, owner: Raw) -> None:
        uid = meta.uid_of(owner)
        for place in self._store.dependents(uid):
            child = self._store.get(*place) or {}
            metadata = dict(metadata_of(child))
            left = [item for item in metadata.get("ownerReferences") or [] if item.get("uid") != uid]
            metadata["ownerReferences"] = left
            if not left:
                del metadata["ownerReferences"]
            self._store.write(*place, {**child, "metadata": metadata})

    def _terminate_namespace(self, key: Key, stored: Raw) -> Raw | None:
        """Does the namespace controller's part: empties it, and lets it go once nothing is left."""
        if not metadata_of(stored).get("deletionTimestamp"):
            metadata = {**metadata_of(stored), "deletionTimestamp": self._now()}
            phase = {**(stored.get("status") or {}), "phase": "Terminating"}
            self._store.write(_NAMESPACES, key, {**stored, "metadata": metadata, "status": phase})
            for resource, child in self._inside(key.name):
                self.delete(resource, child)
        self._namespace_done(key.name)
        return self._store.get(_NAMESPACES, key)

    def _inside(self, namespace: str) -> list[tuple[Resource, Key]]:
        return [
            (resource, key)
            for resource in self._store.resources()
            for key in self._store.snapshot(resource)
            if key.namespace == namespace
        ]

    def _namespace_done(self, name: str) -> None:
        key = Key("", name)
        stored = self._store.get(_NAMESPACES, key)
        metadata = metadata_of(stored or {})
        if stored is None or not metadata.get("deletionTimestamp") or metadata.get("finalizers") or self._inside(name):
            return
        self._remove(_NAMESPACES, key)
