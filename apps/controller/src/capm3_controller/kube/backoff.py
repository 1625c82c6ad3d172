"""Growing pauses with jitter, for one thing that fails again and again.

Apart from the queue, whose pauses are per key and follow client-go's table.
"""

from __future__ import annotations

import random


class Backoff:
    """Doubles from `first` to `longest` seconds; each pause is spread over [1, 1 + jitter) of it."""

    def __init__(self, first: float, longest: float, *, rng: random.Random, jitter: float = 0.5) -> None:
        self._first = first
        self._longest = longest
        self._rng = rng
        self._jitter = jitter
        self._step = 0

    def next(self) -> float:
        pause: float = min(self._longest, self._first * 2.0 ** min(self._step, 32))
        self._step += 1
        return pause * (1 + self._jitter * self._rng.random())

    def reset(self) -> None:
        self._step = 0
