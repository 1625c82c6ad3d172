"""The chain from template to Secret over `World`: whole lives, crashes, lags, and every order of deletion."""

from __future__ import annotations

import base64
import itertools

import pytest
import yaml
from capm3_api import condition, kinds, names
from capm3_api.meta import Key
from capm3_api.testing import builders
from capm3_managers.data import report
from capm3_managers.testing import consistency, datasite, fixtures
from capm3_managers.testing.faults import Fault
from capm3_managers.testing.scenario import Faults
from capm3_managers.testing.world import World

ROUGH = Faults(lag=5, conflict_rate=0.3, workers=8)


def text(world: World, secret: str, key: str) -> str:
    return base64.b64decode(datasite.one(world, kinds.SECRET, secret)["data"][key]).decode()


def test_a_machine_gets_its_data_and_an_address() -> None:
    world = datasite.site()
    datasite.scenario(world).until_settled()
    assert text(world, "m0-metadata", "metaData") == "ip: 192.0.2.10\nname: m0\nproviderid: site-a/h-m0/m0\n"
    network = yaml.safe_load(text(world, "m0-networkdata", "networkData"))["networks"][0]
    assert (network["ip_address"], network["netmask"]) == ("192.0.2.10", "255.255.255.0")
    data = datasite.one(world, kinds.METAL3_DATA, "dt1-0")
    assert data["status"] == {"ready": True}
    assert report.ANNOTATION not in (data["metadata"].get("annotations") or {})
    template = datasite.one(world, kinds.METAL3_DATA_TEMPLATE, "dt1")
    assert template["status"]["indexes"] == [{"name": "m0", "index": 0}]
    assert datasite.one(world, kinds.IP_POOL, "pool1")["status"]["indexes"] == {"dt1-0-pool1": "192.0.2.10"}
    secret = datasite.one(world, kinds.SECRET, "m0-metadata")
    assert secret["type"] == names.RENDERED_SECRET_TYPE
    assert condition.is_true(fixtures.metal3_machine(world, "m0"), "Metal3DataReady")


def in_turn(*machines: str) -> World:
    """A site whose machines came one after the other."""
    world = datasite.site(0)
    for name in machines:
        datasite.add_machine(world, name)
        datasite.scenario(world).until_settled()
    return world


def test_a_deleted_machine_leaves_no_data_claim_address_or_secret() -> None:
    world = in_turn("m0", "m1")
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    datasite.scenario(world).until_settled()
    assert datasite.names(world, kinds.METAL3_DATA) == ["dt1-1"]
    assert datasite.names(world, kinds.IP_CLAIM) == ["dt1-1-pool1"]
    assert datasite.names(world, kinds.IP_ADDRESS) == ["pool1-192-0-2-11"]
    assert datasite.names(world, kinds.METAL3_DATA_CLAIM) == ["m1"]
    assert world.get(kinds.SECRET, fixtures.key("m0-metadata")) is None
    template = datasite.one(world, kinds.METAL3_DATA_TEMPLATE, "dt1")
    assert template["status"]["indexes"] == [{"name": "m1", "index": 1}]


def test_a_freed_index_and_address_are_used_again() -> None:
    world = in_turn("m0", "m1")
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    datasite.scenario(world).until_settled()
    datasite.add_machine(world, "m9")
    datasite.scenario(world).until_settled()
    assert text(world, "m9-metadata", "metaData").startswith("ip: 192.0.2.10\n")
    assert datasite.one(world, kinds.METAL3_DATA, "dt1-0")["spec"]["claim"]["name"] == "m9"


@pytest.mark.parametrize("seed", range(3))
def test_machines_get_indexes_and_addresses_of_their_own_under_lag_and_conflicts(seed: int) -> None:
    count = 6
    world = datasite.site(count)
    datasite.scenario(world, seed=seed, faults=ROUGH).until_settled(20000)
    addresses = {obj["spec"]["address"] for obj in world.list(kinds.IP_ADDRESS, fixtures.NAMESPACE)}
    assert len(addresses) == count
    indexes = [obj["spec"]["index"] for obj in world.list(kinds.METAL3_DATA, fixtures.NAMESPACE)]
    assert len(indexes) == len(set(indexes)) == count
    for number in range(count):
        assert yaml.safe_load(text(world, f"m{number}-metadata", "metaData"))["ip"] in addresses


def written() -> int:
    """Writes of a whole life, created and deleted, without faults."""
    world = datasite.site()
    run = datasite.scenario(world)
    run.until_settled()
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    run.until_settled()
    return run.hand.writes


