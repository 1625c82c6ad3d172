"""What one controller is made of, apart from the code that runs it.

The watches are the managers' own (`capm3_managers.watches`); a definition adds what only a process needs: the worker
count, the kinds to keep in a cache for reading, and the rights.
"""

from __future__ import annotations

import dataclasses

from capm3_api.meta import Kind
from capm3_managers.manager import Manager


@dataclasses.dataclass(frozen=True)
class Rule:
    """One RBAC rule; the roles are made from all of them, see `rbac`.

    Args:
        names: of the objects it is limited to.
    """

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Definition:
    """Args:
    concurrency: the field of `capm3_controller.settings.Settings` with the number of workers.
    reads: kinds read from a cache that no watch of this controller brings.
    switch: the boolean field of the settings that turns it on; ``""``: on by default.
    """

    manager: Manager
    concurrency: str
    reads: tuple[Kind, ...] = ()
    rules: tuple[Rule, ...] = ()
    switch: str = ""

    @property
    def name(self) -> str:
        return self.manager.name


READ = ("get", "list", "watch")
WRITE = ("create", "delete", "get", "list", "patch", "update", "watch")
STATUS = ("get", "patch", "update")
