"""What the kubeadm control plane provider does to a KubeadmControlPlane: certificates, kubeconfig, and one machine at a time.

Scaling only. Left out: rollout of changed templates and versions (the condition RollingOut says so when they differ),
etcd membership, remediation, failure domain balancing beyond "the one with fewest machines".
"""

from __future__ import annotations

from collections import Counter

from capm3_api import condition, kinds, meta, names
from capm3_api.model import Raw
from capm3_managers.ports import ApiError

from capm3_testbed.capi import replicas, secrets, shapes
from capm3_testbed.capi.api import Core, at, deleting, mapping, name_of, number, put, text
from capm3_testbed.capi.replicas import Machine

FINALIZER = "kubeadm.controlplane.cluster.x-k8s.io"
CLEANUP_HOOK = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup"
CONTROL_PLANE_NODE_LABEL = "node-role.kubernetes.io/control-plane"


def reconcile(core: Core, control_plane: Raw) -> None:
    """One pass over one KubeadmControlPlane; nothing happens before it has a Cluster as owner."""
    if not any(shapes.is_owner(ref, kinds.CLUSTER) for ref in shapes.owners(control_plane)):
        return
    machines = replicas.owned_machines(core, control_plane)
    cluster = _owner_cluster(core, control_plane)
    if deleting(control_plane):
        _delete(core, control_plane, cluster, machines)
        return
    if cluster is None or shapes.paused(cluster, control_plane):
        return
    wanted = shapes.with_finalizer(control_plane, FINALIZER)
    wanted = put(wanted, number(wanted, 1, "spec", "replicas"), "spec", "replicas")
    control_plane = core.save(kinds.KUBEADM_CONTROL_PLANE, control_plane, wanted)
    replicas.adopt_template(core, cluster, meta.key_of(control_plane).namespace, _infra_ref(control_plane))
    why_not = _machines(core, cluster, control_plane, machines)
    _release_hooks(core, machines)
    _status(core, cluster, control_plane, why_not)


def _owner_cluster(core: Core, control_plane: Raw) -> Raw | None:
    name = next(str(ref.get("name")) for ref in shapes.owners(control_plane) if shapes.is_owner(ref, kinds.CLUSTER))
    return core.api.get(kinds.CLUSTER, meta.Key(meta.key_of(control_plane).namespace, name))


def _infra_ref(control_plane: Raw) -> Raw:
    return mapping(control_plane, "spec", "machineTemplate", "spec", "infrastructureRef")


def _machines(core: Core, cluster: Raw, control_plane: Raw, machines: list[Raw]) -> str:
    """The gates in their order, then one machine more or less; says what it waits for."""
    if not at(cluster, "status", "initialization", "infrastructureProvisioned"):
        return "Waiting for the cluster infrastructure to be provisioned"
    if not shapes.endpoint_valid(cluster):
        return "Waiting for Cluster spec.controlPlaneEndpoint to be set"
    secrets.ensure_cluster_secrets(core, cluster, control_plane)
    live = [machine for machine in machines if not deleting(machine)]
    desired = number(control_plane, 1, "spec", "replicas")
    if len(live) < desired:
        waiting = [name_of(machine) for machine in live if not at(machine, "status", "nodeRef")]
        if waiting:
            return f"Waiting for control plane machine {waiting[0]} to have a Node"
        _create(core, cluster, control_plane, machines)
    elif len(live) > desired and len(live) == len(machines):
        core.delete(kinds.MACHINE, live[0])
    return ""


def _create(core: Core, cluster: Raw, control_plane: Raw, machines: list[Raw]) -> None:
    """Infrastructure machine, KubeadmConfig, Machine."""
    machine = _new_machine(core, cluster, control_plane, machines)
    infra = replicas.create_clone(core, machine, _infra_ref(control_plane))
    bootstrap = shapes.reference(kinds.KUBEADM_CONFIG, machine.name)
    try:
        core.api.create(_kubeadm_config(control_plane, machine, join=bool(machines)))
        replicas.create_machine(core, machine, infra, bootstrap, {CLEANUP_HOOK: ""})
    except ApiError:
        for ref in (infra, bootstrap):
            replicas.delete_clone(core, machine.namespace, ref)
        raise


def _new_machine(core: Core, cluster: Raw, control_plane: Raw, machines: list[Raw]) -> Machine:
    template = mapping(control_plane, "spec", "machineTemplate")
    labels = {
        **mapping(template, "metadata", "labels"),
        names.CLUSTER_NAME_LABEL: name_of(cluster),
        names.CONTROL_PLANE_LABEL: "",
        shapes.CONTROL_PLANE_NAME_LABEL: name_of(control_plane),
    }
    kept = ("readinessGates", "deletion", "taints")
    spec = {key: value for key, value in mapping(template, "spec").items() if key in kept}
    domain = _failure_domain(cluster, machines)
    if domain:
        spec["failureDomain"] = domain
    return Machine(
        kinds.KUBEADM_CONTROL_PLANE,
        control_plane,
        f"{name_of(control_plane)}-{core.suffix()}",
        labels,
        dict(mapping(template, "metadata", "annotations")),
        {**spec, "clusterName": name_of(cluster), "version": text(control_plane, "spec", "version")},
    )


