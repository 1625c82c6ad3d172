"""Provider IDs of machines and Nodes, and the reason of every wait for them."""

from __future__ import annotations

from typing import Any

import pytest
from capm3_api import condition, kinds, names
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import machine
from capm3_managers.machine import providerid
from capm3_managers.ports import Unreachable
from capm3_managers.testing import fixtures, peers
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.world import World

WANTED = "metal3://site-a/h1/m1"


def provisioned(bootstrap: Raw | None = None, **metal3_cluster: Any) -> World:
    """A site whose machine has a provisioned host with the uid U."""
    world = fixtures.site(**metal3_cluster)
    fixtures.add_host(world, "h1", metadata={"uid": "U"})
    fixtures.add_machine(world, "m1", machine=bootstrap)
    Scenario(world, [machine.MANAGER]).until_settled()
    status = {"status": {"provisioning": {"state": "provisioned"}}}
    world.patch(kinds.BARE_METAL_HOST, fixtures.key("h1"), status, subresource="status")
    return world


def node(name: str, *, uid: str = "", provider_id: str = "", hostname: str = "", ready: bool = True) -> Raw:
    labels = {names.NODE_UUID_LABEL: uid} if uid else {}
    labels |= {providerid.HOSTNAME_LABEL: hostname} if hostname else {}
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    spec = {"providerID": provider_id} if provider_id else {}
    return builders.node(name, metadata={"labels": labels}, spec=spec, status=status)


def settle(world: World, nodes: list[Raw] | Unreachable | None) -> peers.Workloads:
    workloads = peers.Workloads({fixtures.CLUSTER: nodes} if nodes is not None else None)
    Scenario(world, [machine.MANAGER], remote=workloads).until_settled()
    return workloads


def told(world: World) -> tuple[str, str]:
    found = condition.get(fixtures.metal3_machine(world, "m1"), "AssociateMetal3MachineMetaData") or {}
    return found.get("reason", ""), found.get("message", "")


WAITS = [
    (
        "no kubeconfig",
        None,
        "KubeconfigMissing",
        "error creating a remote client: failed to retrieve kubeconfig secret",
    ),
    ("refused", Unreachable("WorkloadAPIUnreachable", "refused"), "WorkloadAPIUnreachable", "requeuing: refused"),
    ("no nodes", [], "NodeNotFound", "could not find node with label: metal3.io/uuid=U"),
    ("node without label", [node("n1")], "NodeLabelMissing", "could not find node with label: metal3.io/uuid=U"),
    ("only others", [node("n1", uid="V")], "NodeNotFound", "could not find node with label"),
    ("two nodes", [node("n1", uid="U"), node("n2", uid="U")], "MultipleNodesMatch", "found multiple target nodes"),
    ("other id", [node("n1", uid="U", provider_id="aws:///i-1")], "NodeHasOtherProviderID", "n1 has aws:///i-1"),
]


@pytest.mark.parametrize(("nodes", "reason", "text"), [row[1:] for row in WAITS], ids=[row[0] for row in WAITS])
def test_b23_every_wait_for_a_node_has_its_reason(nodes: Any, reason: str, text: str) -> None:
    world = provisioned()
    workloads = settle(world, nodes)
    assert told(world)[0] == reason and text in told(world)[1]
    assert workloads.patches == []
    found = fixtures.metal3_machine(world, "m1")
    assert "providerID" not in found["spec"]
    assert "failureReason" not in str(found["status"])


def test_a_labelled_node_gets_the_provider_id() -> None:
    world = provisioned()
    workloads = settle(world, [node("n1", uid="U")])
    assert [item.patch for item in workloads.patches] == [{"spec": {"providerID": WANTED}}]
    found = fixtures.metal3_machine(world, "m1")
    assert found["spec"]["providerID"] == WANTED
    assert found["status"]["initialization"] == {"provisioned": True}
    assert condition.is_true(found, "Metal3DataReady")


