"""Which Metal3Cluster a changed Cluster or machine concerns.

Apart from the watch table, which says what is watched: this says what it maps to. Behaviour facts on CAPM3 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import hosts, owners
from capm3_managers.ports import Reader


def infrastructure(obj: Mapping[str, Any], kind: Kind) -> Key | None:
    """The object of `kind` in ``spec.infrastructureRef``, in the same namespace; both forms of the reference are read."""
    ref = hosts.part(obj, "spec", "infrastructureRef")
    group = ref.get("apiGroup") or meta.group_of(str(ref.get("apiVersion") or ""))
    if ref.get("kind") != kind.kind or group != kind.group or not ref.get("name"):
        return None
    return Key(meta.key_of(obj).namespace, str(ref["name"]))


def of_cluster(obj: Raw, reader: Reader) -> Sequence[Key]:
    """A Cluster's Metal3Cluster if it exists and nobody else manages it."""
    key = infrastructure(obj, kinds.METAL3_CLUSTER)
    found = reader.get(kinds.METAL3_CLUSTER, key) if key else None
    return [] if key is None or found is None or names.MANAGED_BY_ANNOTATION in hosts.marks(found) else [key]


def of_label(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The Metal3Cluster of the Cluster that the object's label names; while the Cluster is gone, the one of its name."""
    key = owners.cluster_key(obj)
    if key is None:
        return []
    cluster = reader.get(kinds.CLUSTER, key)
    if cluster is not None:
        return of_cluster(cluster, reader)
    return [key] if reader.get(kinds.METAL3_CLUSTER, key) is not None else []


def starts(old: Raw | None, new: Raw | None) -> bool:
    """Whether a Cluster appears unpaused, or is unpaused."""
    if new is None:
        return False
    paused = bool(hosts.part(new, "spec").get("paused"))
    return not paused and (old is None or bool(hosts.part(old, "spec").get("paused")))
