"""What core does to a Machine: takes over its two companions, copies what they report, and pairs it with its Node.

Left out: certificate expiry, in-place updates, readiness gates, health checks.
"""

from __future__ import annotations

from capm3_api import condition, kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_testbed.capi import cluster as clusters
from capm3_testbed.capi import machine_deletion, machine_node, shapes
from capm3_testbed.capi.api import Core, at, deleting, kind_of, mapping, name_of, put, text


class LostInfrastructureError(Exception):
    """The infrastructure machine is gone although it was provisioned; core reports this as an error every pass."""


def reconcile(core: Core, machine: Raw) -> None:
    """One pass over one Machine."""
    cluster = clusters.of(core, machine)
    if cluster is None:
        return
    if not deleting(machine):
        machine = _prepared(core, machine, cluster)
    stopped = shapes.paused(cluster, machine)
    wanted = condition.set_condition(
        machine, "Paused", "True" if stopped else "False", "Paused" if stopped else "NotPaused", now=core.now
    )
    if stopped:
        core.save(kinds.MACHINE, machine, wanted)
        return
    if deleting(machine):
        machine_deletion.run(core, machine, wanted, cluster)
        return
    bootstrap = _companion(core, machine, mapping(machine, "spec", "bootstrap", "configRef"))
    infra = _companion(core, machine, mapping(machine, "spec", "infrastructureRef"))
    wanted = _bootstrap(wanted, bootstrap, core.now)
    wanted = _infrastructure(wanted, infra, core.now)
    wanted = machine_node.pair(core, wanted, cluster)
    wanted = _summary(wanted, core.now)
    core.save(kinds.MACHINE, machine, wanted)
    if infra is None and at(wanted, "status", "initialization", "infrastructureProvisioned"):
        raise LostInfrastructureError(f"{name_of(machine)}: its infrastructure machine was deleted after provisioning")


def _prepared(core: Core, machine: Raw, cluster: Raw) -> Raw:
    wanted = shapes.with_finalizer(machine, machine_deletion.FINALIZER)
    wanted = shapes.with_labels(wanted, shapes.cluster_label(name_of(cluster)))
    if shapes.controller_of(wanted) is None:
        wanted = shapes.with_owner(wanted, shapes.owner_ref(kinds.CLUSTER, cluster))
    return core.save(kinds.MACHINE, machine, wanted)


def _companion(core: Core, machine: Raw, ref: Raw) -> Raw | None:
    """The bootstrap config or infrastructure machine, taken over from whoever made it."""
    if not ref:
        return None
    kind = kind_of(ref)
    obj = core.api.get(kind, Key(meta.key_of(machine).namespace, str(ref.get("name") or "")))
    if obj is None or deleting(obj):
        return obj
    wanted = shapes.without_owner_kinds(obj, kinds.MACHINE_SET, kinds.KUBEADM_CONTROL_PLANE)
    wanted = shapes.with_owner(wanted, shapes.owner_ref(kinds.MACHINE, machine, controller=True))
    cluster = str(mapping(machine, "spec").get("clusterName") or "")
    return core.save(kind, obj, shapes.with_labels(wanted, shapes.cluster_label(cluster)))


def _bootstrap(machine: Raw, config: Raw | None, now: str) -> Raw:
    name = text(machine, "spec", "bootstrap", "dataSecretName")
    if not name and config is not None and at(config, "status", "initialization", "dataSecretCreated"):
        name = text(config, "status", "dataSecretName")
        machine = put(machine, name, "spec", "bootstrap", "dataSecretName")
    if name:
        machine = put(machine, True, "status", "initialization", "bootstrapDataSecretCreated")
    message = "" if name else _reported(config, "the bootstrap data Secret", "dataSecretCreated")
    status, reason = ("True", "Ready") if name else ("False", "NotReady")
    machine = condition.set_condition(machine, "BootstrapConfigReady", status, reason, message, now=now)
    return condition.set_legacy(
        machine, "BootstrapReady", status, "" if name else "WaitingForDataSecret", "Info", message, now=now
    )


def _reported(obj: Raw | None, what: str, flag: str) -> str:
    """Why a companion is not ready: its own Ready condition, else that its flag is not there yet."""
    if obj is None:
        return f"Waiting for the object that gives {what} to exist"
    ready = condition.get(obj, "Ready") or {}
    return str(ready.get("message") or f"{obj.get('kind')} status.initialization.{flag} is false")


def _infrastructure(machine: Raw, infra: Raw | None, now: str) -> Raw:
    was = bool(at(machine, "status", "initialization", "infrastructureProvisioned"))
    provider_id = text(infra or {}, "spec", "providerID")
    provisioned = bool(at(infra or {}, "status", "initialization", "provisioned")) or was
    if infra is not None and provisioned and provider_id:
        machine = put(machine, provider_id, "spec", "providerID")
        machine = put(machine, True, "status", "initialization", "infrastructureProvisioned")
        machine = _copied(machine, infra)
    done = bool(at(machine, "status", "initialization", "infrastructureProvisioned"))
    ready = condition.get(infra or {}, "Ready")
    if ready is not None:
        status, reason = str(ready.get("status")), str(ready.get("reason") or "NoReasonReported")
        message = str(ready.get("message") or "")
    else:
        status, reason = ("True", "Ready") if done else ("False", "NotReady")
        message = "" if done else _reported(infra, "the infrastructure", "provisioned")
    machine = condition.set_condition(machine, "InfrastructureReady", status, reason, message, now=now)
    legacy = "" if done else "WaitingForInfrastructure"
    return condition.set_legacy(machine, "InfrastructureReady", status, legacy, "Info", message, now=now)


def _copied(machine: Raw, infra: Raw) -> Raw:
    addresses = at(infra, "status", "addresses")
    if isinstance(addresses, list):
        machine = put(machine, addresses, "status", "addresses")
    for part in ("spec", "status"):
        domain = text(infra, part, "failureDomain")
        if domain:
            machine = put(machine, domain, part, "failureDomain")
    return machine


def _summary(machine: Raw, now: str) -> Raw:
    parts = ("BootstrapConfigReady", "InfrastructureReady", "NodeHealthy")
    machine = condition.summarise(machine, parts, now=now)
    ready = condition.is_true(machine, "Ready")
    machine = condition.set_condition(
        machine, "Available", "True" if ready else "False", "Available" if ready else "NotReady", now=now
    )
    phase = _phase(machine)
    if text(machine, "status", "phase") != phase:
        machine = put(put(machine, phase, "status", "phase"), now, "status", "lastUpdated")
    return put(machine, (machine.get("metadata") or {}).get("generation"), "status", "observedGeneration")


def _phase(machine: Raw) -> str:
    flags = mapping(machine, "status", "initialization")
    phase = "Pending"
    if flags.get("bootstrapDataSecretCreated") and not flags.get("infrastructureProvisioned"):
        phase = "Provisioning"
    if text(machine, "spec", "providerID"):
        phase = "Provisioned"
    if at(machine, "status", "nodeRef") and flags.get("infrastructureProvisioned"):
        phase = "Running"
    return phase
