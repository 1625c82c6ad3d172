"""What the objects of Cluster API wait for: Cluster, control plane, deployments, Machine, bootstrap object.

Apart from `findings`, which does the same for this project's kinds: these are other programs' objects, whose conditions
are summaries over many, so the way on is looked for among the objects themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from capm3_api import condition, kinds, meta, names
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import hosts, owners
from capm3_managers.overview import objects as looking
from capm3_managers.overview.finding import Finding, Target, of_condition
from capm3_managers.overview.objects import Objects

CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane"
_PAUSED = "Take the pause away; nothing is done until then."
_ABOUT_CLUSTER = ("Waiting for Cluster", "ControlPlane", "ClusterInfrastructure")
_SHOWN = 5


def infrastructure_of_cluster(obj: Raw, objects: Objects) -> Sequence[Target]:
    """The Metal3Cluster behind a machine, or the Cluster when that names none."""
    key = owners.cluster_key(obj)
    if key is None:
        return ()
    cluster = objects.get(kinds.CLUSTER, key)
    found = looking.target(cluster or {}, "spec", "infrastructureRef")
    return [found, (kinds.CLUSTER, key)] if found is not None else [(kinds.CLUSTER, key)]


def bootstrap(machine: Raw, objects: Objects) -> Sequence[Target]:
    """The bootstrap object of a Machine; none when it can't be read here, being of another kind or version."""
    found = looking.target(machine, "spec", "bootstrap", "configRef")
    return [found] if found is not None and objects.get(*found) is not None else ()


def _cluster(cluster: Raw, objects: Objects) -> Finding | None:
    key = meta.key_of(cluster)
    infra = looking.target(cluster, "spec", "infrastructureRef")
    first = [infra] if infra is not None else []
    if looking.deleting(cluster):
        rest = [(kinds.MACHINE, meta.key_of(item)) for item in _machines(objects, key)]
        return (of_condition(cluster, "Deleting") or Finding("deletion", "is being deleted")).of(*rest, *first)
    if hosts.part(cluster, "spec").get("paused") is True:
        return Finding("spec.paused", "the cluster is paused", _PAUSED)
    provisioned = hosts.part(cluster, "status", "initialization").get("infrastructureProvisioned") is True
    if not provisioned and not condition.is_true(cluster, "InfrastructureReady"):
        told = of_condition(cluster, "InfrastructureReady")
        return (told or Finding("infrastructure", "its infrastructure is not provisioned yet")).of(*first)
    machines = _machines(objects, key)
    waiting = _waiting(machines, objects)
    scaled = [
        (kind, meta.key_of(obj))
        for kind in (kinds.KUBEADM_CONTROL_PLANE, kinds.MACHINE_DEPLOYMENT)
        for obj in objects.all(kind)
        if owners.cluster_key(obj) == key or hosts.text(obj, "spec", "clusterName") == key.name
    ]
    if waiting:
        return _for_machines(waiting, len(machines))
    told = of_condition(cluster, "Available")
    return told.of(*scaled) if told is not None else None


def _machines(objects: Objects, cluster: Key) -> list[Raw]:
    """The cluster's Machines, those of the control plane first."""
    found = [
        item
        for item in objects.all(kinds.MACHINE)
        if owners.cluster_key(item) == cluster or hosts.text(item, "spec", "clusterName") == cluster.name
    ]
    return sorted(found, key=lambda item: (CONTROL_PLANE_LABEL not in hosts.labels(item), meta.key_of(item)))


def _waiting(machines: Iterable[Raw], objects: Objects) -> list[Key]:
    return [meta.key_of(item) for item in machines if _machine(item, objects) is not None]


def _for_machines(waiting: Sequence[Key], of: int) -> Finding:
    """Some of an object's machines wait."""
    more = f" and {len(waiting) - _SHOWN} more" if len(waiting) > _SHOWN else ""
    what = f"{len(waiting)} of {of} machines {'waits' if len(waiting) == 1 else 'wait'}"
    named = ", ".join(key.name for key in waiting[:_SHOWN])
    return Finding(what, f"{named}{more}").of(*((kinds.MACHINE, item) for item in waiting))


