"""Reads what a pass over a Metal3Cluster needs.

Apart from `decide`, which reads nothing. Machines and hosts are looked for only while the cluster is being deleted.
"""

from __future__ import annotations

from capm3_api import kinds, meta, names
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers import owners
from capm3_managers.cluster.snapshot import Snapshot
from capm3_managers.env import Env
from capm3_managers.manager import Ports
from capm3_managers.ports import Reader


def observe(ports: Ports, key: Key, env: Env) -> Snapshot:
    """The Metal3Cluster, its Cluster, and what keeps it from going."""
    reader = ports.reader
    obj = reader.get(kinds.METAL3_CLUSTER, key)
    if obj is None:
        return Snapshot(None)
    owner = owners.owner_key(obj, kinds.CLUSTER)
    labelled = owners.cluster_key(obj)
    name = owner.name if owner else labelled.name if labelled else ""
    snapshot = Snapshot(
        observed=obj,
        has_owner=owner is not None,
        cluster=reader.get(kinds.CLUSTER, owner) if owner else None,
        cluster_name=name,
    )
    if not snapshot.deleting or not name:
        return snapshot
    return Snapshot(
        observed=obj,
        has_owner=snapshot.has_owner,
        cluster=snapshot.cluster,
        cluster_name=name,
        dependants=_dependants(reader, key.namespace, name),
        reserved_hosts=tuple(_reserved(reader, key.namespace, name)),
    )


def _dependants(reader: Reader, namespace: str, cluster: str) -> tuple[str, ...]:
    """The Machines and Metal3Machines of the cluster, read live: a cache that is behind must not let the cluster go."""
    labels = {names.CLUSTER_NAME_LABEL: cluster}
    return tuple(
        f"{kind.kind} {meta.key_of(obj).name}"
        for kind in (kinds.MACHINE, kinds.METAL3_MACHINE)
        for obj in reader.list(kind, namespace, labels=labels, live=True)
    )


def _reserved(reader: Reader, namespace: str, cluster: str) -> list[Raw]:
    hosts = reader.list(kinds.BARE_METAL_HOST, namespace, index=("consumer", f"{kinds.CLUSTER.kind}/{cluster}"))
    return [host for host in hosts if names.NODE_REUSE_LABEL in ((host.get("metadata") or {}).get("labels") or {})]
