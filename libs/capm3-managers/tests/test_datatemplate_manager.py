"""The Metal3DataTemplate manager: indexes, claims apart from each other, and what makes a template go."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from typing import Any

import pytest
from capm3_api import kinds, meta, names
from capm3_api.meta import Kind
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import datatemplate, execute
from capm3_managers.datatemplate import indexes
from capm3_managers.env import Env
from capm3_managers.manager import Ports
from capm3_managers.plan import Create, Plan
from capm3_managers.ports import ApiError, Reader
from capm3_managers.testing import fixtures, peers, strict
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.world import World
from hypothesis import given, settings
from hypothesis import strategies as st

ENV = Env(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), random.Random(1))
TEMPLATE = fixtures.key("dt1")


def claim(name: str, **changes: Any) -> Raw:
    owner = builders.owners(builders.metal3_machine(name))
    return builders.merge(builders.data_claim(name, **owner), changes)


def site(*claims: str) -> World:
    world = strict.install(fixtures.site())
    world.create(builders.data_template("dt1"))
    for name in claims:
        world.create(claim(name))
    return world


def settle(world: World, **rest: Any) -> Scenario:
    run = Scenario(world, [datatemplate.MANAGER], **rest)
    run.until_settled()
    return run


def one_pass(world: World, reader: Reader | None = None) -> Plan:
    ports = Ports(reader or world.reader(), peers.Workloads(), peers.NoServers())
    snapshot = datatemplate.MANAGER.observe(ports, TEMPLATE, ENV)
    plan = datatemplate.MANAGER.decide(snapshot, ENV)
    execute.run(kinds.METAL3_DATA_TEMPLATE, snapshot.observed, plan, world)
    return plan


def there(world: World, kind: Kind, name: str) -> Raw:
    found = world.get(kind, fixtures.key(name))
    assert found is not None
    return found


def given_to(world: World) -> dict[str, int]:
    """Claim -> index, by the data objects."""
    return {item["spec"]["claim"]["name"]: item["spec"]["index"] for item in world.list(kinds.METAL3_DATA, "site-a")}


def listed(world: World) -> dict[str, int]:
    """Claim -> index, by the template's status."""
    status = there(world, kinds.METAL3_DATA_TEMPLATE, "dt1")["status"]
    return {entry["name"]: entry["index"] for entry in status.get("indexes") or []}


def test_a_claim_is_answered_with_data_that_knows_its_claim_and_machine() -> None:
    world = site("m1")
    settle(world)
    data = there(world, kinds.METAL3_DATA, "dt1-0")
    assert data["spec"] == {
        "index": 0,
        "template": {"name": "dt1", "namespace": "site-a"},
        "claim": {"name": "m1", "namespace": "site-a"},
    }
    metadata = data["metadata"]
    assert metadata["finalizers"] == [names.DATA_CLAIM_FINALIZER]
    assert metadata["labels"] == {names.CLUSTER_NAME_LABEL: "c1"}
    assert [(owner["kind"], owner.get("controller")) for owner in metadata["ownerReferences"]] == [
        ("Metal3DataClaim", True),
        ("Metal3Machine", None),
    ]
    answered = there(world, kinds.METAL3_DATA_CLAIM, "m1")
    assert answered["status"] == {"renderedData": {"name": "dt1-0", "namespace": "site-a"}}
    assert names.DATA_CLAIM_FINALIZER in answered["metadata"]["finalizers"]
    assert listed(world) == {"m1": 0}


def test_claims_get_the_lowest_free_indexes_in_the_order_of_their_names() -> None:
    world = site("a", "b", "c")
    settle(world)
    assert given_to(world) == listed(world) == {"a": 0, "b": 1, "c": 2}


