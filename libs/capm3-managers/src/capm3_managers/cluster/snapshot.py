"""Everything that one pass over a Metal3Cluster looks at.

Apart from `observe`, so that the steps and their tests need to know the values only, not where they come from.
"""

from __future__ import annotations

import dataclasses

from capm3_api import names
from capm3_api.model import Raw
from capm3_api.v1beta2.metal3cluster import Metal3Cluster


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """Args:
    observed: the Metal3Cluster, ``None`` when it is gone.
    has_owner: whether an owner reference to a Cluster is set.
    cluster: the owner Cluster, ``None`` when it does not exist.
    cluster_name: the Cluster's name by owner reference, else by label; ``""`` when neither says it.
    dependants: ``Kind name`` of the machines that still use the cluster; read only while it is being deleted.
    reserved_hosts: hosts kept for node reuse by this Cluster; read only while it is being deleted.
    """

    observed: Raw | None
    has_owner: bool = False
    cluster: Raw | None = None
    cluster_name: str = ""
    dependants: tuple[str, ...] = ()
    reserved_hosts: tuple[Raw, ...] = ()

    @property
    def view(self) -> Metal3Cluster:
        """The typed view of the observed object."""
        return Metal3Cluster.from_raw(self.observed or {})

    @property
    def deleting(self) -> bool:
        return bool(((self.observed or {}).get("metadata") or {}).get("deletionTimestamp"))

    @property
    def guarded(self) -> bool:
        """Whether our finalizer is set."""
        return names.CLUSTER_FINALIZER in (((self.observed or {}).get("metadata") or {}).get("finalizers") or [])
