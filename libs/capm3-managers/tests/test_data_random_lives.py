"""Random lives of several machines under lag, conflicts and crashes: addresses stay distinct, and in the end nothing is left."""

from __future__ import annotations

import random

import pytest
from capm3_api import kinds, meta
from capm3_managers.testing import datasite, fixtures
from capm3_managers.testing.scenario import Faults, Scenario
from capm3_managers.testing.world import World

DELETABLE = (
    kinds.METAL3_MACHINE,
    kinds.METAL3_DATA_CLAIM,
    kinds.METAL3_DATA,
    kinds.IP_CLAIM,
    kinds.IP_ADDRESS,
    kinds.METAL3_DATA_TEMPLATE,
    kinds.IP_POOL,
)


def distinct(world: World) -> None:
    listed = [item["spec"]["address"] for item in world.list(kinds.IP_ADDRESS, fixtures.NAMESPACE)]
    assert len(listed) == len(set(listed))
    indexes = [item["spec"]["index"] for item in world.list(kinds.METAL3_DATA, fixtures.NAMESPACE)]
    assert len(indexes) == len(set(indexes))


def disturb(world: World, run: Scenario, rng: random.Random) -> None:
    """Deletes something, lets something work for a while, sometimes kills the process."""
    kind = rng.choice(DELETABLE[:4]) if rng.random() < 0.8 else rng.choice(DELETABLE)
    found = world.list(kind, fixtures.NAMESPACE)
    if found and rng.random() < 0.7:
        world.delete(kind, meta.key_of(rng.choice(found)))
    if rng.random() < 0.4:
        run.crash_after(rng.randint(1, 6))
    run.until_settled(5000, silent=False)
    distinct(world)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_deleted_and_whenever_it_crashes_nothing_is_shared_or_left(seed: int) -> None:
    rng = random.Random(seed)
    world = datasite.site(3)
    run = datasite.scenario(world, seed=seed, faults=Faults(lag=4, conflict_rate=0.2, workers=3))
    for _ in range(5):
        disturb(world, run, rng)
    wanted = [(kind, meta.key_of(obj)) for kind in DELETABLE for obj in world.list(kind, fixtures.NAMESPACE)]
    rng.shuffle(wanted)
    for kind, key in wanted:
        if world.get(kind, key) is not None:
            world.delete(kind, key)
    run.until_settled(5000, silent=False)
    assert datasite.left(world) == []
