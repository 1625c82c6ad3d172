"""The running program: starts its parts in order, and stops them so that nothing is left half done.

Apart from `wiring`, which makes the parts. Start: probes answer, caches fill, the lease is won, then passes begin. Stop is
the reverse, and the lease goes last of the writes, so that the next leader begins after our last one.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from capm3_api import kinds, meta
from capm3_api.meta import Kind
from capm3_managers import watches
from capm3_managers.watches import Watch, Watching

from capm3_controller.kube.cache import Cache, Handler
from capm3_controller.kube.client import Client
from capm3_controller.kube.fence import Fence
from capm3_controller.kube.leader import Elector
from capm3_controller.kube.remote import Remotes
from capm3_controller.kube.store import Change
from capm3_controller.runtime.health import Health
from capm3_controller.runtime.loop import Loop
from capm3_controller.runtime.metrics import Metrics

log = logging.getLogger(__name__)


class Serves(Protocol):
    """A port of the program."""

    @property
    def port(self) -> int: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...


@dataclasses.dataclass
class Running:
    """One controller in the process.

    Args:
        label: the value of ``--watch-filter``.
    """

    loop: Loop
    watching: Watching
    workers: int
    label: str = ""

    def subscribe(self, cache: Cache) -> None:
        """From now on events become keys."""
        for row in self.watching.rows:
            cache.kinds[row.kind].subscribe(self._handler(row, cache))

    def resync(self, cache: Cache) -> None:
        """Looks at every object again."""
        for obj in cache.kinds[self.loop.manager.kind].store.list():
            for row in self.watching.rows:
                if row.kind == self.loop.manager.kind:
                    self._handler(row, cache)(Change(None, obj))

    def _handler(self, row: Watch, cache: Cache) -> Handler:
        def handle(change: Change) -> None:
            for key in watches.wakes(self.watching, row, change.old, change.new, cache, self.label):
                self.loop.queue.add(key)

        return handle


@dataclasses.dataclass
class Parts:
    """What a process is made of; see `wiring.build`.

    Args:
        elector: ``None`` without leader election.
        clients: closed at the end.
        jobs: run once, in threads of their own, when this process leads; they get the stop event.
    """

    cache: Cache
    remotes: Remotes
    fence: Fence
    elector: Elector | None
    controllers: Sequence[Running]
    health: Health
    metrics: Metrics
    servers: Mapping[str, Serves]
    clients: Sequence[Client]
    closers: Sequence[Callable[[], None]] = ()
    jobs: Sequence[Callable[[threading.Event], None]] = ()
    sync_period: float = 600.0
    grace: float = 30.0


class Controller:
    """The program as an object: `start`, then `wait_ready` or `wait`, then `stop`."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._leading = threading.Event()
        self._threads: list[threading.Thread] = []
        self._lost = False
        self._add_checks()

    @property
    def ports(self) -> Mapping[str, int]:
        """The real ports: ``health``, ``diagnostics``, ``webhook``."""
        return {name: server.port for name, server in self.parts.servers.items()}

    def start(self) -> None:
        """Returns at once; everything happens in threads."""
        for server in self.parts.servers.values():
            server.start()
        self.parts.cache.start()
        self._thread("leader", self._candidate if self.parts.elector is not None else self._lead_alone)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the process should end: asked to, or the lease was lost; whether that is so."""
        return self._ended.wait(timeout)

    def wait_ready(self, timeout: float = 30.0, *, leading: bool = True) -> Mapping[str, str]:
        """Waits until every readiness check passes (and passes have begun).

        Returns:
            what is still wrong, by check; empty when it is ready.
        """
        deadline = time.monotonic() + timeout
        while True:
            problems = dict(self.parts.health.problems())
            if leading and not self._leading.is_set():
                problems["leading"] = "passes have not begun: waiting for caches or for the lease"
            if not problems or time.monotonic() >= deadline:
                return problems
            time.sleep(0.02)

    def ask_to_stop(self) -> None:
        """Makes `wait` return; for signal handlers."""
        self._ended.set()

    def stop(self) -> bool:
        """Ends everything; whether all passes in work ended in time and the lease was never lost."""
        if self._stopping.is_set():
            return not self._lost
        self._stopping.set()
        parts = self.parts
        for controller in parts.controllers:
            controller.loop.queue.close()
        deadline = time.monotonic() + parts.grace
        late = [controller for controller in parts.controllers if not controller.loop.join(deadline)]
        if late:
            log.error("Some passes did not end in time; their next write will be refused")
        parts.fence.close()
        if parts.elector is not None:
            parts.elector.stop()
        for thread in self._threads:
            thread.join(5)
        if parts.elector is not None and not self._lost:
            parts.elector.release()
        parts.cache.stop()
        self._close()
        self._ended.set()
        log.info("Stopped")
        return not late and not self._lost

    def _close(self) -> None:
        parts = self.parts
        parts.remotes.close()
        for close in parts.closers:
            close()
        for server in parts.servers.values():
            server.stop()
        for client in parts.clients:
            client.close()

    def _candidate(self) -> None:
        elector = self.parts.elector
        assert elector is not None
        leader = self.parts.metrics.leading.labels(elector.key.name)
        leader.set(0)
        self.parts.metrics.slow.labels(elector.key.name)

        def started() -> None:
            leader.set(1)
            self._thread("start", self._lead)

        def lost() -> None:
            leader.set(0)
            self._lost = True
            self._ended.set()

        elector.run(started, lost)

    def _lead_alone(self) -> None:
        self.parts.fence.open()
        self._lead()

    def _lead(self) -> None:
        """Fills the queues and starts the workers, once the caches are full."""
        parts = self.parts
        if not parts.cache.wait_synced(self._stopping):
            return
        if kinds.CLUSTER in parts.cache.kinds:
            parts.cache.kinds[kinds.CLUSTER].subscribe(self._cluster_changed)
        for controller in parts.controllers:
            controller.subscribe(parts.cache)
        for controller in parts.controllers:
            controller.loop.start(controller.workers)
            facts = {"controller": controller.loop.manager.name, "workers": controller.workers}
            log.info("Started a controller", extra={"facts": facts})
        for job in parts.jobs:
            self._thread("job", functools.partial(job, self._stopping))
        self._leading.set()
        self._thread("resync", self._resync)

    def _resync(self) -> None:
        while self.parts.sync_period > 0 and not self._stopping.wait(self.parts.sync_period):
            for controller in self.parts.controllers:
                controller.resync(self.parts.cache)

    def _cluster_changed(self, change: Change) -> None:
        if change.new is None and change.old is not None:
            self.parts.remotes.forget(meta.key_of(change.old))

    def _thread(self, name: str, run: Callable[[], None]) -> None:
        thread = threading.Thread(target=run, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _add_checks(self) -> None:
        parts = self.parts
        parts.health.ready["caches"] = lambda: "; ".join(parts.cache.unsynced())
        parts.health.ready["watches"] = lambda: "; ".join(parts.cache.stale())
        if parts.elector is not None:
            elector = parts.elector
            parts.health.ready["lease"] = lambda: elector.error
        parts.metrics.ages(self._ages)

    def _ages(self) -> Sequence[tuple[str, float]]:
        found = [(kind.kind, cache.reflector.age) for kind, cache in self.parts.cache.kinds.items()]
        return [(kind, age) for kind, age in found if age is not None]


def watched(controllers: Sequence[Watching], reads: Sequence[Kind]) -> Sequence[Kind]:
    """The kinds to keep in caches: what is watched, what is read from one, and Clusters (connections end with them)."""
    rows = [row.kind for watching in controllers for row in watching.rows]
    return list(dict.fromkeys([*rows, *reads, kinds.CLUSTER]))
