"""Everything one pass over a host may look at, read once."""

from __future__ import annotations

import dataclasses

from capm3_api.external.bmo import BareMetalHost
from capm3_api.model import Raw

from capm3_managers.host import states
from capm3_managers.host.credentials import Problem
from capm3_managers.ports import BmcAccess, BmcFailure, BmcView, ContractError


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """Args:
    host: the typed view of `observed`.
    hardware_data: the HardwareData of the host's name.
    secret: the credentials Secret, read live.
    access: how to reach the BMC; `problem` says why there is none.
    server: what the BMC said; ``None`` when it was not asked.
    wait: seconds until the BMC may be asked again after an error.
    """

    observed: Raw | None
    host: BareMetalHost = BareMetalHost()
    hardware_data: Raw | None = None
    secret: Raw | None = None
    access: BmcAccess | None = None
    problem: Problem | None = None
    server: BmcView | BmcFailure | None = None
    wait: float = 0.0

    @property
    def state(self) -> states.State:
        return states.of(self.host.status.provisioning.state)

    @property
    def view(self) -> BmcView:
        """The server as seen; handlers run only when there is one."""
        if not isinstance(self.server, BmcView):
            raise ContractError("a handler ran without having seen the server")
        return self.server

    @property
    def bmc(self) -> BmcAccess:
        """How to reach the server that was seen."""
        if self.access is None:
            raise ContractError("a handler ran without access to the server")
        return self.access

    @property
    def deleting(self) -> bool:
        return self.host.metadata.deletion_timestamp is not None

    @property
    def annotations(self) -> dict[str, str]:
        return self.host.metadata.annotations or {}
