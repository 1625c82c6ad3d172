"""Whether this process may still write: open for as long as the lease is surely ours.

Apart from the election that moves it, because every writer asks it and a test sets it by hand.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from capm3_managers.ports import ApiError

WRITE_SECONDS = 30.0
_GRACE = 5.0


def steady_clock() -> float:
    """Seconds that never go back, the time of a suspended machine included where the system can tell."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class Fence:
    """Closed at first; thread-safe."""

    def __init__(self, clock: Callable[[], float] = steady_clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until = -math.inf

    def open(self, until: float = math.inf) -> None:
        """Writes may start before that moment of the clock; for ever when there is no election."""
        with self._lock:
            self._until = until

    def close(self) -> None:
        with self._lock:
            self._until = -math.inf

    @property
    def remaining(self) -> float:
        """Seconds for which it stays open; 0 when it is closed."""
        with self._lock:
            return max(0.0, self._until - self._clock())

    def check(self) -> None:
        """Raises `ApiError` with reason ``NotLeader`` when writes are not allowed any more."""
        if self.remaining <= 0:
            raise ApiError(0, "NotLeader", "this process does not hold the lease (any more); nothing was written")

    def permit(self) -> float:
        """`check` at the moment a write is sent, see `transport.Call`.

        Returns:
            the read time-out of the write: no answer is waited for long after a loss.
        """
        self.check()
        return min(WRITE_SECONDS, self.remaining + _GRACE)
