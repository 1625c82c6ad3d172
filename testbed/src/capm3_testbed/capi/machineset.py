"""What core does to a MachineSet: keeps its number of Machines, each with bootstrap config and infrastructure machine.

Left out: in-place updates, remediation of unhealthy Machines, autoscaler annotations, propagation of changed labels to
live Machines.
"""

from __future__ import annotations

from capm3_api import condition, kinds, meta, names
from capm3_api.model import Raw
from capm3_managers.ports import ApiError

from capm3_testbed.capi import cluster as clusters
from capm3_testbed.capi import replicas, shapes
from capm3_testbed.capi.api import Core, at, deleting, kind_of, mapping, name_of, number, put, text
from capm3_testbed.capi.replicas import Machine

FINALIZER = "cluster.x-k8s.io/machineset"
_DELETE_FIRST = "cluster.x-k8s.io/delete-machine"
_NO_NEW = "cluster.x-k8s.io/disable-machine-create"


def reconcile(core: Core, machine_set: Raw) -> None:
    """One pass over one MachineSet."""
    if deleting(machine_set):
        _delete(core, machine_set)
        return
    cluster = clusters.of(core, machine_set)
    if cluster is None or shapes.paused(cluster, machine_set):
        return
    machine_set = _prepared(core, machine_set, cluster)
    machines = replicas.owned_machines(core, machine_set)
    why_not = _scale(core, cluster, machine_set, machines)
    _status(core, machine_set, why_not)


def _prepared(core: Core, machine_set: Raw, cluster: Raw) -> Raw:
    name = name_of(machine_set)
    wanted = shapes.with_finalizer(machine_set, FINALIZER)
    wanted = shapes.with_labels(wanted, shapes.cluster_label(name_of(cluster)))
    if shapes.controller_of(wanted) is None:
        wanted = shapes.with_owner(wanted, shapes.owner_ref(kinds.CLUSTER, cluster))
    if not mapping(wanted, "spec", "selector").get("matchLabels"):
        wanted = put(wanted, {shapes.SET_NAME_LABEL: name}, "spec", "selector", "matchLabels")
    wanted = put(wanted, number(wanted, 1, "spec", "replicas"), "spec", "replicas")
    saved = core.save(kinds.MACHINE_SET, machine_set, wanted)
    for ref in _template_refs(saved):
        replicas.adopt_template(core, cluster, meta.key_of(saved).namespace, ref)
    return saved


def _template_refs(machine_set: Raw) -> tuple[Raw, ...]:
    spec = mapping(machine_set, "spec", "template", "spec")
    return tuple(ref for ref in (mapping(spec, "bootstrap", "configRef"), mapping(spec, "infrastructureRef")) if ref)


def _scale(core: Core, cluster: Raw, machine_set: Raw, machines: list[Raw]) -> str:
    """Creates or deletes; says why a Machine that is missing was not created."""
    live = [machine for machine in machines if not deleting(machine)]
    missing = number(machine_set, 1, "spec", "replicas") - len(live)
    if missing > 0:
        why_not = _preflight(core, cluster, machine_set)
        if why_not:
            return why_not
        for _ in range(missing):
            _create(core, cluster, machine_set)
    for machine in sorted(live, key=_deletion_rank)[: max(-missing, 0)]:
        core.delete(kinds.MACHINE, machine)
    return ""


def _deletion_rank(machine: Raw) -> tuple[int, str]:
    """Marked ones first, then those without a Node, then by name."""
    if _DELETE_FIRST in shapes.annotations_of(machine):
        return 0, name_of(machine)
    return (1 if not at(machine, "status", "nodeRef") else 2), name_of(machine)


def _preflight(core: Core, cluster: Raw, machine_set: Raw) -> str:
    """Core creates no worker while the control plane is being provisioned."""
    if _NO_NEW in shapes.annotations_of(machine_set):
        return f"annotation {_NO_NEW} is set"
    ref = mapping(cluster, "spec", "controlPlaneRef")
    if not ref or "machineset.cluster.x-k8s.io/skip-preflight-checks" in shapes.annotations_of(machine_set):
        return ""
    kind = kind_of(ref)
    control_plane = core.api.get(kind, meta.Key(meta.key_of(cluster).namespace, str(ref.get("name") or "")))
    if control_plane is None:
        return f"{kind.kind} {ref.get('name')} does not exist"
    if text(control_plane, "spec", "version") and not text(control_plane, "status", "version"):
        return f"{kind.kind} {ref.get('name')} is provisioning (preflight check ControlPlaneIsStable)"
    return ""


def _create(core: Core, cluster: Raw, machine_set: Raw) -> None:
    """Bootstrap config, infrastructure machine, Machine; what was made is taken back when a later one fails."""
    machine = _new_machine(core, cluster, machine_set)
    spec = mapping(machine_set, "spec", "template", "spec")
    made: list[Raw] = []
    try:
        made.append(replicas.create_clone(core, machine, mapping(spec, "bootstrap", "configRef")))
        made.append(replicas.create_clone(core, machine, mapping(spec, "infrastructureRef")))
        replicas.create_machine(core, machine, made[1], made[0], {})
    except (ApiError, replicas.MissingTemplateError):
        for ref in made:
            replicas.delete_clone(core, machine.namespace, ref)
        raise


def _new_machine(core: Core, cluster: Raw, machine_set: Raw) -> Machine:
    template = mapping(machine_set, "spec", "template")
    labels = {
        **mapping(template, "metadata", "labels"),
        shapes.SET_NAME_LABEL: name_of(machine_set),
        names.CLUSTER_NAME_LABEL: name_of(cluster),
    }
    deployment = shapes.labels_of(machine_set).get(shapes.DEPLOYMENT_NAME_LABEL)
    if deployment:
        labels[shapes.DEPLOYMENT_NAME_LABEL] = deployment
    spec = {
        key: value for key, value in mapping(template, "spec").items() if key not in ("bootstrap", "infrastructureRef")
    }
    return Machine(
        kinds.MACHINE_SET,
        machine_set,
        f"{name_of(machine_set)}-{core.suffix()}",
        labels,
        dict(mapping(template, "metadata", "annotations")),
        {**spec, "clusterName": name_of(cluster)},
    )


def _status(core: Core, machine_set: Raw, why_not: str) -> None:
    current = core.api.get(kinds.MACHINE_SET, meta.key_of(machine_set))
    if current is None:
        return
    machines = replicas.owned_machines(core, current)
    ready = sum(1 for machine in machines if condition.is_true(machine, "Ready"))
    available = sum(1 for machine in machines if condition.is_true(machine, "Available"))
    counts = {"replicas": len(machines), "readyReplicas": ready, "availableReplicas": available}
    wanted = current
    for key, value in {**counts, "observedGeneration": current["metadata"].get("generation")}.items():
        wanted = put(wanted, value, "status", key)
    scaling = "True" if len(machines) < number(current, 1, "spec", "replicas") else "False"
    reason = "ScalingUp" if scaling == "True" else "NotScalingUp"
    wanted = condition.set_condition(wanted, "ScalingUp", scaling, reason, why_not, now=core.now)
    core.save(kinds.MACHINE_SET, current, wanted)


def _delete(core: Core, machine_set: Raw) -> None:
    machines = replicas.owned_machines(core, machine_set)
    for machine in machines:
        core.delete(kinds.MACHINE, machine)
    if not machines:
        core.save(kinds.MACHINE_SET, machine_set, shapes.without_finalizer(machine_set, FINALIZER))
