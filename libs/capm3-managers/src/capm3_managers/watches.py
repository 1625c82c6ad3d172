"""What wakes each manager: the kinds it watches, which changes count, and how a changed object maps to keys.

A table of pure functions, so that the controller's reflectors and `testing.scenario` wake managers in the same way, and so
that "who looks at this object?" has one place for its answer. The sources are the watch tables of the behaviour facts
(CAPM3 4.0.1, 4.0.2, 4.1 and 4.2); rows that the Go program lacks are marked "ours".
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

from capm3_api import kinds, meta, names
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import hosts, owners
from capm3_managers.cluster import keys as cluster_keys
from capm3_managers.data import keys as data_keys
from capm3_managers.datatemplate import keys as template_keys
from capm3_managers.ippool import keys as pool_keys
from capm3_managers.machine import keys as machine_keys
from capm3_managers.ports import Reader

Keys = Callable[[Raw, Reader], Sequence[Key]]
"""Changed object -> keys of the objects to reconcile; reads the cache only."""

Passes = Callable[[Raw | None, Raw | None], bool]
"""(before, after) -> whether the change counts; ``None`` before a creation and after a deletion."""


def any_change(old: Raw | None, new: Raw | None) -> bool:
    """Every event."""
    return True


@dataclasses.dataclass(frozen=True)
class Watch:
    """One watched kind.

    Args:
        optional: its CRD may be missing from the cluster; the watch then starts when it appears.
    """

    kind: Kind
    keys: Keys
    passes: Passes = any_change
    optional: bool = False


@dataclasses.dataclass(frozen=True)
class Watching:
    """Everything that wakes one manager.

    Args:
        unpaused: drop events of objects with the paused annotation (the object after the change counts).
        labelled: honour ``--watch-filter``.
        self_managed: drop events of objects that somebody else manages.
    """

    rows: tuple[Watch, ...]
    unpaused: bool = True
    labelled: bool = True
    self_managed: bool = False


def wakes(
    watching: Watching, row: Watch, old: Raw | None, new: Raw | None, reader: Reader, label: str = ""
) -> list[Key]:
    """The keys that a change wakes, without duplicates, in order; both sides of an update are mapped.

    Args:
        label: the value of ``--watch-filter``.
    """
    current = new if new is not None else old
    if current is None or not _admitted(watching, current, label) or not row.passes(old, new):
        return []
    sides = [side for side in (old, new) if side is not None]
    return list(dict.fromkeys(key for side in sides for key in row.keys(side, reader)))


def is_paused(obj: Raw) -> bool:
    """Whether the object carries ``cluster.x-k8s.io/paused``, whatever its value."""
    return names.PAUSED_ANNOTATION in hosts.marks(obj)


def is_externally_managed(obj: Raw) -> bool:
    """Whether the object carries ``cluster.x-k8s.io/managed-by``, whatever its value."""
    return names.MANAGED_BY_ANNOTATION in hosts.marks(obj)


def has_watch_label(obj: Raw, label: str) -> bool:
    """Whether ``--watch-filter=<label>`` lets the object pass; an empty filter passes everything."""
    return not label or hosts.labels(obj).get(names.WATCH_FILTER_LABEL) == label


def itself(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The changed object is the one to reconcile."""
    return [meta.key_of(obj)]


def owned_by(kind: Kind) -> Keys:
    """The owners of that group and kind, in the object's namespace."""

    def keys(obj: Raw, reader: Reader) -> Sequence[Key]:
        namespace = meta.key_of(obj).namespace
        return [Key(namespace, name) for name in owners.names_of(obj, kind)]

    return keys


def own_change(old: Raw | None, new: Raw | None) -> bool:
    """Creations, deletions, and updates that touch more than the status and the object's version.

    Status writes of the manager itself must not wake it (report B42).
    """
    if old is None or new is None:
        return True
    return _without_status(old) != _without_status(new)


def more_than_finalizers(old: Raw | None, new: Raw | None) -> bool:
    """Creations, deletions, and updates that touch more than finalizers, which only concern those who set them."""
    if old is None or new is None:
        return True
    return _without(old, ("finalizers",)) != _without(new, ("finalizers",))


def deletion(old: Raw | None, new: Raw | None) -> bool:
    """Only the moment in which an object is gone."""
    return new is None


# BareMetalHost


