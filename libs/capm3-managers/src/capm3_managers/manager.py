"""What the runtime has to know of a manager: how to read, how to judge, and what to do about a failed server action."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers.env import Env
from capm3_managers.plan import Hardware, Plan
from capm3_managers.ports import Bmc, BmcFailure, Reader, RemoteReader


class Snapshot(Protocol):
    """Everything one pass may look at, read once."""

    @property
    def observed(self) -> Raw | None:
        """The reconciled object as read, ``None`` when it is gone."""
        ...


@dataclasses.dataclass(frozen=True)
class Ports:
    """The world as an `observe` function gets it."""

    reader: Reader
    remote: RemoteReader
    bmc: Bmc


@dataclasses.dataclass(frozen=True)
class Manager:
    """Args:
    name: as in logs and in the ``controller`` label of metrics.
    observe: (ports, key, env) -> snapshot; reads, judges nothing.
    decide: (snapshot, env) -> plan; pure.
    recover: (snapshot, action, failure, env) -> plan for a hardware action that failed; pure.
    """

    name: str
    kind: Kind
    observe: Callable[[Ports, Key, Env], Any]
    decide: Callable[[Any, Env], Plan]
    recover: Callable[[Any, Hardware, BmcFailure, Env], Plan] | None = None