def test_the_time_in_the_status_moves_only_with_the_list() -> None:
    world = site("m1")
    run = settle(world)
    version = meta.version_of(there(world, kinds.METAL3_DATA_TEMPLATE, "dt1"))
    run.restart()
    run.until_settled()
    assert meta.version_of(there(world, kinds.METAL3_DATA_TEMPLATE, "dt1")) == version


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"metadata": {"ownerReferences": None}}, "metal3Machine not found in owner references"),
        (
            {"spec": {"template": {"namespace": "other"}}},
            "spec.template names namespace other; only templates of namespace site-a are used",
        ),
    ],
)
def test_a_bad_claim_is_told_so_and_hinders_no_other(changes: Raw, error: str) -> None:
    world = site("z-good")
    world.create(claim("a-bad", **changes))
    settle(world)
    assert there(world, kinds.METAL3_DATA_CLAIM, "a-bad")["status"] == {"errorMessage": error}
    assert given_to(world) == {"z-good": 0}


def test_a_claim_without_a_template_is_nobodys_and_hinders_no_other() -> None:
    world = site("m1")
    world.put({**claim("m2"), "spec": {}})
    settle(world)
    assert given_to(world) == {"m1": 0}


@pytest.mark.parametrize("what", ["the cluster", "the claim"])
def test_a_paused_claim_waits_and_hinders_no_other(what: str) -> None:
    world = site("m1")
    if what == "the cluster":
        world.put(builders.ready_cluster("c2", spec={"paused": True}))
        world.create(claim("m2", metadata={"labels": {names.CLUSTER_NAME_LABEL: "c2"}}))
    else:
        world.create(claim("m2", metadata={"annotations": {names.PAUSED_ANNOTATION: ""}}))
    assert one_pass(world).requeue_after == 30
    assert given_to(world) == {"m1": 0}
    world.patch(
        kinds.CLUSTER, fixtures.key("c2"), {"spec": {"paused": False}}
    ) if what == "the cluster" else world.patch(
        kinds.METAL3_DATA_CLAIM, fixtures.key("m2"), {"metadata": {"annotations": None}}
    )
    settle(world)
    assert given_to(world) == {"m1": 0, "m2": 1}


def test_the_claim_beyond_512_is_told_why_it_waits_and_is_served_when_one_goes() -> None:
    world = fixtures.site()
    world.put(builders.data_template("dt1"))
    for number in range(indexes.LIMIT + 1):
        world.put(claim(f"m{number:03}"))
    one_pass(world)
    assert len(listed(world)) == len(given_to(world)) == 512
    refused = there(world, kinds.METAL3_DATA_CLAIM, "m512")
    assert "all 512 indexes of Metal3DataTemplate dt1 are in use" in refused["status"]["errorMessage"]
    assert "finalizers" not in refused["metadata"]
    world.delete(kinds.METAL3_DATA_CLAIM, fixtures.key("m007"))
    for _ in range(4):
        one_pass(world)
    assert given_to(world)["m512"] == 7
    assert "errorMessage" not in there(world, kinds.METAL3_DATA_CLAIM, "m512")["status"]


def test_a_template_that_goes_serves_its_claims_and_waits_for_them() -> None:
    world = site("m1")
    run = settle(world)
    world.delete(kinds.METAL3_DATA_TEMPLATE, TEMPLATE)
    run.until_settled()
    assert there(world, kinds.METAL3_DATA_TEMPLATE, "dt1")
    world.delete(kinds.METAL3_DATA_CLAIM, fixtures.key("m1"))
    run.until_settled()
    assert world.get(kinds.METAL3_DATA_TEMPLATE, TEMPLATE) is None
    assert world.list(kinds.METAL3_DATA, "site-a") == world.list(kinds.METAL3_DATA_CLAIM, "site-a") == []


def test_claims_of_a_template_that_vanished_by_force_can_go() -> None:
    world = site("m1")
    run = settle(world)
    world.patch(kinds.METAL3_DATA_TEMPLATE, TEMPLATE, {"metadata": {"finalizers": None}})
    world.delete(kinds.METAL3_DATA_TEMPLATE, TEMPLATE)
    world.delete(kinds.METAL3_DATA_CLAIM, fixtures.key("m1"))
    run.until_settled()
    assert world.list(kinds.METAL3_DATA, "site-a") == world.list(kinds.METAL3_DATA_CLAIM, "site-a") == []


