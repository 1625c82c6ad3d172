"""Properties of the Metal3Machine manager that hold in every order of events, with every fault."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from capm3_api import condition, kinds, meta, names
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import cluster, machine
from capm3_managers.testing import consistency, fixtures, peers
from capm3_managers.testing.faults import Fault
from capm3_managers.testing.scenario import Faults, Scenario
from capm3_managers.testing.world import World

ROUGH = Faults(lag=5, conflict_rate=0.3, workers=10)


def scenario(world: World, workloads: peers.Workloads | None = None, **rest: Any) -> Scenario:
    workloads = workloads or peers.Workloads()
    actors = [
        fixtures.operate_hosts,
        fixtures.boot_nodes(workloads),
        fixtures.match_nodes(workloads),
        fixtures.render_data,
    ]
    return Scenario(world, [cluster.MANAGER, machine.MANAGER], remote=workloads, actors=actors, **rest)


def site(machines: int, hosts: int, **changes: Any) -> World:
    world = fixtures.site()
    for number in range(hosts):
        fixtures.add_host(world, f"h{number}")
    for number in range(machines):
        fixtures.add_machine(world, f"m{number}", **changes)
    return world


def claims(world: World) -> dict[str, str]:
    """Machine -> host, by the hosts' word."""
    hosts = world.list(kinds.BARE_METAL_HOST, builders.NAMESPACE)
    return {
        host["spec"]["consumerRef"]["name"]: meta.key_of(host).name for host in hosts if "consumerRef" in host["spec"]
    }


@pytest.mark.parametrize("seed", range(6))
def test_b01_ten_machines_get_ten_distinct_hosts(seed: int) -> None:
    world = site(10, 10)
    scenario(world, seed=seed, faults=ROUGH).until_settled()
    held = claims(world)
    assert len(held) == 10 and len(set(held.values())) == 10
    for found in world.list(kinds.METAL3_MACHINE, builders.NAMESPACE):
        name = meta.key_of(found).name
        assert found["metadata"]["annotations"][names.HOST_ANNOTATION] == f"site-a/{held[name]}"
        assert condition.is_true(found, "Ready")
        legacy = found["status"]["deprecated"]["v1beta1"]
        assert "failureReason" not in legacy and "failureMessage" not in legacy


@pytest.mark.parametrize("seed", range(3))
def test_b01_three_hosts_serve_three_of_ten_machines_and_seven_say_why_they_wait(seed: int) -> None:
    world = site(10, 3)
    scenario(world, seed=seed, faults=ROUGH).until_settled()
    assert len(claims(world)) == 3
    waiting = []
    for found in world.list(kinds.METAL3_MACHINE, builders.NAMESPACE):
        told = condition.get(found, "AssociateBareMetalHost") or {}
        if told["status"] == "False":
            waiting.append(told["message"])
    assert len(waiting) == 7
    assert all(
        "no available host found. Requeuing" in message and "(3 hosts: 3 in use)" in message for message in waiting
    )


def test_b01_a_freed_host_goes_to_a_machine_that_waits() -> None:
    world = site(2, 1)
    scenario(world).until_settled()
    (first,) = claims(world)
    world.delete(kinds.METAL3_MACHINE, fixtures.key(first))
    scenario(world, faults=ROUGH).until_settled()
    assert set(claims(world)) == {"m0", "m1"} - {first}


@pytest.mark.parametrize("template", [False, True])
def test_a_crash_after_any_write_ends_in_the_same_world(template: bool) -> None:
    changes: Raw = {"spec": {"dataTemplate": {"name": "dt1"}}} if template else {}
    calm = site(1, 1, **changes)
    run = scenario(calm)
    run.until_settled()
    writes, expected = run.hand.writes, consistency.plain(calm.all())
    assert writes >= 6
    for crash in range(1, writes + 1):
        world = site(1, 1, **changes)
        rough = scenario(world)
        rough.crash_after(crash)
        rough.until_settled()
        assert consistency.plain(world.all()) == expected, f"crash after write {crash}"


def test_a_crash_after_any_write_of_a_deletion_ends_in_the_same_world() -> None:
    def dying() -> World:
        world = site(1, 1, spec={"dataTemplate": {"name": "dt1"}})
        scenario(world).until_settled()
        world.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
        return world

    calm = dying()
    run = scenario(calm)
    run.until_settled()
    expected = consistency.plain(calm.all())
    for crash in range(1, run.hand.writes + 1):
        world = dying()
        rough = scenario(world)
        rough.crash_after(crash)
        rough.until_settled()
        assert consistency.plain(world.all()) == expected, f"crash after write {crash}"


