"""What core does to a Cluster: links its parts, copies the endpoint and the flags, and takes all apart in core's order.

Left out: ClusterClass topology, MachinePools, the remote connection probe, kubeconfig for clusters without a control
plane object.
"""

from __future__ import annotations

from capm3_api import condition, kinds, meta, names
from capm3_api.meta import Kind
from capm3_api.model import Raw

from capm3_testbed.capi import shapes
from capm3_testbed.capi.api import Core, at, deleting, kind_of, mapping, name_of, put

FINALIZER = "cluster.cluster.x-k8s.io"


def reconcile(core: Core, cluster: Raw) -> None:
    """One pass over one Cluster."""
    if deleting(cluster):
        _delete(core, cluster)
        return
    with_finalizer = shapes.with_finalizer(cluster, FINALIZER)
    if with_finalizer is not cluster:
        core.save(kinds.CLUSTER, cluster, with_finalizer)
        return
    stopped = shapes.paused(cluster, cluster)
    wanted = _paused(cluster, stopped, core.now)
    if stopped:
        core.save(kinds.CLUSTER, cluster, wanted)
        return
    infra = _linked(core, cluster, "infrastructureRef")
    control_plane = _linked(core, cluster, "controlPlaneRef")
    wanted = _infrastructure(wanted, infra, core.now)
    wanted = _control_plane(core, wanted, control_plane)
    wanted = _summary(wanted, core.now)
    core.save(kinds.CLUSTER, cluster, wanted)


def _paused(cluster: Raw, stopped: bool, now: str) -> Raw:
    message = "Cluster spec.paused is set to true" if stopped else ""
    return condition.set_condition(
        cluster, "Paused", "True" if stopped else "False", "Paused" if stopped else "NotPaused", message, now=now
    )


def _linked(core: Core, cluster: Raw, field: str) -> Raw | None:
    """The object of a reference, with the Cluster as owner and the cluster's label on it."""
    ref = mapping(cluster, "spec", field)
    if not ref:
        return None
    kind = kind_of(ref)
    obj = core.api.get(kind, meta.Key(meta.key_of(cluster).namespace, str(ref.get("name") or "")))
    if obj is None or deleting(obj):
        return obj
    owner = shapes.owner_ref(kinds.CLUSTER, cluster)
    wanted = shapes.with_labels(shapes.with_owner(obj, owner), shapes.cluster_label(name_of(cluster)))
    return core.save(kind, obj, wanted)


def _infrastructure(cluster: Raw, infra: Raw | None, now: str) -> Raw:
    """Flag, endpoint, failure domains and the InfrastructureReady condition in both forms."""
    was = bool(at(cluster, "status", "initialization", "infrastructureProvisioned"))
    provisioned = was or (infra is not None and bool(at(infra, "status", "initialization", "provisioned")))
    if provisioned and infra is not None:
        cluster = put(cluster, True, "status", "initialization", "infrastructureProvisioned")
        cluster = put(cluster, _failure_domains(infra), "status", "failureDomains")
        if not shapes.endpoint_valid(cluster) and shapes.endpoint_valid(infra):
            cluster = put(cluster, dict(mapping(infra, "spec", "controlPlaneEndpoint")), "spec", "controlPlaneEndpoint")
    status, reason, message = _mirror(infra, provisioned)
    cluster = condition.set_condition(cluster, "InfrastructureReady", status, reason, message, now=now)
    return condition.set_legacy(cluster, "InfrastructureReady", status, reason, "Info", message, now=now)


def _mirror(infra: Raw | None, provisioned: bool) -> tuple[str, str, str]:
    if infra is None:
        reason = "Deleted" if provisioned else "DoesNotExist"
        return "False", reason, "The infrastructure cluster object does not exist"
    ready = condition.get(infra, "Ready")
    if ready is None:
        message = "" if provisioned else f"{infra.get('kind')} status.initialization.provisioned is false"
        return ("True", "Ready", "") if provisioned else ("False", "NotReady", message)
    reason = str(ready.get("reason") or ("Ready" if ready.get("status") == "True" else "NoReasonReported"))
    return str(ready.get("status")), reason, str(ready.get("message") or "")


