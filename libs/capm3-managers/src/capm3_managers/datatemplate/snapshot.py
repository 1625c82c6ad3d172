"""Everything one pass over a Metal3DataTemplate may look at.

Apart from reading it: a frozen value, so that every decision can be tested and repeated without an API server.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from capm3_api.model import Raw


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """Args:
    observed: the Metal3DataTemplate; ``None`` when it is gone, or never was there for the claims that name it.
    claims: the Metal3DataClaims of the namespace that name it, oldest first.
    datas: the Metal3Data objects of the namespace that name it.
    clusters: the Clusters that the claims' labels name, by name.
    """

    observed: Raw | None
    claims: tuple[Raw, ...] = ()
    datas: tuple[Raw, ...] = ()
    clusters: Mapping[str, Raw] = dataclasses.field(default_factory=dict)