def _failure_domain(cluster: Raw, machines: list[Raw]) -> str:
    found = at(cluster, "status", "failureDomains")
    usable = [str(item.get("name")) for item in found if item.get("controlPlane")] if isinstance(found, list) else []
    if not usable:
        return ""
    used = Counter(text(machine, "spec", "failureDomain") for machine in machines)
    return min(usable, key=lambda name: (used[name], name))


def _kubeadm_config(control_plane: Raw, machine: Machine, *, join: bool) -> Raw:
    spec = dict(mapping(control_plane, "spec", "kubeadmConfigSpec"))
    spec.pop("initConfiguration" if join else "joinConfiguration", None)
    if join:
        spec = put(spec, mapping(spec, "joinConfiguration", "controlPlane"), "joinConfiguration", "controlPlane")
    else:
        spec.setdefault("initConfiguration", {})
    obj = kinds.KUBEADM_CONFIG.new(machine.namespace, machine.name, spec=spec)
    obj["metadata"].update(
        labels=machine.labels, annotations=machine.annotations, ownerReferences=[machine.plain_owner]
    )
    return obj


def _release_hooks(core: Core, machines: list[Raw]) -> None:
    """A control plane machine that goes away may end once core has come to the pre-terminate hook."""
    for machine in machines:
        if deleting(machine) and CLEANUP_HOOK in shapes.annotations_of(machine):
            left = {key: value for key, value in shapes.annotations_of(machine).items() if key != CLEANUP_HOOK}
            core.save(kinds.MACHINE, machine, put(machine, left, "metadata", "annotations"))


def _status(core: Core, cluster: Raw, control_plane: Raw, why_not: str) -> None:
    machines = replicas.owned_machines(core, control_plane)
    nodes = core.workload.nodes(meta.key_of(cluster))
    initialized = bool(at(control_plane, "status", "initialization", "controlPlaneInitialized")) or any(
        CONTROL_PLANE_NODE_LABEL in shapes.labels_of(node) for node in nodes
    )
    ready = [machine for machine in machines if at(machine, "status", "nodeRef")]
    wanted = control_plane
    if initialized:
        wanted = put(wanted, True, "status", "initialization", "controlPlaneInitialized")
    if ready:
        wanted = put(wanted, min(text(machine, "spec", "version") for machine in ready), "status", "version")
    for field, count in (("replicas", machines), ("upToDateReplicas", machines), ("readyReplicas", ready)):
        wanted = put(wanted, len(count), "status", field)
    wanted = put(wanted, len(ready), "status", "availableReplicas")
    wanted = put(wanted, control_plane["metadata"].get("generation"), "status", "observedGeneration")
    wanted = _conditions(core, wanted, machines, why_not, bool(ready) and initialized)
    core.save(kinds.KUBEADM_CONTROL_PLANE, control_plane, wanted)


def _conditions(core: Core, wanted: Raw, machines: list[Raw], why_not: str, available: bool) -> Raw:
    message = why_not or "Waiting for a control plane machine to have a Node"
    wanted = condition.set_condition(
        wanted,
        "Available",
        "True" if available else "False",
        "Available" if available else "NotAvailable",
        "" if available else message,
        now=core.now,
    )
    wanted = condition.set_condition(wanted, "Initialized", *_initialized(wanted), now=core.now)
    version = text(wanted, "spec", "version")
    outdated = [name_of(machine) for machine in machines if text(machine, "spec", "version") != version]
    text_ = f"{', '.join(outdated)}: version differs; this stand-in does not roll out" if outdated else ""
    return condition.set_condition(
        wanted,
        "RollingOut",
        "True" if outdated else "False",
        "RollingOut" if outdated else "NotRollingOut",
        text_,
        now=core.now,
    )


def _initialized(control_plane: Raw) -> tuple[str, str]:
    done = bool(at(control_plane, "status", "initialization", "controlPlaneInitialized"))
    return ("True", "Initialized") if done else ("False", "NotInitialized")


def _delete(core: Core, control_plane: Raw, cluster: Raw | None, machines: list[Raw]) -> None:
    """Worker machines go first, then the own ones, then the finalizer."""
    if cluster is not None and _workers(core, cluster):
        return
    for machine in machines:
        core.delete(kinds.MACHINE, machine)
    _release_hooks(core, replicas.owned_machines(core, control_plane))
    if not machines:
        core.save(kinds.KUBEADM_CONTROL_PLANE, control_plane, shapes.without_finalizer(control_plane, FINALIZER))


def _workers(core: Core, cluster: Raw) -> bool:
    found = core.api.list(kinds.MACHINE, meta.key_of(cluster).namespace, labels=shapes.cluster_label(name_of(cluster)))
    return any(not shapes.is_control_plane(machine) for machine in found)
