"""Keeps a store equal to the server: list, then watch, and again from there whatever happens.

Its loop is the whole answer to connections that close, expire, hang or lie; it knows nothing of what the objects mean.
The states are few: *listing* (no version to go on from), *watching* (a version is known), *absent* (the kind is not
installed; looked for again now and then), and *stopped*.
"""

from __future__ import annotations

import dataclasses
import logging
import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from capm3_api.meta import Kind
from capm3_api.model import Raw
from capm3_managers.ports import ApiError

from capm3_controller.kube.backoff import Backoff
from capm3_controller.kube.client import Client, Watch

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds.

    Args:
        watch: a watch lasts between this and 1.5 times as long before the server ends it.
        margin: silence beyond a watch's end that means the connection is dead.
        first_pause: after the first failure; doubles up to `longest_pause`.
        short: a watch that ends sooner without an event counts as a failure.
        absent_pause: between looks for a kind that is not installed.
        absent_grace: how long a kind that had objects must be missing before they count as gone.
        relist: a new list from time to time, in case an event was lost.
    """

    watch: float = 180.0
    margin: float = 15.0
    first_pause: float = 0.8
    longest_pause: float = 30.0
    short: float = 1.0
    absent_pause: float = 10.0
    absent_grace: float = 30.0
    relist: float = 3600.0

    @property
    def stale(self) -> float:
        """The age of the last sign of life beyond which the store can't be trusted to be current."""
        return self.watch * 1.5 + self.margin + 2 * self.longest_pause


@dataclasses.dataclass(frozen=True)
class Scope:
    """What is listed and watched: a kind, in one namespace or `ALL_NAMESPACES`, with these labels."""

    kind: Kind
    namespace: str
    labels: Mapping[str, str] | None = None


class Sink(Protocol):
    """What the reflector fills."""

    def listed(self, items: list[Raw], version: str) -> None: ...

    def event(self, type_: str, obj: Raw) -> str:
        """Takes an event in; returns the version to go on from."""
        ...

    def missing(self) -> None:
        """The kind is not installed."""
        ...


class Reflector:
    """One kind on one server."""

    def __init__(
        self,
        client: Client,
        scope: Scope,
        sink: Sink,
        *,
        timing: Timing = Timing(),
        clock: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        self.kind = scope.kind
        self._client = client
        self._scope = scope
        self._sink = sink
        self._timing = timing
        self._clock = clock
        self._stopped = threading.Event()
        self._rng = rng or random.Random()
        self._backoff = Backoff(timing.first_pause, timing.longest_pause, rng=self._rng)
        self._version = ""
        self._listed_at = 0.0
        self._seen_at: float | None = None
        self._missing_since: float | None = None
        self._watch: Watch | None = None
        self._lock = threading.Lock()
        self.error = ""
        """Why it is not watching right now, for people."""

    @property
    def age(self) -> float | None:
        """Seconds since the last list, event, bookmark or opened watch; ``None`` before the first."""
        return None if self._seen_at is None else self._clock() - self._seen_at

    @property
    def stale(self) -> bool:
        """Whether nothing was heard for longer than any working watch is silent."""
        age = self.age
        return age is None or age > self._timing.stale

    def run(self) -> None:
        """Until stopped; never raises."""
        while not self._stopped.is_set():
            try:
                pause = self.turn()
            except Exception:
                log.exception("A watch failed in a way that is a bug", extra={"facts": {"kind": self.kind.kind}})
                self._version = ""
                pause = self._backoff.next()
            if pause and self._stopped.wait(pause):
                return

    def stop(self) -> None:
        """Ends `run` at once, a silent watch included."""
        self._stopped.set()
        with self._lock:
            if self._watch is not None:
                self._watch.stop()

    def turn(self) -> float:
        """One list (when one is due) and one watch.

        Returns:
            seconds to pause before the next turn.
        """
        try:
            if not self._version or self._clock() - self._listed_at > self._timing.relist:
                self._list()
            return self._watch_once()
        except ApiError as error:
            return self._failed(error)

    def _list(self) -> None:
        items, version = self._client.list(self.kind, self._scope.namespace, labels=self._scope.labels)
        self._sink.listed(list(items), version)
        self._version = version
        self._listed_at = self._clock()
        self._alive()

    def _watch_once(self) -> float:
        timeout = self._timing.watch * (1 + 0.5 * self._rng.random())
        begin, events = self._clock(), 0
        watch = self._client.watch(
            self.kind,
            self._scope.namespace,
            self._version,
            timeout=timeout,
            silence=timeout + self._timing.margin,
            labels=self._scope.labels,
        )
        with self._lock:
            self._watch = watch
        try:
            self._alive()
            if self._stopped.is_set():
                return 0.0
            for type_, obj in watch:
                self._version = self._sink.event(type_, obj) or self._version
                self._alive()
                events += 1
                self._backoff.reset()
        finally:
            with self._lock:
                self._watch = None
            watch.release()
        if not events and self._clock() - begin < self._timing.short:
            return self._backoff.next()
        self._backoff.reset()
        return 0.0

    def _alive(self) -> None:
        self._seen_at = self._clock()
        self._missing_since = None
        self.error = ""

    def _failed(self, error: ApiError) -> float:
        if self._stopped.is_set():
            return 0.0
        if error.status == 404:
            return self._missing()
        self.error = str(error)
        if error.status == 410 or error.reason in ("Expired", "Gone"):
            log.info("A watch expired; listing again", extra={"facts": {"kind": self.kind.kind}, "v": 3})
            self._version = ""
            return self._backoff.next()
        pause = self._backoff.next()
        facts = {"kind": self.kind.kind, "err": str(error), "retryIn": f"{pause:.1f}s"}
        log.warning("A watch was interrupted", extra={"facts": facts})
        return pause

    def _missing(self) -> float:
        """The kind is not installed, or a server that is starting says so: what was there is not given up at once."""
        now = self._clock()
        first = self._missing_since is None
        if self._missing_since is None:
            self._missing_since = now
        if first:
            facts = {"kind": self.kind.kind, "apiVersion": self.kind.api_version}
            log.info("A kind is not installed; looking for it again", extra={"facts": facts})
        if not self._version or now - self._missing_since >= self._timing.absent_grace:
            self._version = ""
            self._sink.missing()
            self._seen_at = now
        self.error = "the kind is not installed"
        return self._timing.absent_pause
