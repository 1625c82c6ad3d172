"""What the demo shows of a moment: each Cluster, Machine and host with its state and what it waits for. Pure.

Apart from the drawing, so that the table on a terminal and the lines in a log say the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Protocol

from capm3_api import condition, kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_testbed.capi.api import at, deleting, mapping, name_of, number, text

WATCHED = (
    kinds.CLUSTER,
    kinds.KUBEADM_CONTROL_PLANE,
    kinds.MACHINE_DEPLOYMENT,
    kinds.MACHINE_SET,
    kinds.MACHINE,
    kinds.METAL3_CLUSTER,
    kinds.METAL3_MACHINE,
    kinds.METAL3_DATA_TEMPLATE,
    kinds.METAL3_DATA,
    kinds.METAL3_DATA_CLAIM,
    kinds.BARE_METAL_HOST,
    kinds.IP_POOL,
    kinds.IP_CLAIM,
    kinds.IP_ADDRESS,
    kinds.KUBEADM_CONFIG,
)
_LONGEST = 160


class Objects(Protocol):
    """See `mirror.Mirror`."""

    def all(self, kind: Kind) -> Sequence[Raw]: ...

    def get(self, kind: Kind, key: Key) -> Raw | None: ...


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the table.

    Args:
        done: whether it is as it should be, for the colour.
        why: what it waits for; empty when it waits for nothing.
    """

    kind: str
    name: str
    state: str
    why: str
    done: bool


def rows(objects: Objects) -> list[Row]:
    """All lines: clusters, their control planes and deployments, machines, hosts."""
    found = [_cluster(obj) for obj in objects.all(kinds.CLUSTER)]
    found += [_scaled(obj) for obj in objects.all(kinds.KUBEADM_CONTROL_PLANE)]
    found += [_scaled(obj) for obj in objects.all(kinds.MACHINE_DEPLOYMENT)]
    found += [_machine(obj, objects) for obj in objects.all(kinds.MACHINE)]
    return found + [_host(obj) for obj in objects.all(kinds.BARE_METAL_HOST)]


def ready(objects: Objects) -> bool:
    """Whether every Cluster is available and has all the machines it asks for, running."""
    clusters = objects.all(kinds.CLUSTER)
    owners = [*objects.all(kinds.KUBEADM_CONTROL_PLANE), *objects.all(kinds.MACHINE_DEPLOYMENT)]
    machines = objects.all(kinds.MACHINE)
    wanted = sum(number(owner, 1, "spec", "replicas") for owner in owners)
    return (
        bool(clusters)
        and all(condition.is_true(cluster, "Available") for cluster in clusters)
        and len(machines) >= wanted
        and all(text(machine, "status", "phase") == "Running" for machine in machines)
        and all(
            number(owner, 0, "status", "availableReplicas") >= number(owner, 1, "spec", "replicas") for owner in owners
        )
    )


def machines_wanted(manifest: Sequence[Raw]) -> int:
    """How many machines a manifest asks for."""
    scaled = ("KubeadmControlPlane", "MachineDeployment", "MachineSet")
    counted = sum(number(obj, 1, "spec", "replicas") for obj in manifest if obj["kind"] in scaled)
    return counted + sum(1 for obj in manifest if obj["kind"] == "Machine")


def _cluster(cluster: Raw) -> Row:
    done = condition.is_true(cluster, "Available")
    return Row("Cluster", name_of(cluster), _phase(cluster), "" if done else _message(cluster, "Available"), done)


def _scaled(obj: Raw) -> Row:
    want, have = number(obj, 1, "spec", "replicas"), number(obj, 0, "status", "availableReplicas")
    done = have >= want
    state = "Deleting" if deleting(obj) else f"{have} of {want} available"
    return Row(str(obj.get("kind")), name_of(obj), state, "" if done else _message(obj, "Available"), done)


def _machine(machine: Raw, objects: Objects) -> Row:
    key = meta.key_of(machine)
    done = text(machine, "status", "phase") == "Running"
    infra = objects.get(kinds.METAL3_MACHINE, Key(key.namespace, text(machine, "spec", "infrastructureRef", "name")))
    why = "" if done else _machine_why(machine, infra)
    state = f"{_phase(machine)} on {_host_of(infra)}" if infra and _host_of(infra) else _phase(machine)
    return Row("Machine", key.name, state, why, done)


def _machine_why(machine: Raw, infra: Raw | None) -> str:
    """The most telling message: deletion, then bootstrap, then the infrastructure's own conditions, then the Node."""
    if deleting(machine):
        return _message(machine, "Deleting")
    if not condition.is_true(machine, "BootstrapConfigReady"):
        return _message(machine, "BootstrapConfigReady")
    if infra is not None and not at(infra, "status", "initialization", "provisioned"):
        told = [item for item in mapping(infra, "status").get("conditions") or [] if item.get("status") == "False"]
        told.sort(key=lambda item: item.get("type") == "Ready")
        for item in told:
            if item.get("type") not in ("Paused", "Deleting") and (item.get("message") or item.get("reason")):
                return _short(str(item.get("message") or item.get("reason")))
    return _message(machine, "InfrastructureReady") or _message(machine, "NodeHealthy")


def _host_of(infra: Raw) -> str:
    annotation = text(infra, "metadata", "annotations", "metal3.io/BareMetalHost")
    return annotation.rpartition("/")[2]


def _host(host: Raw) -> Row:
    state = text(host, "status", "provisioning", "state") or "new"
    powered = at(host, "status", "poweredOn")
    power = {True: "on", False: "off"}.get(powered if isinstance(powered, bool) else None, "power unknown")  # type: ignore[arg-type]
    holder = text(host, "spec", "consumerRef", "name")
    error = text(host, "status", "errorMessage")
    why = _short(error) if error else (f"held by {holder}" if holder else "")
    done = not error and state in ("available", "ready", "provisioned")
    return Row("BareMetalHost", name_of(host), f"{state}, {power}", why, done)


def _phase(obj: Raw) -> str:
    return "Deleting" if deleting(obj) else text(obj, "status", "phase") or "new"


def _message(obj: Raw, type_: str) -> str:
    found = condition.get(obj, type_) or {}
    return "" if found.get("status") == "True" and type_ != "Deleting" else _short(str(found.get("message") or ""))


def _short(message: str) -> str:
    line = "; ".join(part.strip(" *") for part in message.splitlines() if part.strip(" *"))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
