"""Waits before a claim, and pausing."""

from __future__ import annotations

import json

import pytest
from capm3_api import condition, kinds, names
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import machine
from capm3_managers.machine import pause
from capm3_managers.testing import fixtures
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.world import World


def settle(world: World) -> None:
    Scenario(world, [machine.MANAGER]).until_settled()


def told(world: World, type_: str = "AssociateBareMetalHost") -> tuple[str, str]:
    found = condition.get(fixtures.metal3_machine(world, "m1"), type_) or {}
    return found.get("status", ""), found.get("reason", "")


def site(cluster: Raw | None = None, machine_changes: Raw | None = None) -> World:
    world = World()
    owner = world.put(builders.cluster(**(cluster or {})))
    world.put(builders.metal3_cluster(**builders.owners(owner)))
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1", machine=machine_changes)
    return world


LEGACY = {"deprecated": {"v1beta1": {"conditions": [builders.legacy_condition("InfrastructureReady")]}}}
NEW = {"initialization": {"infrastructureProvisioned": True}}
CLUSTERS = [
    ("said in the older form", LEGACY, "AssociateBareMetalHostSuccess"),
    ("said in the newer form", NEW, "AssociateBareMetalHostSuccess"),
    ("not said", {}, "WaitingForClusterInfrastructureReady"),
    ("denied", {"initialization": {"infrastructureProvisioned": False}}, "WaitingForClusterInfrastructureReady"),
]


@pytest.mark.parametrize(("status", "reason"), [row[1:] for row in CLUSTERS], ids=[row[0] for row in CLUSTERS])
def test_the_clusters_infrastructure_may_be_told_in_either_form(status: Raw, reason: str) -> None:
    world = site({"status": status})
    settle(world)
    assert told(world)[1] == reason


BOOTSTRAPS = [
    ("older form", {"status": {"initialization": None}}, True),
    ("newer form", {"status": {"deprecated": None}}, True),
    ("neither", {"status": {"initialization": None, "deprecated": None}}, False),
    ("no configRef but a Secret", {"spec": {"bootstrap": {"configRef": None}}, "status": None}, True),
    ("nothing", {"spec": {"bootstrap": {"configRef": None, "dataSecretName": None}}, "status": None}, False),
]


@pytest.mark.parametrize(("changes", "ready"), [row[1:] for row in BOOTSTRAPS], ids=[row[0] for row in BOOTSTRAPS])
def test_bootstrap_data_may_be_told_in_either_form(changes: Raw, ready: bool) -> None:
    world = site({"status": NEW}, changes)
    settle(world)
    assert told(world)[1] == ("AssociateBareMetalHostSuccess" if ready else "WaitingForBootstrapData")


def test_a_missing_machine_is_named() -> None:
    world = site({"status": NEW})
    world.patch(kinds.METAL3_MACHINE, fixtures.key("m1"), {"metadata": {"ownerReferences": [_owner("ghost")]}})
    settle(world)
    found = condition.get(fixtures.metal3_machine(world, "m1"), "AssociateBareMetalHost")
    assert found and 'Machine "ghost" does not exist' in found["message"]


def _owner(name: str) -> Raw:
    return {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "name": name, "uid": "x"}


def test_a_machine_waits_for_its_metal3_cluster() -> None:
    world = site({"status": NEW})
    world.delete(kinds.METAL3_CLUSTER, fixtures.CLUSTER)
    settle(world)
    assert told(world) == ("False", "WaitingforMetal3Cluster")


def test_the_failure_domain_follows_the_machine_until_it_is_empty() -> None:
    world = site({"status": NEW}, {"spec": {"failureDomain": "rack-1"}})
    settle(world)
    assert fixtures.metal3_machine(world, "m1")["spec"]["failureDomain"] == "rack-1"
    world.patch(kinds.MACHINE, fixtures.key("m1"), {"spec": {"failureDomain": None}})
    settle(world)
    assert "failureDomain" not in fixtures.metal3_machine(world, "m1")["spec"]


def set_paused(world: World, value: bool | None) -> None:
    world.patch(kinds.CLUSTER, fixtures.CLUSTER, {"spec": {"paused": value}})
    settle(world)


def test_pausing_the_cluster_pauses_the_host_and_keeps_its_status() -> None:
    world = site({"status": NEW})
    settle(world)
    assert names.BLOCK_MOVE_ANNOTATION in fixtures.host(world, "h1")["metadata"]["annotations"]
    set_paused(world, True)
    marks = fixtures.host(world, "h1")["metadata"]["annotations"]
    assert marks[names.HOST_PAUSED_ANNOTATION] == "metal3.io/capm3"
    assert names.BLOCK_MOVE_ANNOTATION not in marks
    kept = json.loads(marks[names.HOST_STATUS_ANNOTATION])
    assert kept["provisioning"]["state"] == "available" and "hardware" not in kept
    assert told(world, "Paused") == ("True", "Paused") and told(world) == ("False", "Paused")
    set_paused(world, None)
    marks = fixtures.host(world, "h1")["metadata"]["annotations"]
    assert names.HOST_PAUSED_ANNOTATION not in marks and names.BLOCK_MOVE_ANNOTATION in marks
    assert told(world, "Paused") == ("False", "NotPaused")
    assert told(world) == ("True", "AssociateBareMetalHostSuccess")


def test_a_users_own_pause_of_a_host_stays() -> None:
    world = site({"status": NEW})
    settle(world)
    mark = {"metadata": {"annotations": {names.HOST_PAUSED_ANNOTATION: "someone"}}}
    world.patch(kinds.BARE_METAL_HOST, fixtures.key("h1"), mark)
    set_paused(world, True)
    set_paused(world, None)
    assert fixtures.host(world, "h1")["metadata"]["annotations"][names.HOST_PAUSED_ANNOTATION] == "someone"


def test_a_paused_machine_claims_nothing() -> None:
    world = site({"status": {**NEW}, "spec": {"paused": True}})
    settle(world)
    assert "consumerRef" not in fixtures.host(world, "h1")["spec"]
    assert told(world) == ("False", "Paused")


def test_the_status_annotation_has_what_the_operators_own_type_has() -> None:
    host = builders.host(status={"hardware": {"cpu": {"count": 1}}, "poweredOn": True})
    found = pause.status_annotation(host)
    assert '"operationHistory":{"deprovision":{"end":null,"start":null}' in found
    assert found.startswith('{"errorCount":0,"errorMessage":"","goodCredentials":{}')
    assert '"hardware"' not in found and ": " not in found