def test_a_node_that_registered_with_the_id_is_not_touched() -> None:
    world = provisioned()
    workloads = settle(world, [node("n1", uid="U", provider_id=WANTED)])
    assert workloads.patches == []
    assert fixtures.metal3_machine(world, "m1")["status"]["initialization"] == {"provisioned": True}


def test_b23_a_stale_node_of_an_earlier_machine_does_not_match() -> None:
    world = provisioned()
    stale = node("old", uid="U", provider_id="metal3://site-a/h1/m0", ready=False)
    workloads = settle(world, [stale, node("new", uid="U")])
    assert [item.name for item in workloads.patches] == ["new"]


@pytest.mark.parametrize("given", ["", WANTED])
def test_b23_with_a_cloud_provider_its_word_is_waited_for_and_copied(given: str) -> None:
    world = provisioned(spec={"cloudProviderEnabled": True})
    workloads = settle(world, [node("n1", uid="U", provider_id=given)])
    found = fixtures.metal3_machine(world, "m1")
    assert workloads.patches == []
    assert found["spec"].get("providerID", "") == given
    assert told(world)[0] == ("AssociateMetal3MachineMetaDataSuccess" if given else "WaitingForCloudProvider")


BY_HAND = {"spec": {"bootstrap": {"configRef": None}}}
HOSTNAMES = [
    ("no nodes", [], "NodeNotFound", "no Nodes found"),
    ("none matches", [node("n1", hostname="x")], "NodeNotFound", "no nodes matching hostnames: h1"),
    (
        "two match",
        [node("a", hostname="h1"), node("b", hostname="h1")],
        "MultipleNodesMatch",
        "multiple nodes matching",
    ),
]


@pytest.mark.parametrize(("nodes", "reason", "text"), [row[1:] for row in HOSTNAMES], ids=[row[0] for row in HOSTNAMES])
def test_without_cluster_apis_bootstrap_the_id_is_given_at_once_and_the_node_sought_by_name(
    nodes: list[Raw], reason: str, text: str
) -> None:
    world = provisioned(BY_HAND)
    settle(world, nodes)
    found = fixtures.metal3_machine(world, "m1")
    assert found["spec"]["providerID"] == WANTED and found["status"]["initialization"] == {"provisioned": True}
    assert told(world)[0] == reason and text in told(world)[1]
    workloads = settle(world, [node("n1", hostname="h1")])
    assert [item.patch for item in workloads.patches] == [{"spec": {"providerID": WANTED}}]
    assert told(world)[0] == "AssociateMetal3MachineMetaDataSuccess"


def test_a_host_without_name_has_no_node_by_name() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1", status={"hardware": {"hostname": None}})
    fixtures.add_machine(world, "m1", machine=BY_HAND)
    Scenario(world, [machine.MANAGER]).until_settled()
    status = {"status": {"provisioning": {"state": "provisioned"}}}
    world.patch(kinds.BARE_METAL_HOST, fixtures.key("h1"), status, subresource="status")
    settle(world, [])
    assert told(world)[0] == "HostnameMissing"


def test_a_machine_that_runs_asks_the_workload_cluster_no_more() -> None:
    world = provisioned()
    settle(world, [node("n1", uid="U")])
    patch = {"status": {"nodeRef": {"name": "n1"}}}
    world.patch(kinds.MACHINE, fixtures.key("m1"), patch, subresource="status")
    settle(world, Unreachable("WorkloadAPIUnreachable", "down"))
    assert told(world)[0] == "AssociateMetal3MachineMetaDataSuccess"


def test_more_than_32_addresses_are_cut_so_that_the_names_stay() -> None:
    nics = [{"name": f"eth{n}", "mac": "02:00:00:00:00:01", "ip": f"192.0.2.{n}"} for n in range(40)]
    world = fixtures.site()
    fixtures.add_host(world, "h1", status={"hardware": {"nics": nics}})
    fixtures.add_machine(world, "m1")
    Scenario(world, [machine.MANAGER]).until_settled()
    found = fixtures.metal3_machine(world, "m1")["status"]["addresses"]
    assert len(found) == 32 and [item["type"] for item in found[-2:]] == ["Hostname", "InternalDNS"]