@pytest.mark.parametrize("after", range(1, written() + 1))
def test_a_crash_after_any_write_leads_to_the_same_world(after: int) -> None:
    calm, crashed = datasite.site(), datasite.site()
    datasite.scenario(calm).until_settled()
    run = datasite.scenario(crashed)
    run.crash_after(after)
    run.until_settled()
    assert consistency.plain(crashed.all()) == consistency.plain(calm.all())
    crashed.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    calm.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    datasite.scenario(calm).until_settled()
    again = datasite.scenario(crashed)
    again.crash_after(after)
    again.until_settled()
    assert consistency.plain(crashed.all()) == consistency.plain(calm.all())


DELETED = (
    (kinds.METAL3_DATA_TEMPLATE, "dt1"),
    (kinds.METAL3_DATA_CLAIM, "m0"),
    (kinds.METAL3_DATA, "dt1-0"),
    (kinds.METAL3_MACHINE, "m0"),
    (kinds.IP_POOL, "pool1"),
)


@pytest.mark.parametrize("order", list(itertools.permutations(range(5))), ids=lambda order: "".join(map(str, order)))
def test_b30_deleting_in_any_order_leaves_nothing(order: tuple[int, ...]) -> None:
    world = datasite.site()
    run = datasite.scenario(world)
    run.until_settled(silent=False)
    before = len(run.passes)
    for number in order:
        kind, name = DELETED[number]
        if world.get(kind, fixtures.key(name)) is not None:
            world.delete(kind, fixtures.key(name))
        run.until_settled(silent=False)
    assert datasite.left(world) == []
    assert len(run.passes) - before < 200
    host = fixtures.host(world, "h-m0")
    assert "consumerRef" not in host["spec"]


def test_b29_data_of_a_running_machine_is_kept_until_the_machine_goes() -> None:
    world = datasite.site()
    run = datasite.scenario(world)
    run.until_settled()
    world.delete(kinds.METAL3_DATA, fixtures.key("dt1-0"))
    run.until_settled()
    data = datasite.one(world, kinds.METAL3_DATA, "dt1-0")
    assert names.DATA_FINALIZER in data["metadata"]["finalizers"]
    told = report.of(data)
    assert told is not None and told.reason == report.DELETION_BLOCKED and "m0" in told.message
    world.delete(kinds.METAL3_DATA_CLAIM, fixtures.key("m0"))
    run.until_settled()
    assert text(world, "m0-metadata", "metaData") and datasite.names(world, kinds.IP_ADDRESS) == ["pool1-192-0-2-10"]
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    run.until_settled()
    assert datasite.left(world, (kinds.METAL3_DATA_CLAIM, kinds.METAL3_DATA, kinds.IP_CLAIM, kinds.IP_ADDRESS)) == []


def test_b28_deleting_data_leaves_those_of_another_namespace_alone() -> None:
    world = datasite.site()
    other = [
        builders.ip_pool("pool1", "site-b"),
        builders.data_template("dt1", "site-b"),
        builders.data("dt1-0", "site-b", metadata={"finalizers": [names.DATA_FINALIZER]}),
        builders.ip_claim("dt1-0-pool1", "site-b", metadata={"finalizers": [names.DATA_FINALIZER]}),
    ]
    for obj in other:
        world.put(obj)
    run = datasite.scenario(world)
    run.until_settled(silent=False)
    kept = world.list(kinds.IP_CLAIM, "site-b")
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    run.until_settled(silent=False)
    assert datasite.names(world, kinds.IP_CLAIM) == []
    assert world.list(kinds.IP_CLAIM, "site-b") == kept


def test_b19_data_named_by_an_older_rule_goes_with_its_claim() -> None:
    world = datasite.site(0)
    owner = fixtures.add_machine(world, "m1", spec={"dataTemplate": {"name": "workers-v2"}})
    world.put(builders.data_template("workers-v2"))
    claim = builders.data_claim(
        "m1",
        spec={"template": {"name": "workers-v2"}},
        status={"renderedData": {"name": "workers-0"}},
        metadata={"finalizers": [names.DATA_CLAIM_FINALIZER]},
        **builders.merge({}, {}),
    )
    claim["metadata"]["ownerReferences"] = builders.owners(owner)["metadata"]["ownerReferences"]
    claim = world.put(claim)
    spec = {"index": 0, "template": {"name": "workers-v2"}, "claim": {"name": "m1"}}
    finalizers = [names.DATA_CLAIM_FINALIZER, names.DATA_FINALIZER]
    data = world.put(builders.data("workers-0", spec=spec, metadata={"finalizers": finalizers}))
    held = builders.ip_claim("workers-0-pool1", metadata={"finalizers": [names.DATA_FINALIZER]})
    held["metadata"]["ownerReferences"] = builders.owners(data)["metadata"]["ownerReferences"]
    world.put(held)
    world.delete(kinds.METAL3_DATA_CLAIM, fixtures.key("m1"))
    datasite.scenario(world).until_settled(silent=False)
    assert world.get(kinds.METAL3_DATA, fixtures.key("workers-0")) is None
    assert datasite.names(world, kinds.IP_CLAIM) == []


