"""Pairs a Machine with the Node of its workload cluster by provider ID, and marks the Node.

Apart from the rest of a Machine's pass, because only this part looks into another cluster.
"""

from __future__ import annotations

from capm3_api import condition, meta
from capm3_api.model import Raw

from capm3_testbed.capi import shapes
from capm3_testbed.capi.api import Core, mapping, name_of, put, text

_PREFIX = "cluster.x-k8s.io"
_LABEL_DOMAINS = ("node-role.kubernetes.io", "node-restriction.kubernetes.io", "node.cluster.x-k8s.io")
_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")


def pair(core: Core, machine: Raw, cluster: Raw) -> Raw:
    """The Machine with ``status.nodeRef`` and ``NodeHealthy`` set; writes the marks on the Node."""
    provider_id = text(machine, "spec", "providerID")
    message = _why_not(machine, cluster, provider_id)
    found: list[Raw] = []
    if not message:
        nodes = core.workload.nodes(meta.key_of(cluster))
        found = [node for node in nodes if text(node, "spec", "providerID") == provider_id]
        if len(found) != 1:
            message = (
                f"Waiting for a Node with spec.providerID {provider_id} to exist"
                if not found
                else f"more than one Node has spec.providerID {provider_id}: {', '.join(map(name_of, found))}"
            )
    if message:
        return condition.set_condition(machine, "NodeHealthy", "Unknown", "InspectionFailed", message, now=core.now)
    node = found[0]
    _mark(core, machine, cluster, node)
    machine = put(machine, {"name": name_of(node)}, "status", "nodeRef")
    machine = put(machine, dict(mapping(node, "status", "nodeInfo")), "status", "nodeInfo")
    bad = _unhealthy(node)
    status, reason = ("True", "NodeHealthy") if not bad else ("False", "NodeNotHealthy")
    return condition.set_condition(machine, "NodeHealthy", status, reason, bad, now=core.now)


def _why_not(machine: Raw, cluster: Raw, provider_id: str) -> str:
    if not condition.is_true(cluster, "ControlPlaneInitialized"):
        return "Waiting for Cluster control plane to be initialized"
    if not provider_id:
        kind = mapping(machine, "spec", "infrastructureRef").get("kind")
        return f"Waiting for {kind} to report spec.providerID"
    return ""


def _unhealthy(node: Raw) -> str:
    by_type = {item.get("type"): item.get("status") for item in mapping(node, "status").get("conditions") or []}
    bad = [] if by_type.get("Ready") == "True" else [f"Node {name_of(node)} is not Ready"]
    bad += [f"{name} is {by_type.get(name)}" for name in _PRESSURES if by_type.get(name) != "False"]
    return "; ".join(bad)


def _mark(core: Core, machine: Raw, cluster: Raw, node: Raw) -> None:
    """The annotations and labels that core gives to Nodes; only differences are written."""
    owner = shapes.controller_of(machine) or {}
    annotations = {
        f"{_PREFIX}/cluster-name": name_of(cluster),
        f"{_PREFIX}/cluster-namespace": meta.key_of(cluster).namespace,
        f"{_PREFIX}/machine": name_of(machine),
        f"{_PREFIX}/owner-kind": str(owner.get("kind") or ""),
        f"{_PREFIX}/owner-name": str(owner.get("name") or ""),
    }
    labels = {key: value for key, value in shapes.labels_of(machine).items() if _goes_to_node(key)}
    annotations[f"{_PREFIX}/labels-from-machine"] = ",".join(sorted(labels))
    patch: Raw = {}
    if not annotations.items() <= shapes.annotations_of(node).items():
        patch["annotations"] = annotations
    if not labels.items() <= shapes.labels_of(node).items():
        patch["labels"] = labels
    if patch:
        core.workload.patch_node(meta.key_of(cluster), name_of(node), {"metadata": patch})


def _goes_to_node(key: str) -> bool:
    domain = key.partition("/")[0]
    return any(domain == known or domain.endswith(f".{known}") for known in _LABEL_DOMAINS)
