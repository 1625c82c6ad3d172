"""Which webhook answers at which path, and what it is called: the table of the registration.

Apart from the handlers, because the server, the generated configurations and the self-call read the same rows. Names
and paths are those of the Go program (behaviour facts on CAPM3 3.1).
"""

from __future__ import annotations

import dataclasses

from capm3_api import defaults, kinds
from capm3_api.meta import Kind

CONVERT = "/convert"


@dataclasses.dataclass(frozen=True)
class Webhook:
    """One admission webhook."""

    kind: Kind
    mutating: bool

    @property
    def path(self) -> str:
        group = self.kind.group.replace(".", "-")
        verb = "mutate" if self.mutating else "validate"
        return f"/{verb}-{group}-{self.kind.version}-{self.kind.kind.lower()}"

    @property
    def name(self) -> str:
        prefix = "default" if self.mutating else "validation"
        return f"{prefix}.{self.kind.kind.lower()}.{self.kind.group}"


MUTATING = tuple(Webhook(kind, True) for kind in kinds.OURS if kind.kind in defaults.DEFAULTERS)
VALIDATING = tuple(Webhook(kind, False) for kind in kinds.OURS)
ALL = MUTATING + VALIDATING