def _failure_domains(infra: Raw) -> list[Raw]:
    found = at(infra, "status", "failureDomains")
    domains = [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    return sorted(({"controlPlane": False, **item} for item in domains), key=lambda item: str(item.get("name")))


def _control_plane(core: Core, cluster: Raw, control_plane: Raw | None) -> Raw:
    was = bool(at(cluster, "status", "initialization", "controlPlaneInitialized"))
    if control_plane is not None:
        now_so = bool(at(control_plane, "status", "initialization", "controlPlaneInitialized"))
    else:
        machines = core.api.list(
            kinds.MACHINE, meta.key_of(cluster).namespace, labels=shapes.cluster_label(name_of(cluster))
        )
        now_so = any(shapes.is_control_plane(machine) and at(machine, "status", "nodeRef") for machine in machines)
    initialized = was or now_so
    if initialized:
        cluster = put(cluster, True, "status", "initialization", "controlPlaneInitialized")
    status, reason = ("True", "Initialized") if initialized else ("False", "NotInitialized")
    message = "" if initialized else "Control plane not yet initialized"
    cluster = condition.set_condition(cluster, "ControlPlaneInitialized", status, reason, message, now=core.now)
    cluster = condition.set_legacy(
        cluster,
        "ControlPlaneInitialized",
        status,
        "" if initialized else "WaitingForControlPlane",
        "Info",
        message,
        now=core.now,
    )
    available = condition.get(control_plane or {}, "Available") or {}
    status = str(available.get("status") or "Unknown")
    reason = str(available.get("reason") or "NotYetReported")
    message = str(available.get("message") or "")
    return condition.set_condition(cluster, "ControlPlaneAvailable", status, reason, message, now=core.now)


def _summary(cluster: Raw, now: str) -> Raw:
    parts = ("InfrastructureReady", "ControlPlaneAvailable")
    open_parts = [name for name in parts if not condition.is_true(cluster, name)]
    status, reason = ("True", "Available") if not open_parts else ("False", "NotAvailable")
    lines = [
        f"* {name}: {(condition.get(cluster, name) or {}).get('message') or 'not yet true'}" for name in open_parts
    ]
    cluster = condition.set_condition(cluster, "Available", status, reason, "\n".join(lines), now=now)
    phase = "Pending"
    if mapping(cluster, "spec").get("infrastructureRef") or mapping(cluster, "spec").get("controlPlaneRef"):
        phase = "Provisioning"
    if at(cluster, "status", "initialization", "infrastructureProvisioned") and shapes.endpoint_valid(cluster):
        phase = "Provisioned"
    cluster = put(cluster, (cluster.get("metadata") or {}).get("generation"), "status", "observedGeneration")
    return put(cluster, phase, "status", "phase")


def _delete(core: Core, cluster: Raw) -> None:
    """Workers, then the control plane object, then the infrastructure, then the finalizer; each waits for the last."""
    marked = condition.set_condition(
        put(cluster, "Deleting", "status", "phase"), "Deleting", "True", "DeletionInProgress", now=core.now
    )
    cluster = core.save(kinds.CLUSTER, cluster, marked)
    if _descendants(core, cluster):
        return
    for field in ("controlPlaneRef", "infrastructureRef"):
        if _part_remains(core, cluster, mapping(cluster, "spec", field)):
            return
    core.workload.forget(meta.key_of(cluster))
    core.save(kinds.CLUSTER, cluster, shapes.without_finalizer(cluster, FINALIZER))


def _descendants(core: Core, cluster: Raw) -> bool:
    """Deletes what the Cluster owns directly; says whether workers (or standalone machines) are left."""
    namespace = meta.key_of(cluster).namespace
    label = shapes.cluster_label(name_of(cluster))
    left = False
    for kind in (kinds.MACHINE_DEPLOYMENT, kinds.MACHINE_SET, kinds.MACHINE):
        for obj in core.api.list(kind, namespace):
            if not _of_cluster(obj, name_of(cluster), label):
                continue
            if shapes.owned_by(obj, cluster):
                core.delete(kind, obj)
            left = left or kind is not kinds.MACHINE or not _under_control_plane(cluster, obj)
    return left


def _of_cluster(obj: Raw, name: str, label: dict[str, str]) -> bool:
    return mapping(obj, "spec").get("clusterName") == name or label.items() <= shapes.labels_of(obj).items()


def _under_control_plane(cluster: Raw, machine: Raw) -> bool:
    return shapes.is_control_plane(machine) and bool(mapping(cluster, "spec").get("controlPlaneRef"))


def _part_remains(core: Core, cluster: Raw, ref: Raw) -> bool:
    if not ref:
        return False
    kind: Kind = kind_of(ref)
    obj = core.api.get(kind, meta.Key(meta.key_of(cluster).namespace, str(ref.get("name") or "")))
    if obj is None:
        return False
    core.delete(kind, obj)
    return True


def of(core: Core, obj: Raw) -> Raw | None:
    """The Cluster that an object belongs to: by ``spec.clusterName``, else by its label."""
    name = str(mapping(obj, "spec").get("clusterName") or shapes.labels_of(obj).get(names.CLUSTER_NAME_LABEL) or "")
    return core.api.get(kinds.CLUSTER, meta.Key(meta.key_of(obj).namespace, name)) if name else None
