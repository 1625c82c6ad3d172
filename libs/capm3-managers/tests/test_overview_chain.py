"""From a wait to its root cause: the chain over the objects, on worlds that the managers made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from capm3_api import kinds, names
from capm3_api.meta import Kind
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import machine, remedies
from capm3_managers.overview import chain
from capm3_managers.overview.chain import Link
from capm3_managers.overview.objects import Reading
from capm3_managers.testing import datasite, fixtures
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.world import World

NEW = {"initialization": {"infrastructureProvisioned": True}}


def links(world: World, kind: Kind = kinds.MACHINE, name: str = "m1") -> list[Link]:
    obj = world.get(kind, fixtures.key(name))
    assert obj is not None
    return chain.explain(Reading(world.reader(), fixtures.NAMESPACE), kind, obj)


def names_in(world: World, kind: Kind = kinds.MACHINE, name: str = "m1") -> list[str]:
    return [f"{link.kind.kind}/{link.key.name}" for link in links(world, kind, name)]


def settled(world: World) -> World:
    Scenario(world, [machine.MANAGER]).until_settled()
    return world


def status(world: World, kind: Kind, name: str, **patch: Any) -> None:
    world.patch(kind, fixtures.key(name), {"status": patch}, subresource="status")


def test_a_machine_without_a_host_leads_to_the_hosts_that_were_looked_at() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1", spec={"consumerRef": {"kind": "Other", "name": "x"}})
    fixtures.add_machine(world, "m1")
    found = links(settled(world))
    assert [link.kind for link in found] == [kinds.MACHINE, kinds.METAL3_MACHINE]
    root = found[-1].finding
    assert root.what == "AssociateBareMetalHost is False (AssociateBareMetalHostFailed)"
    assert "no available host found" in root.message and "in use" in root.message
    assert root.remedy == remedies.REMEDIES["ASSOCIATION_FAILED"]
    assert root.since


def test_a_machine_whose_host_is_in_error_leads_to_the_host() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1")
    settled(world)
    status(world, kinds.BARE_METAL_HOST, "h1", errorMessage="password refused", errorType="registration error")
    found = links(settled(world))
    assert [link.kind.kind for link in found] == ["Machine", "Metal3Machine", "BareMetalHost"]
    assert found[-1].finding.message == "password refused"
    assert found[-1].finding.remedy == remedies.OF_HOSTS["registration error"]


def test_a_machine_that_is_provisioned_leads_to_its_host_until_then() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1")
    settled(world)
    status(world, kinds.BARE_METAL_HOST, "h1", provisioning={"state": "provisioning"}, poweredOn=True)
    root = links(settled(world))[-1]
    assert (root.kind, root.finding.message) == (kinds.BARE_METAL_HOST, "provisioning, power on")


def test_missing_network_interface_leads_to_the_data_that_names_it() -> None:
    world = datasite.site()
    host = fixtures.host(world, "h-m0")
    host["status"]["hardware"]["nics"] = [{"name": "eno7", "mac": "00:00:00:00:00:01"}]
    world.put(host)
    datasite.scenario(world).until_settled()
    found = links(world, name="m0")
    assert [link.kind.kind for link in found] == ["Machine", "Metal3Machine", "Metal3Data"]
    assert found[-1].finding.what == "HostInterfaceNotFound"
    assert "eno7" in found[-1].finding.message and "capm3 render" in found[-1].finding.remedy


def test_a_missing_pool_is_the_root_cause() -> None:
    world = datasite.site()
    world.delete(kinds.IP_POOL, fixtures.key("pool1"))
    datasite.scenario(world).until_settled()
    found = links(world, name="m0")
    assert [link.kind.kind for link in found][-3:] == ["Metal3Data", "IPClaim", "IPPool"]
    assert found[-1].finding.message == "does not exist"


def test_a_used_up_pool_is_told_by_its_claim() -> None:
    world = datasite.site(2, pool={"spec": {"pools": [{"start": "192.0.2.10", "end": "192.0.2.10"}]}})
    datasite.scenario(world).until_settled()
    roots = [found[-1] for name in ("m0", "m1") if (found := links(world, name=name))]
    told = [root for root in roots if root.kind == kinds.IP_CLAIM]
    assert len(told) == 1 and "Exhausted" in told[0].finding.message


def test_a_missing_data_template_is_the_root_cause() -> None:
    world = datasite.site()
    world.delete(kinds.METAL3_DATA_TEMPLATE, fixtures.key("dt1"))
    datasite.scenario(world).until_settled()
    assert names_in(world, name="m0")[-2:] == ["Metal3DataClaim/m0", "Metal3DataTemplate/dt1"]


def test_everything_of_a_settled_machine_waits_for_nothing() -> None:
    world = datasite.site()
    datasite.scenario(world).until_settled()
    status(world, kinds.MACHINE, "m0", phase="Running")
    for kind, name in ((kinds.MACHINE, "m0"), (kinds.METAL3_MACHINE, "m0"), (kinds.BARE_METAL_HOST, "h-m0")):
        assert links(world, kind, name) == []
    assert [links(world, kinds.METAL3_DATA, name) for name in datasite.names(world, kinds.METAL3_DATA)] == [[]]


def unready(**changes: Any) -> World:
    """A cluster without infrastructure, and a Machine whose bootstrap object waits for the control plane."""
    world = World()
    owner = world.put(builders.cluster(**changes))
    world.put(builders.metal3_cluster(**builders.owners(owner)))
    return world


def test_a_machine_of_a_cluster_without_infrastructure_leads_to_the_metal3_cluster() -> None:
    world = unready()
    fixtures.add_machine(world, "m1")
    assert names_in(settled(world)) == ["Machine/m1", "Metal3Machine/m1", "Metal3Cluster/c1"]


def test_a_worker_that_waits_for_the_control_plane_leads_to_the_control_planes_machine() -> None:
    world = unready(status=NEW)
    fixtures.add_machine(world, "cp", machine={"metadata": {"labels": {"cluster.x-k8s.io/control-plane": ""}}})
    no_data = {"spec": {"bootstrap": {"dataSecretName": None}}, "status": {"initialization": None, "deprecated": None}}
    fixtures.add_machine(world, "m1", machine=no_data)
    told = builders.condition("DataSecretAvailable", status="False", message="Waiting for Cluster control plane")
    config = kinds.KUBEADM_CONFIG.new(fixtures.NAMESPACE, "m1", status={"conditions": [told]})
    config["metadata"]["labels"] = {names.CLUSTER_NAME_LABEL: "c1"}
    world.put(config)
    found = names_in(settled(world))
    assert found[:4] == ["Machine/m1", "Metal3Machine/m1", "KubeadmConfig/m1", "Cluster/c1"]
    assert found[4:] == ["Machine/cp", "Metal3Machine/cp"]


def test_a_cluster_names_how_many_machines_wait_and_follows_one() -> None:
    world = fixtures.site()
    for name in ("m1", "m2"):
        fixtures.add_machine(world, name)
    found = links(settled(world), kinds.CLUSTER, "c1")
    assert (found[0].finding.what, found[0].finding.message) == ("2 of 2 machines wait", "m1, m2")
    assert [link.kind.kind for link in found] == ["Cluster", "Machine", "Metal3Machine"]


PAUSES: list[tuple[str, Raw, Raw, list[str]]] = [
    ("cluster", {"spec": {"paused": True}}, {}, ["Machine/m1", "Metal3Machine/m1"]),
    ("machine", {}, {"metadata": {"annotations": {names.PAUSED_ANNOTATION: ""}}}, ["Machine/m1", "Metal3Machine/m1"]),
]


@pytest.mark.parametrize(("cluster", "infra", "chain_"), [row[1:] for row in PAUSES], ids=[row[0] for row in PAUSES])
def test_a_pause_is_the_root_cause(cluster: Mapping[str, Any], infra: Raw, chain_: list[str]) -> None:
    world = unready(status=NEW, **cluster)
    fixtures.add_machine(world, "m1", **infra)
    found = links(settled(world))
    assert [f"{link.kind.kind}/{link.key.name}" for link in found] == chain_
    assert found[-1].finding.what.startswith("Paused is True")


def test_an_object_that_nobody_looked_at_says_so() -> None:
    world = fixtures.site()
    fixtures.add_machine(world, "m1")
    assert links(world)[-1].finding.remedy == remedies.NOT_LOOKED_AT


def test_a_free_host_waits_for_nothing_and_a_paused_one_does() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_host(world, "h2", metadata={"annotations": {names.HOST_PAUSED_ANNOTATION: ""}})
    assert links(world, kinds.BARE_METAL_HOST, "h1") == []
    (link,) = links(world, kinds.BARE_METAL_HOST, "h2")
    assert link.data()["remedy"] == "Take the annotation away."


def test_a_deleted_machine_leads_to_the_host_that_is_let_go() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1")
    settled(world)
    status(world, kinds.BARE_METAL_HOST, "h1", provisioning={"state": "provisioned"})
    settled(world)
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    status(world, kinds.BARE_METAL_HOST, "h1", provisioning={"state": "deprovisioning"})
    found = links(settled(world), kinds.METAL3_MACHINE)
    assert found[-1].kind == kinds.BARE_METAL_HOST and "deprovisioning" in found[-1].finding.message
