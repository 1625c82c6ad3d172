"""The tree of a cluster: what hangs under what, and what each object says."""

from __future__ import annotations

from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers.overview import tree
from capm3_managers.overview.objects import Reading
from capm3_managers.testing import datasite, fixtures
from capm3_managers.testing.world import World


def shown(world: World, name: str = "c1") -> Raw | None:
    return tree.cluster(Reading(world.reader(), fixtures.NAMESPACE), fixtures.key(name))


def lines(world: World) -> list[str]:
    return list(tree.lines(shown(world) or {}))


def kinds_in(node: Raw) -> set[str]:
    return {node["kind"]}.union(*(kinds_in(child) for child in node["children"]))


def settled() -> World:
    world = datasite.site(pool={"spec": {"clusterName": "c1"}})
    datasite.scenario(world).until_settled()
    return world


def test_everything_of_a_settled_cluster_hangs_under_it() -> None:
    found = shown(settled()) or {}
    wanted = {"Metal3Cluster", "Machine", "Metal3Machine", "BareMetalHost", "Metal3Data", "IPClaim", "IPAddress"}
    assert wanted | {"Metal3DataTemplate", "IPPool"} <= kinds_in(found)


def test_a_host_hangs_under_the_machine_that_holds_it_and_a_free_one_under_nothing() -> None:
    world = settled()
    fixtures.add_host(world, "spare")
    text = "\n".join(lines(world))
    before, _, after = text.partition("Metal3Machine/m0")
    assert "BareMetalHost/h-m0  provisioned, on: held by m0" in after
    assert "spare" not in before + after


def test_what_waits_is_marked_and_says_why() -> None:
    world = fixtures.site()
    fixtures.add_machine(world, "m1")
    infra = fixtures.metal3_machine(world, "m1")
    world.put(
        {**infra, "status": {"conditions": [builders.condition("Associated", status="False", message="no host")]}}
    )
    assert any(line.endswith("Metal3Machine/m1 !  not provisioned: no host") for line in lines(world))


def test_hosts_of_another_namespace_are_not_taken_for_a_machine_of_the_same_name() -> None:
    world = fixtures.site()
    fixtures.add_machine(world, "m1")
    consumer = {"apiVersion": kinds.METAL3_MACHINE.api_version, "kind": "Metal3Machine", "name": "m1"}
    world.put(builders.host("far", namespace="elsewhere", spec={"consumerRef": consumer}))
    assert "BareMetalHost" not in kinds_in(shown(world) or {})
    everywhere = tree.forest(Reading(world.reader(), "*"))
    assert [root["name"] for root in everywhere if root["kind"] == "BareMetalHost"] == ["far"]


def test_objects_that_own_each_other_end_the_tree() -> None:
    world = fixtures.site()
    fixtures.add_machine(world, "m1")
    infra, machine = fixtures.metal3_machine(world, "m1"), world.get(kinds.MACHINE, fixtures.key("m1")) or {}
    owner = {"apiVersion": infra["apiVersion"], "kind": "Metal3Machine", "name": "m1", "uid": meta.uid_of(infra)}
    machine["metadata"]["ownerReferences"] = [owner]
    world.put(machine)
    assert "Machine" not in kinds_in(shown(world) or {})


def test_there_is_no_tree_of_a_cluster_that_is_not_there() -> None:
    assert shown(fixtures.site(), "other") is None
    assert tree.cluster(Reading(fixtures.site().reader(), "elsewhere"), Key("elsewhere", "c1")) is None
