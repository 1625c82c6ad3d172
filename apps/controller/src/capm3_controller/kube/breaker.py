"""A circuit breaker: after a failure nobody waits for the same dead peer again until a pause is over.

Apart from the remote clients, because its states are worth testing without any of them: *unknown* (never answered:
one call at a time), *closed* (answering), *open* (failed; refuses until a time), then one probe, as in unknown.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Breaker:
    """Thread-safe.

    Args:
        pause: seconds after the first failure, doubled with each further one up to `longest`.
        patience: seconds to wait for another call's probe before giving up.
    """

    def __init__(
        self,
        *,
        pause: float = 2.0,
        longest: float = 60.0,
        patience: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pause = pause
        self._longest = longest
        self._patience = patience
        self._clock = clock
        self._changed = threading.Condition()
        self._healthy = False
        self._probing = False
        self._failures = 0
        self._until = 0.0
        self._cause = ""

    @property
    def healthy(self) -> bool:
        return self._healthy

    def enter(self) -> str:
        """Asks to make a call; ``""`` is a yes, which `succeeded` or `failed` must follow, else the reason for a no."""
        with self._changed:
            if self._probing and not self._healthy:
                self._changed.wait_for(lambda: not self._probing, self._patience)
            if self._healthy:
                return ""
            left = self._until - self._clock()
            if left > 0:
                return f"{self._cause}; next try in {left:.0f} s"
            if self._probing:
                return self._cause or "the first connection is still being tried"
            self._probing = True
            return ""

    def succeeded(self) -> None:
        with self._changed:
            self._healthy, self._probing, self._failures, self._cause = True, False, 0, ""
            self._changed.notify_all()

    def failed(self, cause: str) -> None:
        with self._changed:
            pause = min(self._longest, self._pause * 2.0 ** min(self._failures, 16))
            self._healthy, self._probing, self._cause = False, False, cause
            self._failures += 1
            self._until = self._clock() + pause
            self._changed.notify_all()
