"""A small site whose machines need rendered data and addresses, with every manager that has a part in it.

Apart from `fixtures`, which knows clusters and hosts only: here are the template, the pool, and the whole chain.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from capm3_api import kinds, meta
from capm3_api.meta import Kind
from capm3_api.model import Raw
from capm3_api.testing import builders

from capm3_managers import data, datatemplate, ippool, machine
from capm3_managers.testing import fixtures, peers, strict
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.world import World

MANAGERS = (machine.MANAGER, datatemplate.MANAGER, data.MANAGER, ippool.MANAGER)
LEFT_BEHIND = (kinds.METAL3_DATA_TEMPLATE, kinds.METAL3_DATA_CLAIM, kinds.METAL3_DATA)
LEFT_BEHIND_BY_POOLS = (kinds.IP_POOL, kinds.IP_CLAIM, kinds.IP_ADDRESS)

TEMPLATE: Raw = {
    "metaData": {
        "objectNames": [{"key": "name", "object": "machine"}],
        "ipAddressesFromPool": [{"key": "ip", "name": "pool1"}],
    },
    "networkData": {
        "links": {"ethernets": [{"id": "e0", "type": "phy", "macAddress": {"fromHostInterface": "eth0"}}]},
        "networks": {"ipv4": [{"id": "n0", "link": "e0", "ipAddressFromIPPool": "pool1"}]},
    },
}


def site(machines: int = 1, *, template: Raw | None = None, pool: Raw | None = None) -> World:
    """Machines ``m0``, ``m1``... with a host each, the template ``dt1`` and the pool ``pool1``; schemas are enforced.

    Args:
        template: the template's spec.
        pool: changes of the pool.
    """
    world = strict.install(fixtures.site())
    world.create(builders.ip_pool("pool1", **(pool or {})))
    world.create({**builders.data_template("dt1"), "spec": template or TEMPLATE})
    for number in range(machines):
        add_machine(world, f"m{number}")
    return world


def add_machine(world: World, name: str) -> None:
    """A machine with a host of its own."""
    fixtures.add_host(world, f"h-{name}")
    fixtures.add_machine(world, name, spec={"dataTemplate": {"name": "dt1"}})


def scenario(world: World, **rest: Any) -> Scenario:
    """The managers of the chain, and stand-ins for what lies around it."""
    workloads = peers.Workloads()
    actors = [fixtures.operate_hosts, fixtures.boot_nodes(workloads), fixtures.match_nodes(workloads)]
    return Scenario(world, MANAGERS, remote=workloads, actors=actors, **rest)


def one(world: World, kind: Kind, name: str) -> Raw:
    """An object of the site; fails if it is gone."""
    found = world.get(kind, fixtures.key(name))
    assert found is not None, f"{kind.kind} {name} is gone"
    return found


def names(world: World, kind: Kind, namespace: str = fixtures.NAMESPACE) -> list[str]:
    """The names of all objects of a kind."""
    return [meta.key_of(obj).name for obj in world.list(kind, namespace)]


def left(world: World, of: Iterable[Kind] = (*LEFT_BEHIND, *LEFT_BEHIND_BY_POOLS)) -> list[str]:
    """What is left of data, claims, addresses and rendered Secrets."""
    found = [f"{kind.kind}/{name}" for kind in of for name in names(world, kind)]
    rendered = [name for name in names(world, kinds.SECRET) if name.endswith(("-metadata", "-networkdata"))]
    return [*found, *(f"Secret/{name}" for name in rendered)]