def hosts_of_secret(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The hosts whose BMC the Secret has the credentials of; owned by them or not yet."""
    key = meta.key_of(obj)
    found = reader.list(kinds.BARE_METAL_HOST, key.namespace, index=("credentials", key.name))
    return [meta.key_of(host) for host in found]


def comes_or_goes(old: Raw | None, new: Raw | None) -> bool:
    """Creations, deletions, and updates of finalizers or of the deletion itself."""
    if old is None or new is None:
        return True
    before, after = old.get("metadata") or {}, new.get("metadata") or {}
    return any(before.get(name) != after.get(name) for name in ("deletionTimestamp", "finalizers"))


METAL3_MACHINE = "metal3machine"
METAL3_CLUSTER = "metal3cluster"
METAL3_DATA_TEMPLATE = "metal3datatemplate"
METAL3_DATA = "metal3data"
IP_POOL = "ippool"
BARE_METAL_HOST = "baremetalhost"

WATCHES: Mapping[str, Watching] = {
    METAL3_CLUSTER: Watching(
        (
            Watch(kinds.METAL3_CLUSTER, itself, own_change),
            Watch(kinds.CLUSTER, cluster_keys.of_cluster, cluster_keys.starts),
            Watch(kinds.MACHINE, cluster_keys.of_label, deletion),  # ours: the end of a deletion without the 30 s poll
            Watch(kinds.METAL3_MACHINE, cluster_keys.of_label, deletion),  # ours
        ),
        self_managed=True,
    ),
    METAL3_MACHINE: Watching(
        (
            Watch(kinds.METAL3_MACHINE, itself, own_change),
            Watch(kinds.MACHINE, machine_keys.of_machine),
            Watch(kinds.CLUSTER, machine_keys.of_cluster),
            Watch(kinds.METAL3_CLUSTER, machine_keys.of_metal3_cluster),
            Watch(kinds.METAL3_DATA_CLAIM, owned_by(kinds.METAL3_MACHINE), more_than_finalizers),
            Watch(kinds.METAL3_DATA, owned_by(kinds.METAL3_MACHINE), more_than_finalizers),
            Watch(kinds.BARE_METAL_HOST, machine_keys.of_host),
            Watch(kinds.BARE_METAL_HOST, machine_keys.waiting_for, machine_keys.becomes_free),  # ours
        )
    ),
    METAL3_DATA_TEMPLATE: Watching(
        (
            Watch(kinds.METAL3_DATA_TEMPLATE, itself, own_change),
            Watch(kinds.METAL3_DATA_CLAIM, template_keys.template_of, own_change),
            Watch(kinds.METAL3_DATA, template_keys.template_of, comes_or_goes),  # ours: report B30
        )
    ),
    METAL3_DATA: Watching(
        (
            Watch(kinds.METAL3_DATA, itself, own_change),
            Watch(kinds.METAL3_DATA_CLAIM, data_keys.answering, deletion),  # ours
            Watch(kinds.METAL3_MACHINE, data_keys.waiting_for_machine, own_change),  # ours
            Watch(kinds.BARE_METAL_HOST, data_keys.waiting_for_host, data_keys.tells_more),  # ours: report B26
            Watch(kinds.IP_CLAIM, data_keys.waiting_for_address, more_than_finalizers, optional=True),
            Watch(
                kinds.CAPI_IP_ADDRESS_CLAIM,
                data_keys.waiting_for_address,
                more_than_finalizers,
                optional=True,
            ),
        )
    ),
    IP_POOL: Watching(
        (
            Watch(kinds.IP_POOL, itself, own_change),
            Watch(kinds.CLUSTER, pool_keys.pools_of_cluster, own_change),  # ours
            Watch(kinds.IP_CLAIM, pool_keys.pool_of, own_change),
            Watch(kinds.IP_ADDRESS, pool_keys.pool_of, comes_or_goes),  # ours
            Watch(kinds.CAPI_IP_ADDRESS_CLAIM, pool_keys.pool_of, optional=True),
            Watch(kinds.CAPI_IP_ADDRESS, pool_keys.pool_of, comes_or_goes, optional=True),  # ours
        )
    ),
    BARE_METAL_HOST: Watching(
        (
            Watch(kinds.BARE_METAL_HOST, itself, own_change),
            Watch(kinds.HARDWARE_DATA, itself, own_change),  # ours: hardware that a person gives counts at once
            Watch(kinds.SECRET, hosts_of_secret, own_change),
        ),
        unpaused=False,
        labelled=False,
    ),
}
"""By the name of the manager (`manager.Manager.name`)."""


def _admitted(watching: Watching, obj: Raw, label: str) -> bool:
    if watching.unpaused and is_paused(obj):
        return False
    if watching.self_managed and is_externally_managed(obj):
        return False
    return not watching.labelled or has_watch_label(obj, label)


def _without_status(obj: Raw) -> Raw:
    return {name: value for name, value in _without(obj, ("generation",)).items() if name != "status"}


def _without(obj: Raw, fields: Sequence[str]) -> Raw:
    """The object without what every write changes, and without these fields of its metadata."""
    ignored = ("resourceVersion", "managedFields", *fields)
    kept = {name: value for name, value in (obj.get("metadata") or {}).items() if name not in ignored}
    return {**obj, "metadata": kept}


def rows() -> Iterable[tuple[str, Watch]]:
    """Every (manager, row) pair."""
    return ((name, row) for name, watching in WATCHES.items() for row in watching.rows)
