"""Everything one pass over an IPPool may look at.

Apart from reading it: a frozen value, so that every decision can be tested and repeated without an API server.
"""

from __future__ import annotations

import dataclasses

from capm3_api.model import Raw

from capm3_managers.ippool.flavours import Flavour


@dataclasses.dataclass(frozen=True)
class Part:
    """What belongs to the pool in one flavour.

    Args:
        claims: those that name the pool, oldest first.
        addresses: those of the pool.
        orphans: those of `addresses` whose claim does not exist any more.
    """

    flavour: Flavour
    claims: tuple[Raw, ...] = ()
    addresses: tuple[Raw, ...] = ()
    orphans: tuple[Raw, ...] = ()


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """Args:
    observed: the IPPool; ``None`` when it is gone, or never was there for the claims that name it.
    cluster: named by ``spec.clusterName``.
    parts: one a flavour.
    foreign: names -> pools of addresses of other pools whose names begin with this pool's prefix.
    """

    observed: Raw | None
    cluster: Raw | None = None
    parts: tuple[Part, ...] = ()
    foreign: tuple[Raw, ...] = ()
