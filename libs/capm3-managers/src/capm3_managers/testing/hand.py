"""The hand that writes for a scenario: passes writes on to `World`, and adds conflicts, crashes and interleaving.

Apart from `World`, which only knows what a real API server does; these faults belong to the process that talks to it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, TypeVar

from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers.plan import Hardware, NodePatch
from capm3_managers.ports import ApiError, Bmc
from capm3_managers.testing.world import World

T = TypeVar("T")


class Crash(BaseException):
    """The process died; no ``except Exception`` may survive it."""


def _nothing() -> None:
    return None


class Hand:
    """An `execute.Writer`.

    Attributes:
        writes: how many succeeded.
        writes_left: dies after so many more; ``None``: never.
        before: called before each write, so that other workers may get in between.
        after: called after each write.
    """

    def __init__(self, world: World, remote: Any, bmc: Bmc, rng: random.Random, conflict_rate: float) -> None:
        self.writes = 0
        self.writes_left: int | None = None
        self.before: Callable[[], None] = _nothing
        self.after: Callable[[], None] = _nothing
        self._world = world
        self._remote = remote
        self._bmc = bmc
        self._rng = rng
        self._conflict_rate = conflict_rate

    def create(self, obj: Raw) -> Raw:
        return self._do(lambda: self._world.create(obj))

    def patch(self, kind: Kind, key: Key, patch: Raw, *, subresource: str = "") -> Raw:
        guarded = bool((patch.get("metadata") or {}).get("resourceVersion"))
        return self._do(lambda: self._world.patch(kind, key, patch, subresource=subresource), guarded=guarded)

    def delete(self, kind: Kind, key: Key, *, uid: str = "") -> None:
        self._do(lambda: self._world.delete(kind, key, uid=uid))

    def patch_node(self, action: NodePatch) -> None:
        self._do(lambda: self._remote.patch_node(action))

    def hardware(self, action: Hardware) -> None:
        self._do(lambda: self._bmc.perform(action.access, action.op, dict(action.args)))

    def _do(self, write: Callable[[], T], *, guarded: bool = False) -> T:
        self.before()
        if guarded and self._rng.random() < self._conflict_rate:
            raise ApiError(409, "Conflict", "the object has been modified (injected)")
        answer = write()
        self.writes += 1
        self.after()
        if self.writes_left is not None:
            self.writes_left -= 1
            if self.writes_left <= 0:
                raise Crash
        return answer