def test_data_whose_claim_vanished_by_force_stays_as_long_as_its_machine() -> None:
    world = site()
    machine = world.put(builders.metal3_machine("m1"))
    world.create(builders.data_claim("m1", **builders.owners(machine)))
    run = settle(world)
    world.patch(kinds.METAL3_DATA_CLAIM, fixtures.key("m1"), {"metadata": {"finalizers": None}})
    world.delete(kinds.METAL3_DATA_CLAIM, fixtures.key("m1"))
    run.until_settled()
    assert given_to(world) == {"m1": 0}
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m1"))
    run.until_settled()
    assert world.list(kinds.METAL3_DATA, "site-a") == []
    assert listed(world) == {}


class Old:
    """A reader whose cached view is a frozen one; live reads are current."""

    def __init__(self, frozen: World, world: World) -> None:
        self._frozen, self._live = frozen.reader(), world.reader()

    def get(self, kind: Kind, key: meta.Key, *, live: bool = False) -> Raw | None:
        return (self._live if live else self._frozen).get(kind, key, live=live)

    def list(self, kind: Kind, namespace: str, *, live: bool = False, **rest: Any) -> Sequence[Raw]:
        return (self._live if live else self._frozen).list(kind, namespace, live=live, **rest)


def copied(world: World) -> World:
    other = World()
    for obj in world.all():
        other.put(obj)
    return other


@pytest.mark.parametrize("finalizer", [False, True], ids=["before the finalizer", "after the finalizer"])
def test_an_old_view_of_a_served_claim_gives_it_no_second_index(finalizer: bool) -> None:
    world = site("a", "b")
    one_pass(world)
    world.delete(kinds.METAL3_DATA_CLAIM, fixtures.key("a"))
    one_pass(world)
    old = copied(world)
    for name in ("b",):
        stale = there(old, kinds.METAL3_DATA_CLAIM, name)
        stale.pop("status")
        if not finalizer:
            stale["metadata"].pop("finalizers")
            stale["metadata"]["resourceVersion"] = "1"
        old.put(stale)
    for data in old.list(kinds.METAL3_DATA, "site-a"):
        old.patch(kinds.METAL3_DATA, meta.key_of(data), {"metadata": {"finalizers": None}})
        old.delete(kinds.METAL3_DATA, meta.key_of(data))
    try:
        one_pass(world, Old(old, world))
    except ApiError as error:
        assert error.is_conflict or error.already_exists
    assert given_to(world) == {"b": 1}


def test_a_name_that_is_taken_stops_the_pass_instead_of_sharing_the_index() -> None:
    world = site("m1")
    world.put(builders.data("dt1-0", spec={"template": {"name": "another"}, "claim": {"name": "x"}}))
    with pytest.raises(ApiError) as caught:
        one_pass(world)
    assert caught.value.already_exists


@settings(max_examples=200, deadline=None)
@given(st.sets(st.integers(0, 40)), st.lists(st.text("abc", min_size=1, max_size=3), unique=True, max_size=20))
def test_indexes_are_unique_free_and_as_low_as_possible(used: set[int], claims: list[str]) -> None:
    found = indexes.assign(claims, used)
    assert list(found) == claims
    assert len(set(found.values())) == len(claims) and not used & set(found.values())
    everything = used | set(found.values())
    assert all(index in everything for top in found.values() for index in range(top))


@given(st.integers(0, 600), st.integers(0, 600))
def test_never_more_than_512_indexes_are_in_use(used: int, claims: int) -> None:
    found = indexes.assign([f"c{number}" for number in range(claims)], range(used))
    assert len(found) == max(0, min(claims, 512 - used))


def test_a_pass_makes_no_more_requests_than_it_has_to() -> None:
    world = site("a", "b")
    plan = one_pass(world)
    assert len(plan.actions) == 6 and sum(isinstance(action, Create) for action in plan.actions) == 2
    assert one_pass(world).actions == ()


def test_a_template_whose_data_could_not_be_named_is_told_to_the_claim() -> None:
    world = strict.install(fixtures.site())
    name = "t" * 252
    world.create(builders.data_template(name))
    world.create(claim("m0", spec={"template": {"name": name}}))
    settle(world)
    refused = there(world, kinds.METAL3_DATA_CLAIM, "m0")
    assert "too long" in refused["status"]["errorMessage"] and "finalizers" not in refused["metadata"]