def _scaled(obj: Raw, objects: Objects) -> Finding | None:
    """A control plane, deployment or set: its machines, by their owner or by the set between."""
    sets = [item for item in objects.all(kinds.MACHINE_SET) if _owns(obj, item)]
    parents = [obj, *sets]
    mine = [item for item in objects.all(kinds.MACHINE) if any(_owns(parent, item) for parent in parents)]
    waiting = _waiting(mine, objects)
    want, have = looking.number(obj, 1, "spec", "replicas"), looking.number(obj, 0, "status", "availableReplicas")
    if waiting:
        return _for_machines(waiting, len(mine))
    message = looking.message(obj, "Available") or "its other machines are not made yet"
    return Finding(f"{have} of {want} machines available", message) if have < want else None


def _owns(owner: Raw, obj: Raw) -> bool:
    return any(ref.get("uid") == meta.uid_of(owner) for ref in owners.references(obj))


def _machine(machine: Raw, objects: Objects) -> Finding | None:
    infra = looking.target(machine, "spec", "infrastructureRef")
    behind = [*([infra] if infra is not None else []), *bootstrap(machine, objects)]
    if looking.deleting(machine):
        return (of_condition(machine, "Deleting") or Finding("deletion", "is being deleted")).of(*behind)
    if names.PAUSED_ANNOTATION in hosts.marks(machine):
        return Finding(f"annotation {names.PAUSED_ANNOTATION}", "the machine is paused", _PAUSED)
    phase = hosts.text(machine, "status", "phase") or "new"
    ready = _infrastructure_ready(infra, objects)
    if phase == "Running" and ready:
        return None
    if not ready:
        told = of_condition(machine, "InfrastructureReady")
        return (told or Finding(f"phase {phase}", "its infrastructure is not ready")).of(*behind)
    return _node(machine, phase)


def _node(machine: Raw, phase: str) -> Finding:
    """The server runs, and Cluster API does not see its Node yet."""
    told = next((item for type_ in ("NodeHealthy", "NodeReady") if (item := of_condition(machine, type_))), None)
    message = told.message if told is not None else "the Node has not joined yet"
    remedy = "Look at the server's console and at its kubelet: the server runs, and its Node is missing or not ready."
    return Finding(told.what if told is not None else f"phase {phase}", message, remedy)


def _infrastructure_ready(infra: Target | None, objects: Objects) -> bool:
    """Whether a Metal3Machine says that nothing is wrong; a machine of another provider is not looked into."""
    obj = objects.get(*infra) if infra is not None else None
    if infra is None or infra[0] != kinds.METAL3_MACHINE:
        return True
    told = [item for item in looking.conditions(obj or {}) if item.get("status") == "False"]
    return (
        obj is not None
        and looking.provisioned(obj)
        and all(item.get("type") in ("Paused", "Deleting") for item in told)
    )


def _bootstrap_object(obj: Raw, objects: Objects) -> Finding | None:
    if hosts.part(obj, "status", "initialization").get("dataSecretCreated") is True:
        return None
    told = next((item for type_ in ("DataSecretAvailable", "Ready") if (item := of_condition(obj, type_))), None)
    remedy = "Look at the bootstrap provider's log."
    if told is None:
        return Finding("status.initialization.dataSecretCreated", "it has not made its data Secret yet", remedy)
    key = owners.cluster_key(obj)
    about = key is not None and any(word in f"{told.what} {told.message}" for word in _ABOUT_CLUSTER)
    return told.of((kinds.CLUSTER, key)) if about and key is not None else Finding(told.what, told.message, remedy)


LOOKS: Mapping[Kind, Callable[[Raw, Objects], Finding | None]] = {
    kinds.CLUSTER: _cluster,
    kinds.KUBEADM_CONTROL_PLANE: _scaled,
    kinds.MACHINE_DEPLOYMENT: _scaled,
    kinds.MACHINE_SET: _scaled,
    kinds.MACHINE: _machine,
    kinds.KUBEADM_CONFIG: _bootstrap_object,
}
