"""The watch caches of a scenario: one a kind, each of which may be behind the API server by another number of changes.

Apart from `World.reader(lag=...)`, because here the cache and the events that wake managers have to move together: an
event reaches the queue exactly when its change reaches the cache, as in the controller.
"""

from __future__ import annotations

import collections
import dataclasses
import random
from collections.abc import Mapping, Sequence

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import indexes
from capm3_managers.ports import ALL_NAMESPACES
from capm3_managers.testing.world import World

_KINDS = {
    (value.api_version, value.kind): value
    for value in (getattr(kinds, name) for name in dir(kinds))
    if isinstance(value, Kind)
}


@dataclasses.dataclass(frozen=True)
class Change:
    """One object that came, changed or went."""

    kind: Kind
    old: Raw | None
    new: Raw | None


def kind_of(obj: Mapping[str, object]) -> Kind | None:
    """The kind of a raw object; ``None`` for one that the project does not know."""
    return _KINDS.get((str(obj.get("apiVersion")), str(obj.get("kind"))))


def kinds_by_plural() -> Mapping[tuple[str, str], Kind]:
    """The kinds that the project knows, by group and plural."""
    return {(kind.group, kind.plural): kind for kind in _KINDS.values()}


class Cache:
    """A `Reader` whose cached answers trail the world.

    Attributes:
        changes: how many changes were seen in the world so far.
    """

    def __init__(self, world: World) -> None:
        self.changes = 0
        self._live = world.reader()
        self._world = world
        self._seen: dict[tuple[Kind, Key], Raw] = {}
        self._held: dict[Kind, dict[Key, Raw]] = collections.defaultdict(dict)
        self._pending: dict[Kind, collections.deque[Change]] = collections.defaultdict(collections.deque)

    @property
    def pending(self) -> bool:
        """Whether changes wait to be delivered."""
        return any(self._pending.values())

    def keys(self, kind: Kind) -> list[Key]:
        """The keys of all cached objects of a kind."""
        return sorted(self._held[kind])

    def look(self) -> None:
        """Notes what changed in the world since the last look."""
        now = self._objects()
        for ref in [*self._seen, *(ref for ref in now if ref not in self._seen)]:
            old, new = self._seen.get(ref), now.get(ref)
            if old is not None and new is not None and meta.version_of(old) == meta.version_of(new):
                continue
            self.changes += 1
            for step in _split(ref[0], old, new):
                self._pending[ref[0]].append(step)
        self._seen = now

    def fill(self) -> None:
        """Forgets everything and lists the world afresh."""
        self._seen = self._objects()
        self._pending.clear()
        self._held.clear()
        for (kind, key), obj in self._seen.items():
            self._held[kind][key] = obj

    def deliver_all(self) -> list[Change]:
        """Brings every kind up to date."""
        self.look()
        return [self._deliver(kind) for kind in list(self._pending) for _ in range(len(self._pending[kind]))]

    def deliver_some(self, lag: int, rng: random.Random) -> list[Change]:
        """Delivers changes until each kind is at most a random number up to `lag` behind."""
        self.look()
        due = [(kind, len(queue) - rng.randint(0, lag)) for kind, queue in self._pending.items()]
        return [self._deliver(kind) for kind, count in due for _ in range(max(0, count))]

    def get(self, kind: Kind, key: Key, *, live: bool = False) -> Raw | None:
        return self._live.get(kind, key, live=True) if live else self._held[kind].get(key)

    def list(
        self,
        kind: Kind,
        namespace: str,
        *,
        labels: Mapping[str, str] | None = None,
        index: tuple[str, str] | None = None,
        live: bool = False,
    ) -> Sequence[Raw]:
        if live:
            return self._live.list(kind, namespace, labels=labels, live=True)
        found = [obj for key, obj in sorted(self._held[kind].items()) if namespace in (ALL_NAMESPACES, key.namespace)]
        if index is not None:
            function = indexes.INDEXES[kind][index[0]]
            found = [obj for obj in found if index[1] in function(obj)]
        return [obj for obj in found if _carries(obj, labels or {})]

    def _objects(self) -> dict[tuple[Kind, Key], Raw]:
        found = ((kind_of(obj), obj) for obj in self._world.all())
        return {(kind, meta.key_of(obj)): obj for kind, obj in found if kind is not None}

    def _deliver(self, kind: Kind) -> Change:
        change = self._pending[kind].popleft()
        if change.new is None:
            self._held[kind].pop(meta.key_of(change.old or {}), None)
        else:
            self._held[kind][meta.key_of(change.new)] = change.new
        return change


def _split(kind: Kind, old: Raw | None, new: Raw | None) -> list[Change]:
    """An object that was deleted and made anew between two looks is two changes."""
    if old is not None and new is not None and meta.uid_of(old) != meta.uid_of(new):
        return [Change(kind, old, None), Change(kind, None, new)]
    return [Change(kind, old, new)]


def _carries(obj: Raw, labels: Mapping[str, str]) -> bool:
    carried = (obj.get("metadata") or {}).get("labels") or {}
    return all(carried.get(name) == value for name, value in labels.items())
