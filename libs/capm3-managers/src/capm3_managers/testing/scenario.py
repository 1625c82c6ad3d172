"""Runs managers over `World` as the controller would: caches, queues, timers, workers, crashes; no thread, no clock.

Apart from the controller's runtime, because a property of a manager ("settled means silent", "a crash after any write
converges") has to be checked with virtual time and with every unlucky order, which real threads can't promise. What the
two share is `watches`, `execute` and the managers themselves.

Example::

    scenario = Scenario(world, [cluster.MANAGER, machine.MANAGER], faults=Faults(lag=4, workers=10), seed=7)
    scenario.until_settled()
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import random
from collections.abc import Callable, Sequence
from typing import Any

from capm3_api.meta import Key

from capm3_managers import considering, execute, watches
from capm3_managers.env import Env
from capm3_managers.manager import Manager, Ports
from capm3_managers.plan import Plan
from capm3_managers.ports import ApiError, Bmc, BmcError
from capm3_managers.settings import Settings
from capm3_managers.testing import cache, consistency, peers
from capm3_managers.testing.hand import Crash, Hand
from capm3_managers.testing.world import World

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
RETRY_SECONDS = 1.0
"""The pause after a failed pass; the controller's growing delay makes no difference to where a world ends."""

Actor = Callable[[World, datetime.datetime], None]
"""A stand-in for somebody else's controller: looks at the world when all managers are idle, and may change it."""

Entry = tuple[str, Key]


class NeverSettled(AssertionError):
    """The managers went on for longer than the test allows."""


@dataclasses.dataclass(frozen=True)
class Pass:
    """What one pass did.

    Args:
        plan: ``None`` when observing failed.
        writes: writes and hardware actions made.
        error: what the API server, or a server, refused.
    """

    manager: str
    key: Key
    plan: Plan | None
    writes: int
    error: ApiError | BmcError | None = None


@dataclasses.dataclass(frozen=True)
class Faults:
    """How unkind the world is.

    Args:
        lag: how many changes of a kind its cache may be behind.
        conflict_rate: share of the writes with a version precondition that are refused although nobody interfered.
        workers: how many passes decide on the same view before the first of them writes; they also write in between
            each other's writes.
    """

    lag: int = 0
    conflict_rate: float = 0.0
    workers: int = 1


