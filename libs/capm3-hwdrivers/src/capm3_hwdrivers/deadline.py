"""One time budget for a whole operation on a server, however many requests it takes.

Without it, time-outs of single requests add up: a BMC that hangs on each of twenty requests holds a worker for minutes.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from capm3_hwdrivers import errors


@dataclasses.dataclass(frozen=True)
class Limits:
    """Seconds.

    Args:
        connect: until the TCP connection stands.
        read: between two pieces of an answer.
        total: for a whole operation (observe, power, insert...), retries and waiting included.
    """

    connect: float = 5.0
    read: float = 20.0
    total: float = 60.0


@dataclasses.dataclass(frozen=True)
class Clock:
    """Time, as a pair of functions that tests replace."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclasses.dataclass(frozen=True)
class Deadline:
    """A point in time.

    Args:
        end: in the clock's seconds.
    """

    end: float
    clock: Clock = Clock()

    @classmethod
    def after(cls, seconds: float, clock: Clock | None = None) -> Deadline:
        clock = clock or Clock()
        return cls(clock.now() + seconds, clock)

    def remaining(self) -> float:
        """Seconds left, 0.0 when it has passed."""
        return max(0.0, self.end - self.clock.now())

    def limit(self, seconds: float, what: str) -> float:
        """`seconds`, or what is left if that is less.

        Raises:
            Timeout: nothing is left.
        """
        left = self.remaining()
        if left <= 0:
            raise errors.Timeout(f"{what}: the time for the whole operation is used up; the BMC is too slow or hangs")
        return min(seconds, left)

    def pause(self, seconds: float) -> bool:
        """Sleeps, and says so; sleeps not at all and says ``False`` if that would use up what is left."""
        if seconds >= self.remaining():
            return False
        self.clock.sleep(seconds)
        return True
