"""Everything one pass over a Metal3Data may look at.

Apart from reading it: a frozen value, so that every decision can be tested and repeated without an API server.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from capm3_api.model import Raw

from capm3_managers.data.claims import Claim


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """Args:
    observed: the Metal3Data; ``None`` when it is gone.
    cluster: named by its label.
    claim: the Metal3DataClaim that it answers.
    template: the Metal3DataTemplate.
    metal3machine: owner of the claim.
    machine: owner of the Metal3Machine.
    host: named by the Metal3Machine's annotation; read live.
    secrets: the existing ones, by the template's field; read live.
    claims: one for each pool wanted; only read while a Secret is missing.
    held: claims of addresses to give back; only read while deleting, or after the end.
    """

    observed: Raw | None
    cluster: Raw | None = None
    claim: Raw | None = None
    template: Raw | None = None
    metal3machine: Raw | None = None
    machine: Raw | None = None
    host: Raw | None = None
    secrets: Mapping[str, Raw] = dataclasses.field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    held: tuple[Raw, ...] = ()
