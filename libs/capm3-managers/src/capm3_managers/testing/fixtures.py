"""Small sites for scenarios: a cluster, machines and hosts, and stand-ins for the programs that we do not run there.

Apart from `capm3_api.testing.builders`, which makes single objects: these belong together and refer to each other.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_api.testing import builders

from capm3_managers import hosts
from capm3_managers.ports import ALL_NAMESPACES, Unreachable
from capm3_managers.testing import peers
from capm3_managers.testing.world import World

NAMESPACE = builders.NAMESPACE
CLUSTER = Key(NAMESPACE, "c1")


def key(name: str) -> Key:
    """A key in the namespace of the fixtures."""
    return Key(NAMESPACE, name)


def site(**metal3_cluster: Any) -> World:
    """The Cluster c1 with ready infrastructure and its Metal3Cluster.

    Args:
        metal3_cluster: changes of the Metal3Cluster, as merge patches.
    """
    world = World()
    owner = world.put(builders.ready_cluster())
    world.put(builders.merge(builders.metal3_cluster(**builders.owners(owner)), metal3_cluster))
    return world


def add_host(world: World, name: str, **changes: Any) -> Raw:
    """A free host with its credentials Secret."""
    world.put(builders.bmc_secret(name))
    return world.put(builders.host(name, **changes))


def add_machine(world: World, name: str, *, machine: Raw | None = None, **changes: Any) -> Raw:
    """A Machine with bootstrap data, and its Metal3Machine.

    Args:
        machine: changes of the Machine.
        changes: changes of the Metal3Machine.
    """
    owner = world.put(builders.machine(name, **(machine or {})))
    return world.put(builders.merge(builders.metal3_machine(name, **builders.owners(owner)), changes))


def metal3_machine(world: World, name: str) -> Raw:
    """The Metal3Machine; fails if it is gone."""
    return _there(world.get(kinds.METAL3_MACHINE, key(name)), name)


def host(world: World, name: str) -> Raw:
    """The host; fails if it is gone."""
    return _there(world.get(kinds.BARE_METAL_HOST, key(name)), name)


def operate_hosts(world: World, now: datetime.datetime) -> None:
    """Does with hosts what the Baremetal Operator would, one state a call; paused ones stay as they are."""
    for found in world.list(kinds.BARE_METAL_HOST, ALL_NAMESPACES):
        if names.HOST_PAUSED_ANNOTATION in hosts.marks(found) or hosts.part(found, "metadata").get("deletionTimestamp"):
            continue
        wanted = bool(hosts.part(found, "spec", "image") or hosts.part(found, "spec", "customDeploy"))
        online = hosts.part(found, "spec").get("online") is True
        state = _NEXT.get((hosts.state(found), wanted), hosts.state(found))
        patch = {"status": {"provisioning": {"state": state}, "poweredOn": online}}
        world.patch(kinds.BARE_METAL_HOST, meta.key_of(found), patch, subresource="status")


def boot_nodes(workloads: peers.Workloads, *, label: bool = True) -> Callable[[World, datetime.datetime], None]:
    """An actor: a Node appears for every provisioned host with a consumer, and goes with the image.

    Args:
        workloads: where the Nodes appear; the cluster is reachable from then on.
        label: whether the kubelet was given the host's uid as label.
    """

    def act(world: World, now: datetime.datetime) -> None:
        found = workloads.clusters.setdefault(CLUSTER, {})
        if isinstance(found, Unreachable):
            return
        for item in world.list(kinds.BARE_METAL_HOST, NAMESPACE):
            name = f"node-{meta.key_of(item).name}"
            if hosts.state(item) != "provisioned":
                found.pop(name, None)
            elif name not in found:
                labels = {"kubernetes.io/hostname": hosts.text(item, "status", "hardware", "hostname")}
                labels |= {names.NODE_UUID_LABEL: meta.uid_of(item)} if label else {}
                found[name] = builders.node(name, metadata={"labels": labels})

    return act


def match_nodes(workloads: peers.Workloads) -> Callable[[World, datetime.datetime], None]:
    """An actor: sets each Machine's nodeRef once a Node has the provider ID of its Metal3Machine, as Cluster API does."""

    def act(world: World, now: datetime.datetime) -> None:
        nodes = workloads.clusters.get(CLUSTER)
        if nodes is None or isinstance(nodes, Unreachable):
            return
        by_id = {hosts.text(node, "spec", "providerID"): name for name, node in nodes.items()}
        for item in world.list(kinds.METAL3_MACHINE, NAMESPACE):
            node = by_id.get(hosts.text(item, "spec", "providerID") or "-")
            owner = key(hosts.part(item, "metadata")["ownerReferences"][0]["name"])
            if node and world.get(kinds.MACHINE, owner):
                world.patch(kinds.MACHINE, owner, {"status": {"nodeRef": {"name": node}}}, subresource="status")

    return act


def render_data(world: World, now: datetime.datetime) -> None:
    """An actor: answers data claims and makes Metal3Data ready, in place of the managers of data; lets them go too."""
    for claim in world.list(kinds.METAL3_DATA_CLAIM, NAMESPACE):
        name = meta.key_of(claim).name
        if hosts.part(claim, "metadata").get("deletionTimestamp"):
            continue
        used = {item["spec"]["index"] for item in world.list(kinds.METAL3_DATA, NAMESPACE)}
        data = builders.data(
            f"data-{name}",
            spec={
                "index": max(used, default=-1) + 1,
                "claim": {"name": name},
                "metaData": {"name": f"{name}-metadata"},
            },
            status={"ready": True},
            **builders.merge(builders.owners(claim), {}),
        )
        if world.get(kinds.METAL3_DATA, key(f"data-{name}")) is None:
            world.put(data)
        patch = {"status": {"renderedData": {"name": f"data-{name}", "namespace": NAMESPACE}}}
        world.patch(kinds.METAL3_DATA_CLAIM, key(name), patch, subresource="status")


# (state, is an image wanted) -> the next state
_NEXT = {
    ("available", True): "provisioning",
    ("ready", True): "provisioning",
    ("provisioning", True): "provisioned",
    ("provisioning", False): "deprovisioning",
    ("provisioned", False): "deprovisioning",
    ("deprovisioning", False): "available",
}


def _there(found: Raw | None, name: str) -> Raw:
    assert found is not None, f"{name} is gone"
    return found