def test_b07_unknown_fields_survive_claim_and_release() -> None:
    odd = {"bmc": {"futureOption": {"deep": [1, {"x": "y"}]}}, "futureTop": "keep-me"}
    world = fixtures.site()
    fixtures.add_host(world, "h0", spec=odd, metadata={"labels": {"rack": "r1"}, "annotations": {"mine": "yes"}})
    fixtures.add_machine(world, "m0", spec={"futureTop": {"a": 1}})
    scenario(world).until_settled()
    assert fixtures.metal3_machine(world, "m0")["spec"]["futureTop"] == {"a": 1}
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    scenario(world).until_settled()
    host = fixtures.host(world, "h0")
    assert host["spec"]["futureTop"] == "keep-me"
    assert host["spec"]["bmc"]["futureOption"] == {"deep": [1, {"x": "y"}]}
    assert host["metadata"]["labels"] == {"rack": "r1"} and host["metadata"]["annotations"] == {"mine": "yes"}


OWNED = {
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("metadata", "resourceVersion"),
    *(("spec", name) for name in ("consumerRef", "image", "userData", "metaData", "networkData", "online")),
    *(("spec", name) for name in ("automatedCleaningMode", "customDeploy")),
}


def test_b07_every_write_to_a_host_is_a_patch_of_fields_that_are_ours() -> None:
    world = site(1, 1)
    start = len(world.writes)
    scenario(world).until_settled()
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    scenario(world).until_settled()
    ours = [write for write in world.writes[start:] if write[1] == kinds.BARE_METAL_HOST and "status" not in write[3]]
    assert ours and {write[0] for write in ours} == {"patch"}
    for write in ours:
        paths = {(top, name) for top, part in write[3].items() for name in part}
        assert paths <= OWNED


def test_b03_passing_faults_leave_no_failure_behind() -> None:
    world = site(1, 1)
    world.inject(Fault("patch", "baremetalhosts", 409, times=3))
    world.inject(Fault("patch", "baremetalhosts", 0, times=2))
    world.inject(Fault("patch", "baremetalhosts", 503, times=2))
    run = scenario(world)
    run.until_settled()
    assert claims(world) == {"m0": "h0"}
    assert sum(1 for item in run.passes if item.error) >= 3
    for write in world.writes:
        assert "failureReason" not in str(write[3])


ORDERS = list(itertools.permutations(("machine", "metal3machine", "cluster", "metal3cluster")))


@pytest.mark.parametrize("order", ORDERS, ids=["-".join(order) for order in ORDERS])
def test_b38_deletes_in_any_order_end_the_same(order: tuple[str, ...]) -> None:
    world = site(1, 1, spec={"dataTemplate": {"name": "dt1"}})
    scenario(world).until_settled()
    targets = {
        "machine": (kinds.MACHINE, "m0"),
        "metal3machine": (kinds.METAL3_MACHINE, "m0"),
        "cluster": (kinds.CLUSTER, "c1"),
        "metal3cluster": (kinds.METAL3_CLUSTER, "c1"),
    }
    chance = random.Random(str(order))
    for name in order:
        kind, target = targets[name]
        if world.get(kind, fixtures.key(target)):
            world.delete(kind, fixtures.key(target))
        if chance.random() < 0.5:
            scenario(world).until_settled()
    scenario(world).until_settled()
    left = {(obj["kind"], meta.key_of(obj).name) for obj in world.all()}
    assert left == {("BareMetalHost", "h0"), ("Secret", "h0-bmc")}
    host = fixtures.host(world, "h0")
    assert set(host["spec"]) == {"online", "bootMACAddress", "bmc"}
    assert not host["metadata"].get("labels") and not host["metadata"].get("annotations")


def test_b42_five_more_rounds_over_a_settled_site_write_nothing() -> None:
    world = site(3, 2)
    run = scenario(world)
    run.until_settled()
    before = {(obj["kind"], meta.key_of(obj)): meta.version_of(obj) for obj in world.all()}
    for _ in range(5):
        run.restart()
        run.until_settled()
    assert {(obj["kind"], meta.key_of(obj)): meta.version_of(obj) for obj in world.all()} == before