def test_claims_of_data_that_vanished_by_force_are_given_back() -> None:
    world = datasite.site()
    run = datasite.scenario(world)
    run.until_settled()
    key = fixtures.key("dt1-0")
    world.patch(kinds.METAL3_DATA, key, {"metadata": {"finalizers": None}})
    world.delete(kinds.METAL3_DATA, key)
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    run.until_settled(silent=False)
    assert datasite.left(world, (kinds.METAL3_DATA_CLAIM, kinds.METAL3_DATA, kinds.IP_CLAIM, kinds.IP_ADDRESS)) == []


@pytest.mark.parametrize("plural", ["metal3dataclaims", "metal3datas", "ipclaims", "ipaddresses", "ippools", "secrets"])
def test_b35_refused_reads_and_writes_change_nothing_in_the_end(plural: str) -> None:
    world, calm = datasite.site(), datasite.site()
    datasite.scenario(calm).until_settled()
    for verb in ("get", "list", "create", "patch"):
        world.inject(Fault(verb, plural, status=503, times=2))
    datasite.scenario(world).until_settled()
    world.clear_faults()
    assert consistency.plain(world.all()) == consistency.plain(calm.all())


def test_a_pool_named_by_an_annotation_is_given_back() -> None:
    template = {
        "networkData": {
            "networks": {
                "ipv4DHCP": [
                    {
                        "id": "n0",
                        "link": "e0",
                        "routes": [
                            {
                                "network": "0.0.0.0",
                                "gateway": {"fromPoolAnnotation": {"object": "machine", "annotation": "pool"}},
                            }
                        ],
                    }
                ]
            }
        }
    }
    world = datasite.site(template=template, pool={"spec": {"gateway": "192.0.2.1"}})
    world.patch(kinds.MACHINE, fixtures.key("m0"), {"metadata": {"annotations": {"pool": "pool1"}}})
    run = datasite.scenario(world)
    run.until_settled()
    network = yaml.safe_load(text(world, "m0-networkdata", "networkData"))["networks"][0]
    assert network["routes"][0]["gateway"] == "192.0.2.1"
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    run.until_settled()
    assert datasite.names(world, kinds.IP_CLAIM) == []


def test_unknown_fields_of_the_objects_survive() -> None:
    world = fixtures.site()
    world.put(builders.ip_pool("pool1", spec={"future": {"a": [1]}}))
    world.put({**builders.data_template("dt1"), "spec": {**datasite.TEMPLATE, "future": 1}})
    datasite.add_machine(world, "m0")
    run = datasite.scenario(world)
    run.until_settled()
    for kind, name in ((kinds.METAL3_DATA, "dt1-0"), (kinds.METAL3_DATA_CLAIM, "m0"), (kinds.IP_CLAIM, "dt1-0-pool1")):
        world.patch(kind, fixtures.key(name), {"spec": {"future": "kept"}, "status": {"future": "kept"}})
        world.patch(kind, fixtures.key(name), {"status": {"future": "kept"}}, subresource="status")
    world.delete(kinds.SECRET, fixtures.key("m0-metadata"))
    world.patch(kinds.METAL3_DATA, Key(fixtures.NAMESPACE, "dt1-0"), {"metadata": {"annotations": {"touch": "1"}}})
    run.until_settled()
    assert world.get(kinds.SECRET, fixtures.key("m0-metadata")) is not None
    for kind, name in ((kinds.METAL3_DATA, "dt1-0"), (kinds.METAL3_DATA_CLAIM, "m0"), (kinds.IP_CLAIM, "dt1-0-pool1")):
        found = datasite.one(world, kind, name)
        assert found["spec"]["future"] == found["status"]["future"] == "kept"
    assert datasite.one(world, kinds.IP_POOL, "pool1")["spec"]["future"] == {"a": [1]}


def test_after_a_move_without_status_everything_finds_its_own_again() -> None:
    world = in_turn("m0", "m1")
    before = consistency.plain(world.all())
    for kind in (*datasite.LEFT_BEHIND, kinds.IP_POOL, kinds.IP_CLAIM):
        for obj in world.list(kind, fixtures.NAMESPACE):
            world.put({name: value for name, value in obj.items() if name != "status"})
    secrets = world.list(kinds.SECRET, fixtures.NAMESPACE)
    datasite.scenario(world).until_settled()
    assert consistency.plain(world.all()) == before
    assert world.list(kinds.SECRET, fixtures.NAMESPACE) == secrets
