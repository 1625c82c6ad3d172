"""The Metal3Cluster manager, over `World`."""

from __future__ import annotations

from typing import Any

import pytest
from capm3_api import condition, kinds, names
from capm3_api.meta import Key
from capm3_api.testing import builders
from capm3_managers import cluster
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.world import World

KEY = Key(builders.NAMESPACE, "c1")


def site(**changes: Any) -> World:
    world = World()
    world.put(builders.cluster())
    owner = world.get(kinds.CLUSTER, KEY)
    assert owner
    world.put(builders.metal3_cluster(**builders.owners(owner), **changes))
    return world


def settle(world: World) -> dict[str, Any]:
    Scenario(world, [cluster.MANAGER]).until_settled()
    found = world.get(kinds.METAL3_CLUSTER, KEY)
    assert found is not None
    return found


def test_a_cluster_with_an_endpoint_is_ready_in_both_forms() -> None:
    found = settle(site())
    assert found["status"]["initialization"] == {"provisioned": True}
    assert names.CLUSTER_FINALIZER in found["metadata"]["finalizers"]
    assert [item["type"] for item in found["status"]["conditions"]] == [
        "Ready",
        "BaremetalInfrastructureReady",
        "Paused",
    ]
    assert condition.is_true(found, "Ready") and condition.is_true_legacy(found, "Ready")
    assert found["status"]["lastUpdated"] == "2026-01-01T00:00:00Z"


def test_a_cluster_without_owner_gets_its_failure_domains_and_nothing_else() -> None:
    world = World()
    world.put(builders.metal3_cluster(spec={"failureDomains": [{"name": "rack-a"}]}))
    found = settle(world)
    assert found["status"]["failureDomains"] == [{"name": "rack-a"}]
    assert not found["metadata"].get("finalizers")
    ready = condition.get(found, "Ready")
    assert ready and ready["message"] == "* BaremetalInfrastructureReady: Condition not yet reported"


@pytest.mark.parametrize(
    ("endpoint", "message"),
    [
        ({"host": None}, "missing fields from Spec: [ControlPlaneEndpoint.Host]"),
        ({"port": None}, "missing fields from Spec: [ControlPlaneEndpoint.Port]"),
        (None, "missing fields from Spec: [ControlPlaneEndpoint.Host ControlPlaneEndpoint.Port]"),
    ],
)
def test_an_incomplete_endpoint_names_what_is_missing(endpoint: Any, message: str) -> None:
    found = settle(site(spec={"controlPlaneEndpoint": endpoint}))
    told = condition.get(found, "BaremetalInfrastructureReady")
    assert told and told["reason"] == "InvalidConfiguration"
    assert told["message"] == f"Invalid Metal3Cluster provided: {message}"
    assert found["status"]["deprecated"]["v1beta1"]["failureReason"] == "InvalidConfiguration"
    assert "initialization" not in found["status"]


def test_b03_a_failure_goes_away_once_the_endpoint_is_complete() -> None:
    world = site(spec={"controlPlaneEndpoint": {"host": None}})
    settle(world)
    world.patch(kinds.METAL3_CLUSTER, KEY, {"spec": {"controlPlaneEndpoint": {"host": "192.0.2.10"}}})
    found = settle(world)
    assert condition.is_true(found, "Ready")
    assert "failureReason" not in found["status"]["deprecated"]["v1beta1"]


def test_failure_domains_follow_the_spec() -> None:
    world = site(spec={"failureDomains": [{"name": "rack-a", "controlPlane": True}]})
    assert settle(world)["status"]["failureDomains"] == [{"name": "rack-a", "controlPlane": True}]
    world.patch(kinds.METAL3_CLUSTER, KEY, {"spec": {"failureDomains": None}})
    assert "failureDomains" not in settle(world)["status"]


def test_a_paused_cluster_says_so_and_nothing_more_happens() -> None:
    world = site()
    world.patch(kinds.CLUSTER, KEY, {"spec": {"paused": True}})
    found = settle(world)
    paused = condition.get(found, "Paused")
    assert paused and (paused["status"], paused["message"]) == ("True", "Cluster spec.paused is set to true")
    assert not found["metadata"].get("finalizers")
    world.patch(kinds.CLUSTER, KEY, {"spec": {"paused": None}})
    assert condition.is_true(settle(world), "Ready")


def test_b38_a_deletion_names_the_machines_that_it_waits_for() -> None:
    world = site()
    settle(world)
    world.create(builders.metal3_machine("m1"))
    world.delete(kinds.METAL3_CLUSTER, KEY)
    told = condition.get(settle(world), "Deleting")
    assert told and told["message"] == "waiting for Metal3Machine m1 to be deleted"
    world.delete(kinds.METAL3_MACHINE, Key(KEY.namespace, "m1"))
    Scenario(world, [cluster.MANAGER]).until_settled()
    assert world.get(kinds.METAL3_CLUSTER, KEY) is None


def test_b38_a_cluster_goes_although_its_owner_is_gone_already() -> None:
    world = site()
    settle(world)
    world.patch(kinds.METAL3_CLUSTER, KEY, {"metadata": {"finalizers": [names.CLUSTER_FINALIZER]}})
    world.delete(kinds.CLUSTER, KEY)
    if world.get(kinds.METAL3_CLUSTER, KEY):
        world.delete(kinds.METAL3_CLUSTER, KEY)
    Scenario(world, [cluster.MANAGER]).until_settled()
    assert world.get(kinds.METAL3_CLUSTER, KEY) is None


def test_a_missing_owner_is_told_and_tried_again() -> None:
    world = World()
    world.put(builders.metal3_cluster(**builders.owners(builders.cluster())))
    scenario = Scenario(world, [cluster.MANAGER])
    done = scenario.run("metal3cluster", KEY)
    assert done.plan and done.plan.retry
    found = world.get(kinds.METAL3_CLUSTER, KEY)
    assert found
    told = condition.get(found, "BaremetalInfrastructureReady")
    assert told and told["reason"] == "FailedToGetOwnerCluster"


def test_a_host_kept_for_node_reuse_is_let_go_with_its_cluster() -> None:
    world = site()
    settle(world)
    ref = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "c1", "namespace": KEY.namespace}
    labels = {names.NODE_REUSE_LABEL: "md-x", "mine": "yes"}
    world.put(builders.host("h1", metadata={"labels": labels}, spec={"consumerRef": ref}))
    world.delete(kinds.METAL3_CLUSTER, KEY)
    Scenario(world, [cluster.MANAGER]).until_settled()
    found = world.get(kinds.BARE_METAL_HOST, Key(KEY.namespace, "h1"))
    assert found and "consumerRef" not in found["spec"] and found["metadata"]["labels"] == {"mine": "yes"}


def test_b42_a_status_write_of_its_own_does_not_wake_the_manager() -> None:
    world = site()
    scenario = Scenario(world, [cluster.MANAGER])
    assert scenario.until_settled() <= 3


def test_a_crash_after_any_write_ends_in_the_same_world() -> None:
    worlds = []
    for writes in range(4):
        world = site()
        scenario = Scenario(world, [cluster.MANAGER])
        if writes:
            scenario.crash_after(writes)
        scenario.until_settled()
        worlds.append(world.get(kinds.METAL3_CLUSTER, KEY))
    states = [{**world["status"], "finalizers": world["metadata"]["finalizers"]} for world in worlds if world]
    assert all(state == states[0] for state in states)
