"""The watch caches of a scenario: one a kind, each of which may be behind the API server by another number of changes.

Apart from `World.reader(lag=...)`, because here the cache and the events that wake managers have to move together: an
event reaches the queue exactly when its change reaches the cache, as in the controller.
"""

from __future__ import annotations

import collections
import dataclasses
import random
import weakref
from collections.abc import Mapping, Sequence

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import indexes
from capm3_managers.ports import ALL_NAMESPACES
from capm3_managers.testing.world import World
from capm3_managers.testing.world_types import Event

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
        self._current: dict[tuple[Kind, Key], Raw] = {}
        self._held: dict[Kind, dict[Key, Raw]] = collections.defaultdict(dict)
        self._pending: dict[Kind, collections.deque[Change]] = collections.defaultdict(collections.deque)
        self.fill()
        _listen(world, self)

    @property
    def pending(self) -> bool:
        """Whether changes wait to be delivered."""
        return any(self._pending.values())

    def keys(self, kind: Kind) -> list[Key]:
        """The keys of all cached objects of a kind."""
        return sorted(self._held[kind])

    def objects(self) -> list[Raw]:
        """The world as it is now, without copying it; read only."""
        return list(self._current.values())

    def note(self, old: Raw | None, new: Raw | None) -> None:
        """Takes in one change of the world, which waits to be delivered from then on."""
        kind = kind_of(new or old or {})
        if kind is None:
            return
        key = meta.key_of(new or old or {})
        if new is None:
            self._current.pop((kind, key), None)
        else:
            self._current[kind, key] = new
        self.changes += 1
        self._pending[kind].append(Change(kind, old, new))

    def fill(self) -> None:
        """Forgets everything and lists the world afresh."""
        found = ((kind_of(obj), obj) for obj in self._world.all())
        self._current = {(kind, meta.key_of(obj)): obj for kind, obj in found if kind is not None}
        self._pending.clear()
        self._held.clear()
        for (kind, key), obj in self._current.items():
            self._held[kind][key] = obj

    def deliver_all(self) -> list[Change]:
        """Brings every kind up to date."""
        return [self._deliver(kind) for kind in list(self._pending) for _ in range(len(self._pending[kind]))]

    def deliver_some(self, lag: int, rng: random.Random) -> list[Change]:
        """Delivers changes until each kind is at most a random number up to `lag` behind."""
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

    def _deliver(self, kind: Kind) -> Change:
        change = self._pending[kind].popleft()
        if change.new is None:
            self._held[kind].pop(meta.key_of(change.old or {}), None)
        else:
            self._held[kind][meta.key_of(change.new)] = change.new
        return change


def _listen(world: World, cache: Cache) -> None:
    """Feeds the cache for as long as anybody uses it."""
    target = weakref.ref(cache)

    def note(event: Event) -> None:
        found = target()
        if found is not None:
            found.note(event.old, event.after)

    world.listen(note)


def _carries(obj: Raw, labels: Mapping[str, str]) -> bool:
    carried = (obj.get("metadata") or {}).get("labels") or {}
    return all(carried.get(name) == value for name, value in labels.items())
