"""All managers but the hosts' together, over one site: rough worlds, crashes, and an end that leaves nothing behind."""

from __future__ import annotations

import random

import pytest
from capm3_api import condition, kinds, meta
from capm3_api.testing import builders
from capm3_managers import cluster, data, datatemplate, ippool, machine
from capm3_managers.testing import consistency, fixtures, peers
from capm3_managers.testing.scenario import Faults, Scenario
from capm3_managers.testing.world import World

MANAGERS = (cluster.MANAGER, machine.MANAGER, datatemplate.MANAGER, data.MANAGER, ippool.MANAGER)
ROUGH = Faults(lag=4, conflict_rate=0.3, workers=6)
POOL = {"apiGroup": "ipam.metal3.io", "kind": "IPPool", "name": "pool1"}


def scenario(world: World, **rest: object) -> Scenario:
    workloads = peers.Workloads()
    actors = [fixtures.operate_hosts, fixtures.boot_nodes(workloads), fixtures.match_nodes(workloads)]
    return Scenario(world, MANAGERS, remote=workloads, actors=actors, **rest)  # type: ignore[arg-type]


def site(machines: int, hosts: int) -> World:
    world = fixtures.site()
    world.put(builders.ip_pool("pool1"))
    metadata = {"ipAddressesFromPool": [{"key": "ip", **POOL}], "objectNames": [{"key": "name", "object": "machine"}]}
    world.put(builders.data_template("dt1", spec={"metaData": metadata}))
    for number in range(hosts):
        fixtures.add_host(world, f"h{number}")
    for number in range(machines):
        fixtures.add_machine(world, f"m{number}", spec={"dataTemplate": {"name": "dt1"}})
    return world


def left(world: World) -> set[str]:
    return {f"{obj['kind']} {meta.key_of(obj).name}" for obj in world.all()}


@pytest.mark.parametrize("seed", range(3))
def test_a_site_becomes_ready_in_a_rough_world_and_goes_without_a_trace(seed: int) -> None:
    world = site(3, 4)
    scenario(world, seed=seed, faults=ROUGH).until_settled(6000)
    for found in world.list(kinds.METAL3_MACHINE, builders.NAMESPACE):
        assert condition.is_true(found, "Ready"), meta.key_of(found)
    addresses = [found["spec"]["address"] for found in world.list(kinds.IP_ADDRESS, builders.NAMESPACE)]
    assert len(addresses) == len(set(addresses)) == 3
    targets = [(kinds.METAL3_MACHINE, f"m{number}") for number in range(3)]
    targets += [(kinds.MACHINE, f"m{number}") for number in range(3)]
    targets += [(kinds.CLUSTER, "c1"), (kinds.METAL3_CLUSTER, "c1"), (kinds.METAL3_DATA_TEMPLATE, "dt1")]
    random.Random(seed).shuffle(targets)
    for kind, name in targets:
        if world.get(kind, fixtures.key(name)):
            world.delete(kind, fixtures.key(name))
    scenario(world, seed=seed, faults=ROUGH).until_settled(6000)
    hosts = {f"BareMetalHost h{number}" for number in range(4)} | {f"Secret h{number}-bmc" for number in range(4)}
    assert left(world) - {"IPPool pool1"} == hosts


def test_a_crash_after_any_write_of_a_sites_life_ends_in_the_same_world() -> None:
    calm = site(1, 1)
    run = scenario(calm)
    run.until_settled()
    expected = consistency.plain(calm.all())
    for crash in range(1, run.hand.writes + 1):
        world = site(1, 1)
        rough = scenario(world)
        rough.crash_after(crash)
        rough.until_settled()
        assert consistency.plain(world.all()) == expected, f"crash after write {crash}"
