"""Which Metal3Machines a changed object concerns.

Apart from the watch table, which says what is watched: this says what it maps to. Behaviour facts on CAPM3 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from capm3_api import kinds, meta, names, selectors
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers import hosts, owners
from capm3_managers.cluster import keys as cluster_keys
from capm3_managers.ports import Reader

WOKEN_BY_A_FREE_HOST = 5
"""How many waiting machines a host that becomes free wakes; the others have their timer."""


def of_machine(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The Metal3Machine in a Machine's ``spec.infrastructureRef``."""
    key = cluster_keys.infrastructure(obj, kinds.METAL3_MACHINE)
    return [key] if key else []


def of_cluster(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The Metal3Machines of all Machines that carry the Cluster's name."""
    key = meta.key_of(obj)
    machines = reader.list(kinds.MACHINE, key.namespace, labels={names.CLUSTER_NAME_LABEL: key.name})
    return [found for machine in machines for found in of_machine(machine, reader)]


def of_metal3_cluster(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The same for a Metal3Cluster, through its owner."""
    cluster = owners.find(reader, obj, kinds.CLUSTER)
    return of_cluster(cluster, reader) if cluster is not None else []


def of_host(obj: Raw, reader: Reader) -> Sequence[Key]:
    """A host's consumer if it is a Metal3Machine, in any version of the group; never one in another namespace."""
    ref, namespace = hosts.consumer(obj) or {}, meta.key_of(obj).namespace
    same = ref.get("kind") == kinds.METAL3_MACHINE.kind
    same = same and meta.group_of(str(ref.get("apiVersion") or "")) == kinds.METAL3_MACHINE.group
    if not same or not ref.get("name") or (ref.get("namespace") or namespace) != namespace:
        return []
    return [Key(namespace, str(ref["name"]))]


def waiting_for(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The first few machines that wait for a host with these labels."""
    machines = reader.list(kinds.METAL3_MACHINE, meta.key_of(obj).namespace, index=("without", "host"))
    waiting = [machine for machine in machines if _wants(machine, obj)]
    waiting.sort(key=lambda machine: (hosts.text(machine, "metadata", "creationTimestamp"), meta.key_of(machine)))
    return [meta.key_of(machine) for machine in waiting[:WOKEN_BY_A_FREE_HOST]]


def becomes_free(old: Raw | None, new: Raw | None) -> bool:
    """Whether a host can be claimed now and could not before."""
    return new is not None and _free(new) and (old is None or not _free(old))


def _free(host: Raw) -> bool:
    if hosts.reuse_name(host):
        return not hosts.blemish(host) and hosts.state(host) in hosts.FREE_STATES
    return not hosts.refusal(host)


def _wants(machine: Raw, host: Raw) -> bool:
    selector = selectors.parse(hosts.part(machine, "spec").get("hostSelector"))
    labels = {name: str(value) for name, value in hosts.labels(host).items()}
    return isinstance(selector, selectors.Selector) and selector.matches(labels)
