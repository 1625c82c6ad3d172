"""Deleting machines: from every state, with node reuse, and with everything around them gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from capm3_api import condition, kinds, meta, names
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import cluster, machine
from capm3_managers.machine import delete
from capm3_managers.settings import Settings
from capm3_managers.testing import fixtures, peers
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.world import World


def settle(world: World, *, operate: bool = True, settings: Settings | None = None) -> None:
    workloads = peers.Workloads()
    actors = [fixtures.operate_hosts] if operate else []
    managers = [cluster.MANAGER, machine.MANAGER]
    Scenario(world, managers, remote=workloads, actors=actors, settings=settings).until_settled()


def claimed(world: World) -> None:
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1")
    settle(world, operate=False)


def no_owner_cluster(world: World) -> None:
    fixtures.add_machine(world, "m1")
    world.delete(kinds.CLUSTER, fixtures.CLUSTER, propagation="Orphan")


def endpoint_missing(world: World) -> None:
    world.patch(kinds.METAL3_CLUSTER, fixtures.CLUSTER, {"spec": {"controlPlaneEndpoint": None}})
    fixtures.add_machine(world, "m1")
    settle(world)


def without_host(world: World) -> None:
    fixtures.add_machine(world, "m1")
    settle(world)


def image_not_set(world: World) -> None:
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1", spec={"dataTemplate": {"name": "dt1"}})
    settle(world)


def provisioning(world: World) -> None:
    claimed(world)
    status = {"status": {"provisioning": {"state": "provisioning"}}}
    world.patch(kinds.BARE_METAL_HOST, fixtures.key("h1"), status, subresource="status")


def bootstrap_secret_missing(world: World) -> None:
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1", machine={"spec": {"bootstrap": {"dataSecretName": None}}, "status": None})
    settle(world)


def cluster_gone_already(world: World) -> None:
    claimed(world)
    world.delete(kinds.CLUSTER, fixtures.CLUSTER, propagation="Orphan")


STATES: list[Callable[[World], None]] = [
    no_owner_cluster,
    endpoint_missing,
    without_host,
    claimed,
    image_not_set,
    provisioning,
    bootstrap_secret_missing,
    cluster_gone_already,
]


@pytest.mark.parametrize("state", STATES, ids=[state.__name__ for state in STATES])
def test_b38_deletion_works_from_every_intermediate_state(state: Callable[[World], None]) -> None:
    world = fixtures.site()
    state(world)
    for kind, key in ((kinds.METAL3_MACHINE, "m1"), (kinds.METAL3_CLUSTER, "c1"), (kinds.MACHINE, "m1")):
        if world.get(kind, fixtures.key(key)):
            world.delete(kind, fixtures.key(key))
    if world.get(kinds.CLUSTER, fixtures.CLUSTER):
        world.delete(kinds.CLUSTER, fixtures.CLUSTER)
    settle(world)
    assert {obj["kind"] for obj in world.all()} <= {"BareMetalHost", "Secret"}
    for host in world.list(kinds.BARE_METAL_HOST, builders.NAMESPACE):
        assert set(host["spec"]) == {"online", "bootMACAddress", "bmc"}
        assert not host["metadata"].get("labels") and not host["metadata"].get("annotations")


WORKING = (
    "preparing",
    "provisioning",
    "provisioned",
    "deprovisioning",
    "powering off before delete",
    "deleting",
    "new",
)


@pytest.mark.parametrize("state", [*delete.IDLE_STATES, *WORKING])
def test_a_host_leaves_when_it_is_idle_and_the_wait_names_it_and_its_state(state: str) -> None:
    world = fixtures.site()
    claimed(world)
    world.patch(
        kinds.BARE_METAL_HOST, fixtures.key("h1"), {"status": {"provisioning": {"state": state}}}, subresource="status"
    )
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    settle(world, operate=False)
    found = world.get(kinds.METAL3_MACHINE, fixtures.key("m1"))
    if state in delete.IDLE_STATES:
        assert found is None
        return
    told = condition.get(found or {}, "AssociateMetal3MachineMetaData")
    assert told and told["reason"] == "DeletionFailed" and f'(host h1 is "{state}")' in told["message"]
    assert "consumerRef" in fixtures.host(world, "h1")["spec"]


@pytest.mark.parametrize(("powered", "gone"), [(True, False), (False, True)])
def test_an_externally_provisioned_host_leaves_when_it_is_off(powered: bool, gone: bool) -> None:
    world = fixtures.site()
    claimed(world)
    status = {"status": {"provisioning": {"state": "externally provisioned"}, "poweredOn": powered}}
    world.patch(kinds.BARE_METAL_HOST, fixtures.key("h1"), status, subresource="status")
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    settle(world, operate=False)
    assert (world.get(kinds.METAL3_MACHINE, fixtures.key("m1")) is None) is gone


def test_b08_data_that_a_user_gave_the_host_survives_the_release() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1", spec={"networkData": {"name": "mine", "namespace": "site-a"}})
    fixtures.add_machine(world, "m1", spec={"metaData": {"name": "md"}})
    settle(world)
    assert fixtures.host(world, "h1")["spec"]["metaData"] == {"name": "md", "namespace": "site-a"}
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    settle(world)
    spec = fixtures.host(world, "h1")["spec"]
    assert spec["networkData"] == {"name": "mine", "namespace": "site-a"} and "metaData" not in spec


def test_fast_track_leaves_a_host_that_will_be_cleaned_on() -> None:
    world = fixtures.site()
    claimed(world)
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    settle(world, settings=Settings(fast_track=True))
    assert fixtures.host(world, "h1")["spec"]["online"] is True


def owned(world: World, *, control_plane: bool, reuse: bool = True) -> str:
    """A machine whose owners lead to a template; the answer is the label that a kept host gets."""
    world.put(builders.metal3_machine_template("t1", spec={"nodeReuse": reuse}))
    fixtures.add_host(world, "h1")
    if control_plane:
        owner = world.put(builders.kubeadm_control_plane("cp1"))
        changes = {"metadata": {"labels": {names.CONTROL_PLANE_LABEL: ""}}}
    else:
        deployment = world.put(builders.machine_deployment("md1"))
        owner = world.put(builders.merge(builders.machine_set("ms1"), builders.owners(deployment)))
        changes = {}
    fixtures.add_machine(world, "m1", machine=builders.merge(builders.owners(owner), changes))
    settle(world)
    return "cp-cp1" if control_plane else "md-md1"


@pytest.mark.parametrize("control_plane", [True, False])
def test_with_node_reuse_the_host_is_kept_for_the_owner_and_taken_by_its_next_machine(control_plane: bool) -> None:
    world = fixtures.site()
    label = owned(world, control_plane=control_plane)
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    settle(world)
    host = fixtures.host(world, "h1")
    assert host["metadata"]["labels"] == {names.NODE_REUSE_LABEL: label}
    assert host["spec"]["consumerRef"]["kind"] == "Cluster"
    fixtures.add_host(world, "h2")
    old = world.get(kinds.MACHINE, fixtures.key("m1")) or {}
    changes = {"metadata": {name: old["metadata"][name] for name in ("ownerReferences", "labels")}}
    fixtures.add_machine(world, "m2", machine=changes)
    settle(world)
    host = fixtures.host(world, "h1")
    assert host["spec"]["consumerRef"]["name"] == "m2"
    assert names.NODE_REUSE_LABEL not in host["metadata"]["labels"]
    told = condition.get(fixtures.metal3_machine(world, "m2"), "AssociateBareMetalHost")
    assert told and told["reason"] == "AssociateBareMetalHostViaNodeReuseSuccess"


@pytest.mark.parametrize("control_plane", [True, False])
def test_without_node_reuse_the_host_is_free_again(control_plane: bool) -> None:
    world = fixtures.site()
    owned(world, control_plane=control_plane, reuse=False)
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    settle(world)
    host = fixtures.host(world, "h1")
    assert not host["metadata"].get("labels") and "consumerRef" not in host["spec"]


def test_a_cluster_that_goes_keeps_no_hosts() -> None:
    world = fixtures.site()
    owned(world, control_plane=False)
    world.patch(kinds.CLUSTER, fixtures.CLUSTER, {"metadata": {"finalizers": ["example.test/wait"]}})
    world.delete(kinds.CLUSTER, fixtures.CLUSTER)
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    settle(world)
    assert "consumerRef" not in fixtures.host(world, "h1")["spec"]


def test_a_host_that_is_gone_does_not_hold_the_machine() -> None:
    world = fixtures.site()
    claimed(world)
    world.delete(kinds.BARE_METAL_HOST, fixtures.key("h1"))
    settle(world)
    told = condition.get(fixtures.metal3_machine(world, "m1"), "AssociateMetal3MachineMetaData")
    assert told and "BareMetalHost not found for machine m1" in told["message"]
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    settle(world)
    assert world.get(kinds.METAL3_MACHINE, fixtures.key("m1")) is None


def test_a_host_is_released_although_the_annotation_was_lost() -> None:
    world = fixtures.site()
    claimed(world)
    world.patch(kinds.METAL3_MACHINE, fixtures.key("m1"), {"metadata": {"annotations": {names.HOST_ANNOTATION: None}}})
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    settle(world)
    assert "consumerRef" not in fixtures.host(world, "h1")["spec"]


def test_a_machine_whose_name_is_used_again_waits_for_the_old_data_claim() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    old: Raw = builders.data_claim("m1", metadata={"finalizers": ["example.test/slow"]})
    old["status"] = {"renderedData": {"name": "old-0", "namespace": "site-a"}}
    world.put(old)
    world.delete(kinds.METAL3_DATA_CLAIM, fixtures.key("m1"))
    fixtures.add_machine(world, "m1", spec={"dataTemplate": {"name": "dt1"}})
    settle(world)
    found = fixtures.metal3_machine(world, "m1")
    told = condition.get(found, "AssociateMetal3MachineMetaData")
    assert told and "Metal3DataClaim m1 of an earlier machine is still being deleted" in told["message"]
    assert "renderedData" not in found["status"]
    world.patch(kinds.METAL3_DATA_CLAIM, fixtures.key("m1"), {"metadata": {"finalizers": None}})
    settle(world)
    claim = world.get(kinds.METAL3_DATA_CLAIM, fixtures.key("m1"))
    assert claim and meta.uid_of(claim) != meta.uid_of(old)
