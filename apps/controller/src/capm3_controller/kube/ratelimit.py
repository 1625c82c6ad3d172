"""A token bucket: so many calls a second on average, so many at once.

Apart from the client, because the queues limit their retries with the same thing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class TokenBucket:
    """Thread-safe; hands out turns in the order they were asked for.

    Args:
        qps: turns a second; 0 or less means no limit.
        burst: turns that may be saved up.
    """

    def __init__(
        self,
        qps: float,
        burst: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._qps = qps
        self._burst = max(burst, 1)
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._tokens = float(self._burst)
        self._at = clock()

    def reserve(self) -> float:
        """Takes a turn and says in how many seconds it comes."""
        if self._qps <= 0:
            return 0.0
        with self._lock:
            now = self._clock()
            self._tokens = min(float(self._burst), self._tokens + max(0.0, now - self._at) * self._qps)
            self._at = now
            self._tokens -= 1.0
            return max(0.0, -self._tokens / self._qps)

    def acquire(self) -> None:
        """Takes a turn and waits for it."""
        delay = self.reserve()
        if delay > 0:
            self._sleep(delay)


UNLIMITED = TokenBucket(0, 1)
