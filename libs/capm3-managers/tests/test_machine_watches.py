"""Who is woken by which change."""

from __future__ import annotations

from typing import Any

import pytest
from capm3_api import kinds, names
from capm3_api.meta import Kind
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import watches
from capm3_managers.testing import fixtures
from capm3_managers.testing.cache import Cache
from capm3_managers.testing.world import World


def woken(world: World, manager: str, kind: Kind, old: Raw | None, new: Raw | None, label: str = "") -> set[str]:
    cache = Cache(world)
    cache.fill()
    watching = watches.WATCHES[manager]
    rows = [row for row in watching.rows if row.kind == kind]
    found = [watches.wakes(watching, row, old, new, cache, label) for row in rows]
    return {key.name for keys in found for key in keys}


def site() -> World:
    world = fixtures.site()
    fixtures.add_machine(world, "m1")
    fixtures.add_machine(world, "m2")
    return world


def stored(world: World, kind: Kind, name: str) -> Raw:
    found = world.get(kind, fixtures.key(name))
    assert found
    return found


RELATIVES = [
    (kinds.MACHINE, "m1", {"m1"}),
    (kinds.CLUSTER, "c1", {"m1", "m2"}),
    (kinds.METAL3_CLUSTER, "c1", {"m1", "m2"}),
]


@pytest.mark.parametrize(("kind", "name", "expected"), RELATIVES)
def test_a_relatives_change_wakes_its_machines(kind: Kind, name: str, expected: set[str]) -> None:
    world = site()
    obj = stored(world, kind, name)
    assert woken(world, "metal3machine", kind, obj, obj) == expected


@pytest.mark.parametrize("kind", [kinds.METAL3_DATA, kinds.METAL3_DATA_CLAIM])
def test_data_wakes_the_machine_that_owns_it(kind: Kind) -> None:
    world = site()
    owned = kind.new("site-a", "x") | builders.owners(stored(world, kinds.METAL3_MACHINE, "m2"))
    owned["metadata"] = {**owned["metadata"], "namespace": "site-a", "name": "x"}
    assert woken(world, "metal3machine", kind, None, owned) == {"m2"}


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ({"kind": "Metal3Machine", "name": "m1"}, {"m1"}),
        ({"kind": "Metal3Machine", "name": "m1", "namespace": "site-a"}, {"m1"}),
        ({"kind": "Metal3Machine", "name": "m1", "namespace": "site-b"}, set()),
        ({"kind": "Cluster", "name": "m1"}, set()),
    ],
)
def test_a_host_wakes_its_consumer_of_the_same_namespace(ref: Raw, expected: set[str]) -> None:
    world = site()
    host = builders.host(spec={"consumerRef": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", **ref}})
    assert woken(world, "metal3machine", kinds.BARE_METAL_HOST, host, host) == expected


def test_a_host_that_changes_its_consumer_wakes_both() -> None:
    def held(name: str) -> Raw:
        ref = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "Metal3Machine", "name": name}
        return builders.host(spec={"consumerRef": ref})

    assert woken(site(), "metal3machine", kinds.BARE_METAL_HOST, held("m1"), held("m2")) == {"m1", "m2"}


def test_a_host_that_becomes_free_wakes_machines_that_wait_for_one_like_it() -> None:
    world = site()
    waits = builders.condition("AssociateBareMetalHost", "False", "AssociateBareMetalHostFailed")
    for name, labels in (("m1", {"rack": "r1"}), ("m2", {"rack": "r2"})):
        patch = {"spec": {"hostSelector": {"matchLabels": labels}}}
        world.patch(kinds.METAL3_MACHINE, fixtures.key(name), patch)
        world.patch(kinds.METAL3_MACHINE, fixtures.key(name), {"status": {"conditions": [waits]}}, subresource="status")
    free = builders.host(metadata={"labels": {"rack": "r2"}})
    busy = builders.merge(free, {"status": {"provisioning": {"state": "deprovisioning"}}})
    assert woken(world, "metal3machine", kinds.BARE_METAL_HOST, busy, free) == {"m2"}
    assert woken(world, "metal3machine", kinds.BARE_METAL_HOST, free, free) == set()


@pytest.mark.parametrize(
    ("change", "wakes"),
    [
        ({"status": {"x": 1}}, False),
        ({"metadata": {"resourceVersion": "99", "managedFields": [1]}}, False),
        ({"metadata": {"labels": {"a": "b"}}}, True),
        ({"spec": {"x": 1}}, True),
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, True),
    ],
)
@pytest.mark.parametrize(
    ("manager", "kind", "name"),
    [("metal3machine", kinds.METAL3_MACHINE, "m1"), ("metal3cluster", kinds.METAL3_CLUSTER, "c1")],
)
def test_b42_a_status_write_wakes_nobody_of_its_own_kind(
    manager: str, kind: Kind, name: str, change: Raw, wakes: bool
) -> None:
    world = site()
    obj = stored(world, kind, name)
    assert (woken(world, manager, kind, obj, builders.merge(obj, change)) == {name}) is wakes


