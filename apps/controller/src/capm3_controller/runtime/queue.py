"""The work queue of one controller: a key is queued once, never worked on twice at a time, and comes back when asked.

The rules (`Schedule`) are apart from the threads that wait (`Queue`), so that any order of calls can be tried against
them. They are client-go's: an event for a key in work marks it to be done again; the earliest of several delays wins.
"""

from __future__ import annotations

import collections
import dataclasses
import heapq
import itertools
import threading
import time
from collections.abc import Callable
from typing import Protocol

from capm3_api.meta import Key

from capm3_controller.kube.ratelimit import TokenBucket


class QueueObserver(Protocol):
    """Hears what happens to a queue; see `capm3_controller.runtime.metrics`."""

    def added(self, depth: int) -> None: ...

    def taken(self, depth: int, waited: float) -> None: ...

    def finished(self, worked: float) -> None: ...

    def retried(self) -> None: ...


@dataclasses.dataclass
class Schedule:
    """The rules, without threads or clocks; times are seconds of any steady clock."""

    ready: collections.deque[Key] = dataclasses.field(default_factory=collections.deque)
    dirty: dict[Key, float] = dataclasses.field(default_factory=dict)
    working: dict[Key, float] = dataclasses.field(default_factory=dict)
    _due: dict[Key, float] = dataclasses.field(default_factory=dict)
    _heap: list[tuple[float, int, Key]] = dataclasses.field(default_factory=list)
    _order: itertools.count[int] = dataclasses.field(default_factory=itertools.count)

    def add(self, key: Key, now: float) -> bool:
        """Queues a key; whether that was new."""
        if key in self.dirty:
            return False
        self.dirty[key] = now
        if key not in self.working:
            self.ready.append(key)
        return True

    def add_at(self, key: Key, when: float) -> None:
        """Queues a key later; an earlier appointment of the same key stands."""
        if self._due.get(key, float("inf")) <= when:
            return
        self._due[key] = when
        heapq.heappush(self._heap, (when, next(self._order), key))

    def cancel(self, key: Key) -> None:
        """Drops a key's appointment."""
        self._due.pop(key, None)

    def ripen(self, now: float) -> int:
        """Queues what is due; how many keys that were."""
        count = 0
        while self._heap and self._heap[0][0] <= now:
            when, _, key = heapq.heappop(self._heap)
            if self._due.get(key) == when:
                del self._due[key]
                count += self.add(key, now)
        return count

    def next_due(self) -> float | None:
        """When `ripen` has something to do."""
        while self._heap and self._due.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def take(self, now: float) -> tuple[Key, float] | None:
        """The next key to work on and how long it waited."""
        if not self.ready:
            return None
        key = self.ready.popleft()
        waited = now - self.dirty.pop(key)
        self.working[key] = now
        return key, waited

    def done(self, key: Key, now: float) -> float:
        """Work on a key ended; how long it took. An event that came meanwhile queues it again."""
        worked = now - self.working.pop(key)
        if key in self.dirty:
            self.ready.append(key)
        return worked


class Retries:
    """The delay of a failed key: doubling from 5 ms to 1,000 s for each, and an overall rate.

    Args:
        overall: shared by all keys of the queue: 10 a second, 100 at once.
    """

    def __init__(self, overall: TokenBucket, first: float = 0.005, longest: float = 1000.0) -> None:
        self._overall = overall
        self._first = first
        self._longest = longest
        self._failures: dict[Key, int] = {}
        self._lock = threading.Lock()

    def next(self, key: Key) -> float:
        with self._lock:
            failures = self._failures.get(key, 0)
            self._failures[key] = failures + 1
        own = min(self._longest, self._first * 2.0 ** min(failures, 32))
        return max(own, self._overall.reserve())

    def failures(self, key: Key) -> int:
        with self._lock:
            return self._failures.get(key, 0)

    def forget(self, key: Key) -> None:
        with self._lock:
            self._failures.pop(key, None)


class Queue:
    """The schedule for threads; see the module."""

    def __init__(
        self,
        observer: QueueObserver | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        retries: Retries | None = None,
    ) -> None:
        self._observer = observer
        self._clock = clock
        self.retries = retries or Retries(TokenBucket(10, 100, clock=clock))
        self._schedule = Schedule()
        self._changed = threading.Condition()
        self._closed = False

    def __len__(self) -> int:
        return len(self._schedule.ready)

    def add(self, key: Key) -> None:
        with self._changed:
            if self._closed:
                return
            if self._schedule.add(key, self._clock()):
                self._added(1)
                self._changed.notify()

    def add_after(self, key: Key, delay: float) -> None:
        """Queues a key in so many seconds."""
        if delay <= 0:
            self.add(key)
            return
        with self._changed:
            if not self._closed:
                self._schedule.add_at(key, self._clock() + delay)
                self._changed.notify()

    def retry(self, key: Key) -> float:
        """Queues a key with its growing delay, which is returned."""
        delay = self.retries.next(key)
        if self._observer is not None:
            self._observer.retried()
        self.add_after(key, delay)
        return delay

    def forget(self, key: Key) -> None:
        """The key succeeded: its delay starts anew, and what an earlier pass asked for later is out of date.

        client-go lets such an appointment stand, so that a pass that waited costs another one long after the wait is over.
        """
        self.retries.forget(key)
        with self._changed:
            self._schedule.cancel(key)

    def take(self) -> Key | None:
        """Waits for a key; ``None`` when the queue was closed: nothing is handed out any more."""
        with self._changed:
            while not self._closed:
                now = self._clock()
                self._added(self._schedule.ripen(now))
                taken = self._schedule.take(now)
                if taken is not None:
                    if self._observer is not None:
                        self._observer.taken(len(self._schedule.ready), taken[1])
                    if self._schedule.ready:
                        self._changed.notify()
                    return taken[0]
                due = self._schedule.next_due()
                self._changed.wait(None if due is None else max(0.0, due - now))
            return None

    def done(self, key: Key) -> None:
        with self._changed:
            worked = self._schedule.done(key, self._clock())
            if self._observer is not None:
                self._observer.finished(worked)
            self._changed.notify()

    def close(self) -> None:
        """Nothing is taken in or handed out any more; `idle` tells when the work in hand has ended."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def work_seconds(self) -> list[float]:
        """How long each key in work has been so."""
        with self._changed:
            now = self._clock()
            return [now - since for since in self._schedule.working.values()]

    def _added(self, count: int) -> None:
        if self._observer is not None:
            for _ in range(count):
                self._observer.added(len(self._schedule.ready))
