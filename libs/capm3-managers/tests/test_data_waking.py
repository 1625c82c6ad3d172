"""What wakes the managers of data and addresses, seen through whole chains and through the table of watches."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from capm3_api import condition, kinds
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import watches
from capm3_managers.data import report
from capm3_managers.testing import datasite, fixtures
from capm3_managers.testing.world import World


def links(interface: str) -> Raw:
    mac = {"fromHostInterface": interface}
    return {"networkData": {"links": {"ethernets": [{"id": "p0", "type": "phy", "macAddress": mac}]}}}


def test_b26_the_machine_says_which_interface_is_missing_and_goes_on_once_the_host_has_it() -> None:
    world = datasite.site(template=links("enp9s0"))
    run = datasite.scenario(world)
    run.until_settled()
    told = condition.get(fixtures.metal3_machine(world, "m0"), "Metal3DataReady") or {}
    assert told["reason"] == report.HOST_INTERFACE_NOT_FOUND
    assert "enp9s0" in told["message"] and "eth0 (00:00:5e:00:53:01)" in told["message"]
    nics = [{"name": "enp9s0", "mac": "02:00:00:00:0a:09"}]
    world.patch(
        kinds.BARE_METAL_HOST, fixtures.key("h-m0"), {"status": {"hardware": {"nics": nics}}}, subresource="status"
    )
    run.until_settled()
    assert condition.is_true(fixtures.metal3_machine(world, "m0"), "Metal3DataReady")
    secret = datasite.one(world, kinds.SECRET, "m0-networkdata")
    assert "02:00:00:00:0a:09" in base64.b64decode(secret["data"]["networkData"]).decode()
    assert report.of(datasite.one(world, kinds.METAL3_DATA, "dt1-0")) is None


def test_b34_one_template_mixes_both_kinds_of_claims() -> None:
    ref = {"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": "p1"}
    template = {
        "networkData": {
            "networks": {
                "ipv4": [
                    {"id": "a", "link": "e", "ipAddressFromIPPool": "pool1"},
                    {"id": "b", "link": "e", "fromPoolRef": ref},
                ]
            }
        }
    }
    world = datasite.site(template=template)
    run = datasite.scenario(world)
    run.until_settled()
    assert datasite.one(world, kinds.METAL3_DATA, "dt1-0")["status"] == {"ready": False}
    world.put(builders.capi_ip_address("p1-a", claim="dt1-0-p1", spec={"address": "192.0.2.70", "prefix": 24}))
    patch = {"status": {"addressRef": {"name": "p1-a"}}}
    world.patch(kinds.CAPI_IP_ADDRESS_CLAIM, fixtures.key("dt1-0-p1"), patch, subresource="status")
    run.until_settled()
    secret = datasite.one(world, kinds.SECRET, "m0-networkdata")
    text = base64.b64decode(secret["data"]["networkData"]).decode()
    assert "ip_address: 192.0.2.10" in text and "ip_address: 192.0.2.70" in text
    world.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    run.until_settled()
    assert datasite.names(world, kinds.CAPI_IP_ADDRESS_CLAIM) == datasite.names(world, kinds.IP_CLAIM) == []


def test_an_exhausted_pool_is_told_on_the_machine() -> None:
    world = datasite.site(2, pool={"spec": {"pools": [{"start": "192.0.2.10", "end": "192.0.2.10"}]}})
    run = datasite.scenario(world)
    run.until_settled()
    machines = [fixtures.metal3_machine(world, name) for name in ("m0", "m1")]
    (waiting,) = [item for item in machines if not condition.is_true(item, "Metal3DataReady")]
    told = condition.get(waiting, "Metal3DataReady") or {}
    assert told["reason"] == report.ADDRESS_NOT_ALLOCATED
    assert told["message"] == "IP Allocation for pool1 failed : Exhausted IP Pools"
    world.patch(
        kinds.IP_POOL, fixtures.key("pool1"), {"spec": {"pools": [{"start": "192.0.2.10", "end": "192.0.2.11"}]}}
    )
    run.until_settled()
    assert condition.is_true(fixtures.metal3_machine(world, waiting["metadata"]["name"]), "Metal3DataReady")


OWNED = {
    "metadata": {"ownerReferences": [{"apiVersion": kinds.METAL3_DATA.api_version, "kind": "Metal3Data", "name": "d"}]}
}


def data(ready: bool) -> Raw:
    owners = [
        {"apiVersion": kinds.METAL3_MACHINE.api_version, "kind": "Metal3Machine", "name": "m1", "uid": "u"},
        {"apiVersion": kinds.METAL3_DATA_CLAIM.api_version, "kind": "Metal3DataClaim", "name": "m1", "uid": "u"},
    ]
    return builders.data("d", metadata={"ownerReferences": owners}, status={"ready": ready})


def woken(manager: str, old: Raw | None, new: Raw | None, *objects: Raw) -> list[Key]:
    world = World()
    for obj in objects:
        world.put(obj)
    watching = watches.WATCHES[manager]
    kind = world.kind_of(new or old or {})
    rows = [row for row in watching.rows if row.kind.group_kind == kind.group_kind]
    return [key for row in rows for key in watches.wakes(watching, row, old, new, world.reader())]


CAPI_POOL = {"poolRef": {"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": "pool1"}}
HOST = builders.host("h", spec={"consumerRef": {"kind": "Metal3Machine", "name": "m1", "namespace": "site-a"}})
CASES: list[tuple[str, str, Raw | None, Raw | None, tuple[Raw, ...], list[str]]] = [
    ("a claim wakes its template", "metal3datatemplate", None, builders.data_claim("m1"), (), ["dt1"]),
    (
        "a claim without a template wakes nobody",
        "metal3datatemplate",
        None,
        {**builders.data_claim("m1"), "spec": {}},
        (),
        [],
    ),
    ("data that went wakes its template", "metal3datatemplate", builders.data("d"), None, (), ["dt1"]),
    ("data that becomes ready does not", "metal3datatemplate", data(False), data(True), (), []),
    ("a claim that went wakes its data", "metal3data", builders.data_claim("m1"), None, (data(True),), ["d"]),
    ("a new claim does not", "metal3data", None, builders.data_claim("m1"), (data(True),), []),
    ("an IPClaim wakes its owner", "metal3data", None, builders.ip_claim("c", **OWNED), (), ["d"]),
    ("an IPAddressClaim too", "metal3data", None, builders.ip_address_claim("c", **OWNED), (), ["d"]),
    ("a machine wakes data that waits", "metal3data", None, builders.metal3_machine("m1"), (data(False),), ["d"]),
    ("and not data that is ready", "metal3data", None, builders.metal3_machine("m1"), (data(True),), []),
    ("a host wakes data of its machine that waits", "metal3data", None, HOST, (data(False),), ["d"]),
    ("and not data that is ready, either", "metal3data", None, HOST, (data(True),), []),
    ("a free host wakes nobody", "metal3data", None, builders.host("h"), (data(False),), []),
    ("an IPClaim wakes its pool", "ippool", None, builders.ip_claim("c"), (), ["pool1"]),
    ("an IPAddressClaim of an IPPool too", "ippool", None, builders.ip_address_claim("c"), (), ["pool1"]),
    ("one of another provider does not", "ippool", None, builders.ip_address_claim("c", spec=CAPI_POOL), (), []),
    ("an address that went wakes its pool", "ippool", builders.ip_address(), None, (), ["pool1"]),
    (
        "a Cluster wakes its pools",
        "ippool",
        None,
        builders.ready_cluster("c1"),
        (builders.ip_pool("p", spec={"clusterName": "c1"}), builders.ip_pool("q")),
        ["p"],
    ),
]


@pytest.mark.parametrize(
    ("manager", "old", "new", "objects", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_who_is_woken(manager: str, old: Raw | None, new: Raw | None, objects: Any, expected: list[str]) -> None:
    assert woken(manager, old, new, *objects) == [fixtures.key(name) for name in expected]