def marked(obj: Raw, mark: str) -> Raw:
    return builders.merge(obj, {"metadata": {"annotations": {mark: ""}}})  # type: ignore[no-any-return]


def test_a_paused_object_wakes_nobody_until_the_mark_is_gone() -> None:
    world = site()
    obj = stored(world, kinds.METAL3_MACHINE, "m1")
    paused = marked(obj, names.PAUSED_ANNOTATION)
    assert woken(world, "metal3machine", kinds.METAL3_MACHINE, obj, paused) == set()
    assert woken(world, "metal3machine", kinds.METAL3_MACHINE, paused, obj) == {"m1"}


def test_a_cluster_that_somebody_else_manages_wakes_nobody() -> None:
    world = site()
    obj = stored(world, kinds.METAL3_CLUSTER, "c1")
    assert woken(world, "metal3cluster", kinds.METAL3_CLUSTER, obj, marked(obj, names.MANAGED_BY_ANNOTATION)) == set()


def test_the_watch_filter_lets_only_its_own_label_pass() -> None:
    world = site()
    obj = stored(world, kinds.METAL3_MACHINE, "m1")
    labelled = builders.merge(obj, {"metadata": {"labels": {names.WATCH_FILTER_LABEL: "blue"}}})
    assert woken(world, "metal3machine", kinds.METAL3_MACHINE, None, obj, "blue") == set()
    assert woken(world, "metal3machine", kinds.METAL3_MACHINE, None, labelled, "blue") == {"m1"}


def paused(value: bool) -> Raw:
    return builders.cluster(spec={"paused": value})


CLUSTERS: list[tuple[str, Any, Any, set[str]]] = [
    ("appears", None, paused(False), {"c1"}),
    ("appears paused", None, paused(True), set()),
    ("is unpaused", paused(True), paused(False), {"c1"}),
    ("is paused", paused(False), paused(True), set()),
    ("changes otherwise", paused(False), paused(False), set()),
    ("goes", paused(False), None, set()),
]


@pytest.mark.parametrize(("old", "new", "expected"), [row[1:] for row in CLUSTERS], ids=[row[0] for row in CLUSTERS])
def test_a_cluster_wakes_its_metal3_cluster_when_it_starts(old: Any, new: Any, expected: set[str]) -> None:
    assert woken(site(), "metal3cluster", kinds.CLUSTER, old, new) == expected


def test_the_last_machine_wakes_the_cluster_that_waits_for_it() -> None:
    world = site()
    obj = stored(world, kinds.METAL3_MACHINE, "m1")
    assert woken(world, "metal3cluster", kinds.METAL3_MACHINE, obj, None) == {"c1"}
    assert woken(world, "metal3cluster", kinds.METAL3_MACHINE, obj, obj) == set()
