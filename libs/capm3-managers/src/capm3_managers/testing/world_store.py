"""Stored objects, one global resourceVersion, and a bounded log of changes for watches, old lists and lagging caches.

Apart from the rules of the API, as etcd is: it stores what it is told and remembers what changed. Stored objects are
never changed in place; whoever hands one out copies it.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable

from capm3_api import meta
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers.ports import ApiError
from capm3_managers.testing import world_errors
from capm3_managers.testing.world_types import Event, Resource, metadata_of

Place = tuple[Resource, Key]


class Store:
    """Args:
    history: how many changes of each resource are remembered; older ones answer 410.
    """

    def __init__(self, history: int) -> None:
        self.lock = threading.RLock()
        self.version = 1
        self._history = history
        self._objects: dict[Resource, dict[Key, Raw]] = collections.defaultdict(dict)
        self._logs: dict[Resource, collections.deque[Event]] = collections.defaultdict(collections.deque)
        self._dropped: dict[Resource, int] = collections.defaultdict(int)
        self._by_uid: dict[str, Place] = {}
        self._dependents: dict[str, set[Place]] = collections.defaultdict(set)
        self._listeners: list[Callable[[Event], None]] = []

    def get(self, resource: Resource, key: Key) -> Raw | None:
        with self.lock:
            return self._objects[resource].get(key)

    def resources(self) -> list[Resource]:
        with self.lock:
            return [resource for resource, objects in self._objects.items() if objects]

    def snapshot(self, resource: Resource, version: int | None = None) -> dict[Key, Raw]:
        """All objects as they were right after `version`, now if it is ``None``.

        Raises:
            ApiError: 410, the version is older than the log; 504, it has not happened yet.
        """
        with self.lock:
            objects = dict(self._objects[resource])
            if version is None or version == self.version:
                return objects
            for event in reversed(self.events(resource, version)):
                if event.old is None:
                    objects.pop(event.key, None)
                else:
                    objects[event.key] = event.old
            return objects

    def events(self, resource: Resource, since: int) -> list[Event]:
        """Changes after version `since`, oldest first; raises as `snapshot`."""
        with self.lock:
            if since < self._dropped[resource]:
                raise world_errors.expired(since)
            if since > self.version:
                raise ApiError(504, "Timeout", f"Too large resource version: {since}, current: {self.version}")
            found: list[Event] = []
            for event in reversed(self._logs[resource]):
                if event.version <= since:
                    break
                found.append(event)
            return found[::-1]

    def forget(self, resource: Resource) -> None:
        """Drops the log, as etcd's compaction does: older versions answer 410 from now on."""
        with self.lock:
            self._logs[resource].clear()
            self._dropped[resource] = self.version

    def listen(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Calls `listener` for each change, in order, under the lock: it must be quick. Answers what ends it."""
        with self.lock:
            self._listeners.append(listener)

        def stop() -> None:
            with self.lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return stop

    def owner_of(self, uid: str) -> Place | None:
        """Where the object of this uid is."""
        with self.lock:
            return self._by_uid.get(uid)

    def dependents(self, uid: str) -> list[Place]:
        """Objects with an owner reference to this uid."""
        with self.lock:
            return sorted(self._dependents.get(uid, ()))

    def write(self, resource: Resource, key: Key, obj: Raw) -> Raw:
        """Stores the object under a new version and answers it as stored."""
        with self.lock:
            old = self._objects[resource].get(key)
            stored = self._stamp(obj)
            self._objects[resource][key] = stored
            self._unindex(resource, key, old)
            self._index(resource, key, stored)
            self._log(Event(self.version, "MODIFIED" if old else "ADDED", resource, key, stored, old))
            return stored

    def remove(self, resource: Resource, key: Key) -> Raw:
        """Removes the object and answers its last state under the version of its removal."""
        with self.lock:
            old = self._objects[resource].pop(key)
            self._unindex(resource, key, old)
            last = self._stamp(old)
            self._log(Event(self.version, "DELETED", resource, key, last, old))
            return last

    def _stamp(self, obj: Raw) -> Raw:
        self.version += 1
        return {**obj, "metadata": {**metadata_of(obj), "resourceVersion": str(self.version)}}

    def _index(self, resource: Resource, key: Key, obj: Raw) -> None:
        self._by_uid[meta.uid_of(obj)] = (resource, key)
        for owner in metadata_of(obj).get("ownerReferences") or []:
            self._dependents[owner.get("uid") or ""].add((resource, key))

    def _unindex(self, resource: Resource, key: Key, obj: Raw | None) -> None:
        if obj is None:
            return
        self._by_uid.pop(meta.uid_of(obj), None)
        for owner in metadata_of(obj).get("ownerReferences") or []:
            self._dependents[owner.get("uid") or ""].discard((resource, key))

    def _log(self, event: Event) -> None:
        log = self._logs[event.resource]
        log.append(event)
        if len(log) > self._history:
            self._dropped[event.resource] = log.popleft().version
        for listener in tuple(self._listeners):
            listener(event)
