"""What a decision may know besides its snapshot: the time, randomness and the settings.

Parameters instead of globals, so that a test sets them and a decision can be repeated exactly.
"""

from __future__ import annotations

import dataclasses
import datetime
import random

from capm3_managers.settings import Settings


@dataclasses.dataclass(frozen=True)
class Env:
    """Args:
    now: aware, UTC.
    rng: fresh for every pass.
    """

    now: datetime.datetime
    rng: random.Random
    settings: Settings = Settings()

    @property
    def timestamp(self) -> str:
        """`now` as Kubernetes writes times: RFC 3339, whole seconds, Z."""
        return self.now.strftime("%Y-%m-%dT%H:%M:%SZ")
