"""The IPPool manager over `World`: both kinds of claims, errors apart from each other, release, and silence."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from typing import Any

import pytest
from capm3_api import condition, kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import execute, ippool
from capm3_managers.env import Env
from capm3_managers.ippool import flavours
from capm3_managers.manager import Ports
from capm3_managers.ports import ApiError, Reader
from capm3_managers.testing import consistency, fixtures, peers, strict
from capm3_managers.testing.scenario import Faults, Scenario
from capm3_managers.testing.world import World

ENV = Env(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), random.Random(1))
POOL = fixtures.key("pool1")


def site(*claims: str, **changes: Any) -> World:
    world = strict.install(World())
    world.create(builders.ip_pool("pool1", **changes))
    for name in claims:
        world.create(builders.ip_claim(name))
    return world


def settle(world: World, **rest: Any) -> Scenario:
    run = Scenario(world, [ippool.MANAGER], **rest)
    run.until_settled()
    return run


def there(world: World, kind: Kind, name: str) -> Raw:
    found = world.get(kind, fixtures.key(name))
    assert found is not None
    return found


def address_of(world: World, claim: str, kind: Kind = kinds.IP_CLAIM) -> str:
    """What a claim was given; its error otherwise."""
    found = there(world, kind, claim)
    flavour = flavours.of(found)
    assert flavour is not None
    if not flavour.answer(found):
        status = found.get("status") or {}
        return str(status.get("errorMessage") or (condition.get(found, "Ready") or {}).get("reason"))
    return str(there(world, flavour.address, flavour.answer(found))["spec"]["address"])


def test_a_claim_is_answered_with_an_address_object() -> None:
    world = site("c1")
    world.patch(kinds.IP_CLAIM, fixtures.key("c1"), {"metadata": {"labels": {"a": "b"}}})
    settle(world)
    claim, address = there(world, kinds.IP_CLAIM, "c1"), there(world, kinds.IP_ADDRESS, "pool1-192-0-2-10")
    assert claim["status"] == {"address": {"name": "pool1-192-0-2-10", "namespace": "site-a"}}
    assert claim["metadata"]["finalizers"] == ["ipclaim.ipam.metal3.io"]
    assert address["spec"] == {
        "address": "192.0.2.10",
        "pool": {"name": "pool1", "namespace": "site-a"},
        "claim": {"name": "c1", "namespace": "site-a"},
        "prefix": 24,
        "gateway": "192.0.2.1",
        "dnsServers": ["192.0.2.53"],
    }
    assert address["metadata"]["labels"] == {"a": "b"}
    assert [owner["kind"] for owner in address["metadata"]["ownerReferences"]] == ["IPPool", "IPClaim"]
    pool = there(world, kinds.IP_POOL, "pool1")
    assert pool["status"]["indexes"] == {"c1": "192.0.2.10"}
    assert pool["metadata"]["finalizers"] == [flavours.POOL_FINALIZER]


def test_a_claim_of_cluster_api_is_answered_in_its_own_form() -> None:
    world = site("c1")
    world.put(builders.ip_address_claim("c2"))
    settle(world)
    claim = there(world, kinds.CAPI_IP_ADDRESS_CLAIM, "c2")
    assert condition.is_true(claim, "Ready") and (condition.get(claim, "Ready") or {})["reason"]
    address = there(world, kinds.CAPI_IP_ADDRESS, claim["status"]["addressRef"]["name"])
    assert address["spec"] == {
        "address": "192.0.2.11",
        "poolRef": {"name": "pool1", "kind": "IPPool", "apiGroup": "ipam.metal3.io"},
        "claimRef": {"name": "c2"},
        "prefix": 24,
        "gateway": "192.0.2.1",
    }


def test_a_claim_for_a_pool_of_another_provider_with_the_same_name_is_left_alone() -> None:
    world = site()
    ref = {"poolRef": {"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": "pool1"}}
    before = world.put(builders.ip_address_claim("c2", spec=ref))
    settle(world)
    assert there(world, kinds.CAPI_IP_ADDRESS_CLAIM, "c2") == before


def test_claims_of_both_kinds_with_one_name_get_an_address_each() -> None:
    world = site("c1")
    world.put(builders.ip_address_claim("c1"))
    settle(world)
    assert {address_of(world, "c1"), address_of(world, "c1", kinds.CAPI_IP_ADDRESS_CLAIM)} == {
        "192.0.2.10",
        "192.0.2.11",
    }


def test_b32_one_bad_claim_hinders_no_other_and_wakes_nobody() -> None:
    world = site(spec={"pools": [{"start": "192.0.2.10", "end": "192.0.2.12"}]})
    bad = builders.ip_claim("bad", metadata={"annotations": {"ipAddress": "198.51.100.9"}})
    for claim in (bad, *(builders.ip_claim(name) for name in ("good-1", "good-2", "good-3", "x-extra"))):
        world.create(claim)
    run = settle(world)
    assert {address_of(world, f"good-{number}") for number in (1, 2, 3)} == {f"192.0.2.1{n}" for n in (0, 1, 2)}
    assert address_of(world, "bad") == address_of(world, "x-extra") == "Exhausted IP Pools"
    version, passes = meta.version_of(there(world, kinds.IP_POOL, "pool1")), len(run.passes)
    run.until_settled()
    assert meta.version_of(there(world, kinds.IP_POOL, "pool1")) == version
    assert len(run.passes) == passes


def test_a_refused_claim_is_served_once_the_pool_has_room() -> None:
    world = site("c1", "c2", spec={"pools": [{"start": "192.0.2.10", "end": "192.0.2.10"}]})
    run = settle(world)
    assert address_of(world, "c2") == "Exhausted IP Pools"
    world.patch(kinds.IP_POOL, POOL, {"spec": {"pools": [{"start": "192.0.2.10", "end": "192.0.2.11"}]}})
    run.until_settled()
    assert address_of(world, "c2") == "192.0.2.11"
    assert "errorMessage" not in there(world, kinds.IP_CLAIM, "c2")["status"]


def test_a_refused_claim_is_served_once_another_gives_its_address_back() -> None:
    world = site("c1", "c2", spec={"pools": [{"start": "192.0.2.10", "end": "192.0.2.10"}]})
    run = settle(world)
    world.delete(kinds.IP_CLAIM, fixtures.key("c1"))
    run.until_settled()
    assert world.get(kinds.IP_CLAIM, fixtures.key("c1")) is None
    assert address_of(world, "c2") == "192.0.2.10"
    assert there(world, kinds.IP_POOL, "pool1")["status"]["indexes"] == {"c2": "192.0.2.10"}


def test_a_claim_that_somebody_else_holds_keeps_its_address() -> None:
    world = site()
    world.create(builders.ip_claim("c1", metadata={"finalizers": ["example.com/held"]}))
    run = settle(world)
    world.delete(kinds.IP_CLAIM, fixtures.key("c1"))
    run.until_settled()
    assert address_of(world, "c1") == "192.0.2.10"
    assert there(world, kinds.IP_POOL, "pool1")["status"]["indexes"] == {"c1": "192.0.2.10"}


def test_a_pool_goes_when_its_last_address_went() -> None:
    world = site("c1")
    run = settle(world)
    world.delete(kinds.IP_POOL, POOL)
    run.until_settled()
    assert there(world, kinds.IP_POOL, "pool1")["metadata"]["deletionTimestamp"]
    world.delete(kinds.IP_CLAIM, fixtures.key("c1"))
    run.until_settled()
    assert world.all() == []


def test_claims_of_a_pool_that_vanished_by_force_can_go() -> None:
    world = site("c1")
    run = settle(world)
    world.patch(kinds.IP_POOL, POOL, {"metadata": {"finalizers": None}})
    world.delete(kinds.IP_POOL, POOL)
    world.delete(kinds.IP_CLAIM, fixtures.key("c1"))
    run.until_settled()
    assert world.all() == []


def test_an_address_whose_claim_vanished_by_force_is_free_again() -> None:
    world = site("c1")
    run = settle(world)
    world.patch(kinds.IP_CLAIM, fixtures.key("c1"), {"metadata": {"finalizers": None}})
    world.delete(kinds.IP_CLAIM, fixtures.key("c1"))
    world.create(builders.ip_claim("c2"))
    world.patch(kinds.IP_POOL, POOL, {"metadata": {"annotations": {"touch": "1"}}})
    run.until_settled()
    assert [meta.key_of(item).name for item in world.list(kinds.IP_ADDRESS, "site-a")] != []
    held = {item["spec"]["claim"]["name"] for item in world.list(kinds.IP_ADDRESS, "site-a")}
    assert held == {"c2"}


def test_an_address_object_deleted_by_hand_comes_back_and_is_given_to_nobody_else() -> None:
    world = site("c1")
    run = settle(world)
    key = fixtures.key("pool1-192-0-2-10")
    world.patch(kinds.IP_ADDRESS, key, {"metadata": {"finalizers": None}})
    world.delete(kinds.IP_ADDRESS, key)
    world.create(builders.ip_claim("a-new-one"))
    run.until_settled()
    assert address_of(world, "c1") == "192.0.2.10"
    assert address_of(world, "a-new-one") == "192.0.2.11"


def test_an_address_made_by_hand_is_kept_and_not_given_away() -> None:
    world = site("c1")
    kept = world.create(builders.ip_address("by-hand", claim="reserved"))
    settle(world)
    assert there(world, kinds.IP_ADDRESS, "by-hand") == kept
    assert address_of(world, "c1") == "192.0.2.11"


def test_pools_that_share_a_name_prefix_and_a_range_share_it_without_a_clash() -> None:
    world = site("c1")
    world.create(builders.ip_pool("pool2", spec={"namePrefix": "pool1"}))
    world.create(builders.ip_claim("c2", pool="pool2"))
    settle(world)
    assert {address_of(world, "c1"), address_of(world, "c2")} == {"192.0.2.10", "192.0.2.11"}


def test_b10_a_claim_that_names_a_pool_of_another_namespace_is_refused() -> None:
    world = site()
    world.create(builders.ip_claim("c1", spec={"pool": {"namespace": "site-b"}}))
    settle(world)
    assert address_of(world, "c1") == "spec.pool names namespace site-b; only IPPools of namespace site-a are used"


def test_a_pool_waits_for_its_cluster_belongs_to_it_and_pauses_with_it() -> None:
    world = site("c1", spec={"clusterName": "c1"})
    run = settle(world)
    assert address_of(world, "c1") == "None"
    cluster = world.put(builders.ready_cluster("c1", spec={"paused": True}))
    run.until_settled()
    assert address_of(world, "c1") == "None"
    world.patch(kinds.CLUSTER, fixtures.key("c1"), {"spec": {"paused": False}})
    run.until_settled()
    assert address_of(world, "c1") == "192.0.2.10"
    metadata = there(world, kinds.IP_POOL, "pool1")["metadata"]
    assert metadata["labels"]["cluster.x-k8s.io/provider"] == "ipam-metal3"
    owner = metadata["ownerReferences"][0]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Cluster", meta.uid_of(cluster), False)


def test_the_owner_reference_follows_a_cluster_that_was_made_anew() -> None:
    old = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "name": "c1", "uid": "old"}
    world = site(spec={"clusterName": "c1"}, metadata={"ownerReferences": [old]})
    cluster = world.put(builders.ready_cluster("c1"))
    settle(world)
    owners = there(world, kinds.IP_POOL, "pool1")["metadata"]["ownerReferences"]
    assert owners == [{**old, "uid": meta.uid_of(cluster)}]


class Failing:
    """A reader whose lists of one kind fail."""

    def __init__(self, reader: Reader, kind: Kind) -> None:
        self._reader = reader
        self._kind = kind
        self.get = reader.get

    def list(self, kind: Kind, namespace: str, **rest: Any) -> Sequence[Raw]:
        if kind == self._kind:
            raise ApiError(410, "Expired", "the continue token is too old")
        return self._reader.list(kind, namespace, **rest)


def one_pass(world: World, failing: Kind | None = None) -> int:
    reader = world.reader()
    ports = Ports(Failing(reader, failing) if failing else reader, peers.Workloads(), peers.NoServers())
    snapshot = ippool.MANAGER.observe(ports, POOL, ENV)
    plan = ippool.MANAGER.decide(snapshot, ENV)
    before = len(world.writes)
    execute.run(kinds.IP_POOL, snapshot.observed, plan, world)
    return len(world.writes) - before


def test_b35_a_failed_list_aborts_the_pass_and_the_next_one_serves_all_1203_claims() -> None:
    world = World()
    world.put(builders.ip_pool("pool1", spec={"pools": [{"subnet": "10.0.0.0/16"}]}))
    for number in range(1203):
        world.put(builders.ip_claim(f"c{number:04}"))
    before = world.all()
    for kind in (kinds.IP_CLAIM, kinds.IP_ADDRESS, kinds.CAPI_IP_ADDRESS_CLAIM):
        with pytest.raises(ApiError):
            one_pass(world, kind)
        assert world.all() == before
    assert one_pass(world) == 2 + 3 * 1203
    addresses = {item["spec"]["address"] for item in world.list(kinds.IP_ADDRESS, "site-a")}
    assert len(addresses) == 1203
    assert len(there(world, kinds.IP_POOL, "pool1")["status"]["indexes"]) == 1203
    assert one_pass(world) == 0


@pytest.mark.parametrize("strategy", ["sequential", "random"])
@pytest.mark.parametrize("seed", range(3))
def test_no_address_is_given_twice_under_lag_and_conflicts(strategy: str, seed: int) -> None:
    world = site(*(f"c{number}" for number in range(5)), spec={"allocationStrategy": strategy})
    for number in range(3):
        world.put(builders.ip_address_claim(f"k{number}"))
    settle(world, seed=seed, faults=Faults(lag=6, conflict_rate=0.3, workers=3))
    given = [address_of(world, f"c{number}") for number in range(5)]
    given += [address_of(world, f"k{number}", kinds.CAPI_IP_ADDRESS_CLAIM) for number in range(3)]
    assert len(set(given)) == 8 and all(address.startswith("192.0.2.") for address in given)
    assert len(world.list(kinds.IP_ADDRESS, "site-a")) == 5


def life(world: World, crash: int = 0) -> tuple[World, int]:
    run = Scenario(world, [ippool.MANAGER])
    if crash:
        run.crash_after(crash)
    run.until_settled()
    world.delete(kinds.IP_CLAIM, fixtures.key("c1"))
    if crash:
        run.crash_after(crash)
    run.until_settled()
    return world, run.hand.writes


def mixed() -> World:
    world = site("c1", "c2")
    world.put(builders.ip_address_claim("k1"))
    return world


@pytest.mark.parametrize("after", range(1, 1 + life(mixed())[1]))
def test_a_crash_after_any_write_leads_to_the_same_world(after: int) -> None:
    assert consistency.plain(life(mixed(), after)[0].all()) == consistency.plain(life(mixed())[0].all())


def test_a_preallocated_address_stays_reserved_after_its_claim_went() -> None:
    world = site("mine", "other", spec={"preAllocations": {"mine": "192.0.2.10"}})
    run = settle(world)
    assert (address_of(world, "mine"), address_of(world, "other")) == ("192.0.2.10", "192.0.2.11")
    world.delete(kinds.IP_CLAIM, fixtures.key("mine"))
    world.create(builders.ip_claim("third"))
    run.until_settled()
    assert address_of(world, "third") == "192.0.2.12"


def test_claims_of_another_namespace_are_not_seen() -> None:
    world = site("c1")
    before = world.create(builders.ip_claim("c1", "site-b"))
    settle(world)
    assert world.get(kinds.IP_CLAIM, Key("site-b", "c1")) == before


@pytest.mark.parametrize("prefix", ["Pool_A", "-", "p" * 250])
def test_a_name_prefix_that_makes_no_name_is_told_to_the_claims_instead_of_tried_for_ever(prefix: str) -> None:
    world = site("c1", spec={"namePrefix": prefix})
    settle(world)
    told = address_of(world, "c1")
    assert told.startswith("Failed to create associated IPAddress object: ") and "spec.namePrefix" in told
