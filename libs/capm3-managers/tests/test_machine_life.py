"""A Metal3Machine's life over `World`: claimed, provisioned, released."""

from __future__ import annotations

from typing import Any

from capm3_api import condition, kinds, names
from capm3_api.model import Raw
from capm3_managers import machine
from capm3_managers.testing import fixtures, peers
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.world import World


def scenario(world: World, workloads: peers.Workloads | None = None, **rest: Any) -> Scenario:
    workloads = workloads or peers.Workloads()
    actors = [fixtures.operate_hosts, fixtures.boot_nodes(workloads), fixtures.match_nodes(workloads)]
    return Scenario(world, [machine.MANAGER], remote=workloads, actors=actors, **rest)


def one() -> World:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1")
    return world


def told(obj: Raw, type_: str) -> tuple[str, str, str]:
    found = condition.get(obj, type_) or {}
    return found.get("status", ""), found.get("reason", ""), found.get("message", "")


def test_a_machine_claims_a_host_and_runs() -> None:
    world = one()
    scenario(world).until_settled()
    found, host = fixtures.metal3_machine(world, "m1"), fixtures.host(world, "h1")
    assert found["spec"]["providerID"] == "metal3://site-a/h1/m1"
    assert found["status"]["initialization"] == {"provisioned": True}
    assert found["metadata"]["annotations"][names.HOST_ANNOTATION] == "site-a/h1"
    assert condition.is_true(found, "Ready") and condition.is_true_legacy(found, "Ready")
    assert told(found, "Metal3DataReady") == ("True", "SecretsSetExternally", "")
    assert found["status"]["addresses"] == [
        {"type": "InternalIP", "address": "192.0.2.11"},
        {"type": "InternalIP", "address": "2001:db8::11"},
        {"type": "Hostname", "address": "h1"},
        {"type": "InternalDNS", "address": "h1"},
    ]
    assert host["spec"]["consumerRef"]["name"] == "m1"
    assert host["spec"]["image"]["format"] == "qcow2"
    assert host["spec"]["userData"] == {"name": "m1-bootstrap", "namespace": "site-a"}
    assert host["metadata"]["labels"][names.CLUSTER_NAME_LABEL] == "c1"
    secret = world.get(kinds.SECRET, fixtures.key("h1-bmc"))
    assert secret and secret["metadata"]["labels"][names.CLUSTER_NAME_LABEL] == "c1"


def test_a_deleted_machine_leaves_its_host_as_it_was() -> None:
    world = one()
    before = fixtures.host(world, "h1")
    scenario(world).until_settled()
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    scenario(world).until_settled()
    assert world.get(kinds.METAL3_MACHINE, fixtures.key("m1")) is None
    after = fixtures.host(world, "h1")
    assert after["spec"] == {**before["spec"], "online": False}
    assert not after["metadata"].get("labels") and not after["metadata"].get("annotations")
    secret = world.get(kinds.SECRET, fixtures.key("h1-bmc"))
    assert secret and not secret["metadata"].get("labels", {}).get(names.CLUSTER_NAME_LABEL)


def test_a_machine_with_a_data_template_waits_for_its_data() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1", spec={"dataTemplate": {"name": "dt1"}})
    scenario(world).until_settled()
    found = fixtures.metal3_machine(world, "m1")
    waiting = "failed to update BareMetalHost: waiting for Metal3DataTemplate to be available. Object will be requeued after 30s"
    assert told(found, "AssociateMetal3MachineMetaData") == ("False", "CreateError", waiting)
    assert "image" not in fixtures.host(world, "h1")["spec"]
    claim = world.get(kinds.METAL3_DATA_CLAIM, fixtures.key("m1"))
    assert claim and claim["spec"] == {"template": {"name": "dt1", "namespace": "site-a"}}
    assert claim["metadata"]["finalizers"] == [names.MACHINE_FINALIZER]
    again = scenario(world)
    again.actors = (*again.actors, fixtures.render_data)
    again.until_settled()
    found, host = fixtures.metal3_machine(world, "m1"), fixtures.host(world, "h1")
    assert told(found, "Metal3DataReady") == ("True", "Metal3DataSecretsReady", "")
    assert found["status"]["renderedData"] == {"name": "data-m1", "namespace": "site-a"}
    assert host["spec"]["metaData"] == {"name": "m1-metadata", "namespace": "site-a"}
    assert condition.is_true(found, "Ready")
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    scenario(world).until_settled()
    assert world.get(kinds.METAL3_MACHINE, fixtures.key("m1")) is None
    assert world.get(kinds.METAL3_DATA_CLAIM, fixtures.key("m1")) is None
    assert "metaData" not in fixtures.host(world, "h1")["spec"]
