"""Which IPPool a changed claim, address or Cluster concerns.

Apart from the watch table, which says what is watched: this says what it maps to.
"""

from __future__ import annotations

from collections.abc import Sequence

from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers.ippool import flavours
from capm3_managers.ports import Reader


def pool_of(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The IPPool that a claim or an address of either kind names, always in its own namespace."""
    flavour = flavours.of(obj)
    name = flavour.pool_name(obj) if flavour is not None else ""
    return [Key(meta.key_of(obj).namespace, name)] if name else []


def pools_of_cluster(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The IPPools whose ``spec.clusterName`` is the Cluster."""
    key = meta.key_of(obj)
    return [meta.key_of(pool) for pool in reader.list(kinds.IP_POOL, key.namespace, index=("cluster", key.name))]