class Scenario:
    """Args:
    world: the API server.
    managers: who runs.
    remote: workload clusters, and the writes to their Nodes; the default has no kubeconfig for any.
    bmc: servers; the default supports nothing.
    actors: stand-ins that act when the managers are idle.
    check: refuse impossible worlds after every write (`consistency.check`).
    """

    def __init__(  # noqa: PLR0913 (every one of them is a knob of the simulated world)
        self,
        world: World,
        managers: Sequence[Manager],
        *,
        settings: Settings | None = None,
        remote: peers.Workloads | None = None,
        bmc: Bmc | None = None,
        actors: Sequence[Actor] = (),
        faults: Faults | None = None,
        seed: int = 0,
        check: bool = True,
    ) -> None:
        self.world = world
        self.managers = {manager.name: manager for manager in managers}
        self.settings = settings or Settings()
        self.faults = faults or Faults()
        self.actors = tuple(actors)
        self.now = START
        self.passes: list[Pass] = []
        self.cache = cache.Cache(world)
        self._ports = Ports(self.cache, remote or peers.Workloads(), bmc or peers.NoServers())
        self._rng = random.Random(seed)
        self._check = check
        self._queue: list[Entry] = []
        self._timers: dict[Entry, datetime.datetime] = {}
        self._planned: list[tuple[Entry, Any, Plan | ApiError]] = []
        self.hand = Hand(world, self._ports.remote, self._ports.bmc, self._rng, self.faults.conflict_rate)
        self.hand.before, self.hand.after = self._interleave, self._written
        self.restart()

    # What tests call

    def run(self, manager: str, key: Key) -> Pass:
        """One pass over fresh caches. Raises `Crash` when one was asked for."""
        self._wake(self.cache.deliver_all())
        return self._execute((manager, key), *self._decide((manager, key)))

    def until_settled(self, max_passes: int = 2000, *, silent: bool = True) -> int:
        """Runs passes as events, timers and actors demand until nothing is left to do.

        Settled means: no event waits, and in two full rounds of timers and actors nothing changed or was refused.

        Args:
            silent: then also check that a pass over every object of every manager would write nothing.

        Returns:
            the number of passes.

        Raises:
            NeverSettled: not after `max_passes`.
        """
        start, quiet = len(self.passes), 0
        while quiet < 2:
            self._drain(start + max_passes)
            before, begun = self.cache.changes, len(self.passes)
            self._idle(start + max_passes)
            calm = self.cache.changes == before and not any(item.error for item in self.passes[begun:])
            quiet = quiet + 1 if calm else 0
        if silent:
            self.check_silent()
        return len(self.passes) - start

    def check_silent(self) -> None:
        """Fails if a pass over any object of any manager would write."""
        self._wake(self.cache.deliver_all())
        for name, manager in sorted(self.managers.items()):
            for key in self.cache.keys(manager.kind):
                snapshot, plan = self._decide((name, key))
                if isinstance(plan, ApiError):
                    raise AssertionError(f"{name} {key} can't observe: {plan}")
                steps = execute.steps(snapshot.observed, plan)
                if steps:
                    raise AssertionError(f"{name} {key} is not silent: {steps}")

    def crash_after(self, writes: int) -> None:
        """The process dies right after that many more writes; `until_settled` then goes on with a new one."""
        self.hand.writes_left = writes

    def restart(self) -> None:
        """A new process: empty queues and timers, caches filled by a list, every object looked at."""
        self._queue.clear()
        self._timers.clear()
        self._planned.clear()
        self.hand.writes_left = None
        self.cache.fill()
        for name, manager in self.managers.items():
            self._queue.extend((name, key) for key in self.cache.keys(manager.kind))

    def env(self) -> Env:
        """What a decision gets at this moment."""
        return Env(self.now, random.Random(self._rng.random()), self.settings)

    # The loop

    def _drain(self, limit: int) -> None:
        """Works until the queue is empty and the caches are up to date."""
        while self._queue or self.cache.pending:
            if len(self.passes) > limit:
                raise NeverSettled(f"not settled after {limit} passes; the last were {self._tail()}")
            self._turn()

    def _turn(self) -> None:
        """Delivers some events, then lets up to `workers` passes run at once."""
        self._wake(self.cache.deliver_some(self.faults.lag, self._rng))
        if not self._queue:
            self._wake(self.cache.deliver_all())
        batch = [self._take() for _ in range(min(self.faults.workers, len(self._queue)))]
        try:
            self._planned.extend((entry, *self._decide(entry)) for entry in batch)
            while self._planned:
                self._execute(*self._take_planned())
        except Crash:
            self.restart()

    def _idle(self, limit: int) -> None:
        """Lets the actors act, then jumps the clock from timer to timer until each that was set has fired."""
        for actor in self.actors:
            with contextlib.suppress(ApiError):
                actor(self.world, self.now)
        for entry, due in sorted(self._timers.items(), key=lambda item: item[1]):
            if self._timers.get(entry) != due:
                continue
            del self._timers[entry]
            self.now = max(self.now, due)
            self._enqueue(entry)
            self._drain(limit)
        self._drain(limit)

    def _wake(self, changes: Sequence[cache.Change]) -> None:
        for change in changes:
            for name in self.managers:
                watching = watches.WATCHES[name]
                for row in watching.rows:
                    if row.kind.group_kind == change.kind.group_kind:
                        for key in watches.wakes(watching, row, change.old, change.new, self.cache):
                            self._enqueue((name, key))

    def _take(self) -> Entry:
        return self._queue.pop(self._rng.randrange(len(self._queue)))

    def _take_planned(self) -> tuple[Entry, Any, Plan | ApiError]:
        return self._planned.pop(self._rng.randrange(len(self._planned)))

    def _enqueue(self, entry: Entry) -> None:
        if entry not in self._queue:
            self._queue.append(entry)

    def _tail(self) -> list[str]:
        last = self.passes[-6:]
        return [f"{item.manager} {item.key}: {item.error or (item.plan.because if item.plan else '')}" for item in last]

    # One pass

    def _decide(self, entry: Entry) -> tuple[Any, Plan | ApiError]:
        name, key = entry
        manager, env = self.managers[name], self.env()
        try:
            return considering.consider(manager, self._ports, key, env)
        except ApiError as error:
            return None, error

    def _execute(self, entry: Entry, snapshot: Any, plan: Plan | ApiError) -> Pass:
        name, key = entry
        if isinstance(plan, ApiError):
            return self._done(Pass(name, key, None, 0, plan), retry=True)
        manager, made = self.managers[name], self.hand.writes
        recover = manager.recover
        handle = (lambda action, failure: recover(snapshot, action, failure, self.env())) if recover else None
        error: ApiError | BmcError | None = None
        try:
            plan = execute.run(manager.kind, snapshot.observed, plan, self.hand, handle).plan
        except (ApiError, BmcError) as caught:
            error = caught
        return self._done(Pass(name, key, plan, self.hand.writes - made, error), retry=plan.retry or error is not None)

    def _done(self, done: Pass, *, retry: bool) -> Pass:
        self.passes.append(done)
        entry = (done.manager, done.key)
        seconds = RETRY_SECONDS if retry else done.plan.requeue_after if done.plan else None
        self._timers.pop(entry, None)
        if seconds is not None:
            self._timers[entry] = self.now + datetime.timedelta(seconds=seconds)
        return done

    def _interleave(self) -> None:
        """Before a write: another worker may get in between."""
        while self._planned and self._rng.random() < 0.5:
            self._execute(*self._take_planned())

    def _written(self) -> None:
        """After a write."""
        if self._check:
            consistency.check(self.cache.objects())
