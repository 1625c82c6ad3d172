"""The Metal3Data manager's steps, table by table, on plain values."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest
from capm3_api import kinds, names
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers.data import claims, pools, report
from capm3_managers.data.claims import Claim
from capm3_managers.data.decide import decide
from capm3_managers.data.pools import Pool
from capm3_managers.data.snapshot import Snapshot
from capm3_managers.env import Env
from capm3_managers.plan import Create, Delete, Patch, Plan
from capm3_managers.settings import Settings

ENV = Env(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), random.Random(1))
POOL = Pool("pool1")
NICS = [{"name": "eno1", "mac": "02:00:00:00:0a:01", "ip": "192.0.2.31"}, {"name": "eno2", "mac": "02:00:00:00:0a:02"}]


def template(**spec: Any) -> Raw:
    return {**builders.data_template("dt1"), "spec": spec}


def links(**mac: Any) -> Raw:
    return template(networkData={"links": {"ethernets": [{"id": "p0", "type": "phy", "macAddress": mac}]}})


def data(**changes: Any) -> Raw:
    base = builders.data("dt1-0", metadata={"uid": "uid-data", "finalizers": [names.DATA_FINALIZER]})
    return builders.merge(base, changes)


def snapshot(of: Raw | None = None, **changes: Any) -> Snapshot:
    """A machine with a host for which nothing is rendered yet."""
    machine = builders.machine("m1")
    metal3machine = builders.metal3_machine("m1", spec={"dataTemplate": {"name": "dt1"}}, **builders.owners(machine))
    claim = builders.data_claim("m1", **builders.owners(metal3machine))
    found = Snapshot(
        observed=data(),
        cluster=builders.ready_cluster(),
        claim=claim,
        template=of or template(metaData={}),
        metal3machine=metal3machine,
        machine=machine,
        host=builders.host("host-a", status={"hardware": {"nics": NICS}}),
    )
    return Snapshot(**{**{field: getattr(found, field) for field in found.__dataclass_fields__}, **changes})


def ip_claim(**changes: Any) -> Raw:
    owner = {"apiVersion": kinds.METAL3_DATA.api_version, "kind": "Metal3Data", "name": "dt1-0", "uid": "uid-data"}
    base = builders.ip_claim("dt1-0-pool1", metadata={"ownerReferences": [owner], "finalizers": [names.DATA_FINALIZER]})
    return builders.merge(base, changes)


def status(plan: Plan) -> Raw:
    return dict((plan.wanted or {}).get("status") or {})


def told(plan: Plan) -> report.Report | None:
    return report.of(plan.wanted)


def created(plan: Plan, kind: str) -> list[Raw]:
    return [action.obj for action in plan.actions if isinstance(action, Create) and action.obj["kind"] == kind]


@pytest.mark.parametrize(
    ("host", "reason", "contains"),
    [
        (NICS, report.HOST_INTERFACE_NOT_FOUND, ["enp9s0", "eno1", "02:00:00:00:0a:01", "host-a"]),
        (None, report.HARDWARE_DETAILS_MISSING, ["host-a"]),
        ([], report.HARDWARE_DETAILS_MISSING, ["host-a"]),
    ],
    ids=["another name", "never inspected", "no interfaces"],
)
def test_b26_a_missing_interface_is_told_with_what_there_is(host: Any, reason: str, contains: list[str]) -> None:
    hardware = None if host is None else {"nics": host}
    raw = builders.host("host-a")
    raw["status"]["hardware"] = hardware
    plan = decide(snapshot(links(fromHostInterface="enp9s0"), host=raw), ENV)
    found = told(plan)
    assert found is not None and found.reason == reason
    assert all(part in found.message for part in contains)
    assert created(plan, "Secret") == [] and plan.retry
    assert status(plan)["ready"] is False
    assert status(plan)["errorMessage"] in ("NIC name not found enp9s0", "NICs list not populated")


@pytest.mark.parametrize(
    ("mac", "error"),
    [
        ({"string": "02:00:00:00:0a"}, "bad MAC address: 02:00:00:00:0a"),
        ({}, "bad MAC address: "),
        ({"fromAnnotation": {"object": "machine", "annotation": "none"}}, "bad MAC address: "),
        ({"fromAnnotation": {"object": "toaster", "annotation": "none"}}, "unknown object type"),
    ],
)
def test_a_link_without_a_good_mac_address_is_an_error(mac: Raw, error: str) -> None:
    plan = decide(snapshot(links(**mac)), ENV)
    assert status(plan)["errorMessage" if error else "ready"] == error
    assert told(plan) is not None and plan.retry


@pytest.mark.parametrize(
    ("changes", "because", "retry"),
    [
        ({"template": None}, "Metal3DataTemplate is not found, requeuing", False),
        ({"claim": None}, "Metal3DataClaim m1 is not found, requeuing", False),
        ({"metal3machine": None}, "Metal3Machine is not found, requeuing", False),
        ({"machine": None}, "waiting for Machine Controller to set OwnerRef on Metal3Machine", False),
        ({"host": None}, "waiting for BareMetalHost to become available", False),
        ({"claim": builders.data_claim("m1")}, "metal3Machine not found in owner references", True),
        ({"observed": data(spec={"claim": {"name": None}})}, "spec.claim.name is not set", True),
        (
            {"observed": data(spec={"template": {"namespace": "other"}})},
            "spec.template names namespace other; only objects of namespace site-a are used",
            True,
        ),
    ],
)
def test_a_missing_relative_is_waited_for_and_a_wrong_one_is_an_error(changes: Raw, because: str, retry: bool) -> None:
    plan = decide(snapshot(**changes), ENV)
    assert (plan.because, plan.retry) == (because, retry)
    assert plan.requeue_after == (None if retry else 30)
    assert status(plan)["ready"] is False and bool(status(plan).get("errorMessage")) is retry


def test_a_machine_that_uses_another_template_is_an_error() -> None:
    other = builders.metal3_machine("m1", spec={"dataTemplate": {"name": "dt2"}})
    plan = decide(snapshot(metal3machine=other), ENV)
    assert status(plan)["errorMessage"] == "metal3Machine associated with Metal3DataTemplate is not found"


def test_nothing_happens_while_paused_or_without_a_cluster() -> None:
    paused = builders.ready_cluster(spec={"paused": True})
    for cluster in (paused, None):
        plan = decide(snapshot(cluster=cluster), ENV)
        assert plan.wanted == data() and not plan.actions and plan.requeue_after == 30


def test_an_existing_secret_is_used_as_it_is() -> None:
    plan = decide(snapshot(secrets={"metaData": builders.secret("m1-metadata")}), ENV)
    assert status(plan) == {"ready": True} and not plan.actions
    assert (plan.wanted or {})["spec"]["metaData"]["name"] == "m1-metadata"


def test_a_secret_of_other_data_is_not_used_for_it_will_vanish() -> None:
    other = builders.data("dt1-0", metadata={"uid": "older"})
    secret = builders.secret("m1-metadata", **builders.owners(other))
    plan = decide(snapshot(secrets={"metaData": secret}), ENV)
    assert status(plan)["ready"] is False and not plan.retry
    found = told(plan)
    assert found is not None and found.reason == report.SECRET_NOT_OURS


WITH_POOL = template(metaData={"ipAddressesFromPool": [{"key": "ip", "name": "pool1"}]})


@pytest.mark.parametrize("by_host", [False, True])
def test_a_missing_claim_is_made_and_waited_for(by_host: bool) -> None:
    env = Env(ENV.now, ENV.rng, Settings(bmh_name_based_preallocation=by_host))
    plan = decide(snapshot(WITH_POOL, claims=(Claim(POOL),)), env)
    (claim,) = created(plan, "IPClaim")
    assert claim["metadata"]["name"] == ("host-a-pool1" if by_host else "dt1-0-pool1")
    assert claim["metadata"]["finalizers"] == [names.DATA_FINALIZER]
    assert claim["metadata"]["ownerReferences"][0]["controller"] is True
    assert (names.DATA_NAME_LABEL in claim["metadata"]["labels"]) is by_host
    assert claim["spec"] == {"pool": {"name": "pool1", "namespace": "site-a"}}
    assert status(plan) == {"ready": False} and not plan.retry


def test_a_claim_whose_name_would_be_too_long_is_told_instead_of_tried() -> None:
    plan = decide(snapshot(WITH_POOL, claims=(Claim(Pool("p" * 250)),)), ENV)
    assert not created(plan, "IPClaim") and plan.retry
    assert "256 characters" in status(plan)["errorMessage"]


def test_a_label_of_a_claim_that_can_not_hold_the_pools_name_is_left_out() -> None:
    env = Env(ENV.now, ENV.rng, Settings(bmh_name_based_preallocation=True))
    (claim,) = created(decide(snapshot(WITH_POOL, claims=(Claim(Pool("p" * 64)),)), env), "IPClaim")
    assert names.POOL_NAME_LABEL not in claim["metadata"]["labels"]
    assert names.DATA_NAME_LABEL in claim["metadata"]["labels"]


def test_a_pool_of_another_provider_is_asked_with_its_own_kind_of_claim() -> None:
    pool = Pool("p1", "ipam.cluster.x-k8s.io", "InClusterIPPool")
    plan = decide(snapshot(WITH_POOL, claims=(Claim(pool),)), ENV)
    (claim,) = created(plan, "IPAddressClaim")
    ref = {"name": "p1", "kind": "InClusterIPPool", "apiGroup": "ipam.cluster.x-k8s.io"}
    assert claim["spec"] == {"poolRef": ref} and claim["apiVersion"] == "ipam.cluster.x-k8s.io/v1beta2"


@pytest.mark.parametrize(
    ("claim", "reason", "error"),
    [
        (Claim(POOL, ip_claim()), None, ""),
        (Claim(POOL, ip_claim(), pool_missing=True), report.POOL_NOT_FOUND, ""),
        (Claim(POOL, builders.ip_claim("host-a-pool1")), report.CLAIM_NOT_OURS, ""),
        (
            Claim(POOL, ip_claim(status={"errorMessage": "Exhausted IP Pools"})),
            report.ADDRESS_NOT_ALLOCATED,
            "IP Allocation for pool1 failed : Exhausted IP Pools",
        ),
        (
            Claim(POOL, ip_claim(), builders.ip_address(spec={"prefix": 2**31})),
            report.ADDRESS_NOT_ALLOCATED,
            "prefix out of range: 2147483648",
        ),
    ],
    ids=["no answer", "no pool", "made by hand", "refused", "broken address"],
)
def test_what_is_told_while_there_is_no_address(claim: Claim, reason: str | None, error: str) -> None:
    plan = decide(snapshot(WITH_POOL, claims=(claim,)), ENV)
    found = told(plan)
    assert (found.reason if found else None) == reason
    assert status(plan).get("errorMessage", "") == error
    assert plan.retry is bool(error) and not plan.actions


def test_with_an_address_the_secret_is_made_and_the_data_is_ready() -> None:
    plan = decide(snapshot(WITH_POOL, claims=(Claim(POOL, ip_claim(), builders.ip_address()),)), ENV)
    (secret,) = created(plan, "Secret")
    assert secret["metadata"]["name"] == "m1-metadata"
    assert secret["metadata"]["labels"] == {names.CLUSTER_NAME_LABEL: "c1"}
    assert status(plan) == {"ready": True}


def test_a_claim_that_older_data_of_the_same_name_left_is_given_back_first() -> None:
    old = ip_claim()
    old["metadata"]["ownerReferences"][0]["uid"] = "older"
    plan = decide(snapshot(WITH_POOL, claims=(Claim(POOL, old, builders.ip_address()),)), ENV)
    assert [type(action) for action in plan.actions] == [Patch, Delete]
    assert status(plan)["ready"] is False


def test_deletion_gives_back_every_claim_and_keeps_finalizers_of_others() -> None:
    held = ip_claim(metadata={"finalizers": [names.DATA_FINALIZER, "ipclaim.ipam.metal3.io"]})
    leaving = data(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    plan = decide(snapshot(observed=leaving, claim=None, cluster=None, held=(held,)), ENV)
    patch, delete = plan.actions
    assert isinstance(patch, Patch) and isinstance(delete, Delete)
    assert patch.patch == {"metadata": {"finalizers": ["ipclaim.ipam.metal3.io"]}}
    assert "finalizers" not in (plan.wanted or {})["metadata"]


def test_a_template_that_can_not_be_read_names_the_field() -> None:
    broken = template(metaData={"strings": [{"key": "a", "value": 7}]})
    plan = decide(snapshot(broken), ENV)
    assert "spec.metaData.strings[0].value" in status(plan)["errorMessage"]


def test_a_report_of_somebody_else_is_not_believed() -> None:
    for text in ("no json", "[]", '{"reason": 1}', '{"message": "x"}'):
        assert report.of({"metadata": {"annotations": {report.ANNOTATION: text}}}) is None
    assert report.of(None) is None


def test_every_place_of_a_template_that_names_a_pool_is_walked() -> None:
    gateway = {"fromIPPool": "p-route"}
    routes = [{"network": "0.0.0.0", "gateway": gateway, "services": {"dnsFromIPPool": "p-dns"}}]
    dynamic = [{"id": "d", "link": "e", "routes": routes}]
    raw = template(
        metaData={part: [{"key": "k", "name": f"p-{part}"}] for part in (
            "ipAddressesFromPool", "prefixesFromPool", "gatewaysFromPool", "dnsServersFromPool")},
        networkData={
            "networks": {
                "ipv4": [{"id": "a", "link": "e", "fromPoolRef": {"name": "p-ref"}, "routes": routes}],
                "ipv6": [{"id": "b", "link": "e", "ipAddressFromIPPool": "p-6"}],
                "ipv4DHCP": dynamic, "ipv6DHCP": dynamic, "ipv6SLAAC": dynamic,
            },
            "services": {"dnsFromIPPool": "p-top"},
        },
    )  # fmt: skip
    from capm3_api.v1beta2.metal3datatemplate import Metal3DataTemplate

    found = {source.pool.name for source in pools.walk(Metal3DataTemplate.from_raw(raw).spec) if source.pool}
    assert found == {
        "p-ipAddressesFromPool", "p-prefixesFromPool", "p-gatewaysFromPool", "p-dnsServersFromPool",
        "p-route", "p-dns", "p-ref", "p-6", "p-top",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["Not_A_Name", "", "x" * 254, "a..b", "-a"])
def test_a_name_from_an_annotation_that_no_pool_can_have_is_refused(name: str) -> None:
    annotated = {
        "networks": {"ipv4": [{"id": "a", "link": "e", "fromPoolAnnotation": {"object": "machine", "annotation": "p"}}]}
    }
    machine = builders.machine("m1", metadata={"annotations": {"p": name}})
    plan = decide(snapshot(template(networkData=annotated), machine=machine), ENV)
    found = told(plan)
    assert found is not None and found.reason in (report.POOL_NAME_INVALID, report.ANNOTATION_NOT_FOUND)


def test_claim_names_of_both_flavours() -> None:
    assert claims.name_of("dt1-0", POOL) == "dt1-0-pool1"
    assert claims.flavour_of(Pool("p", "ipam.metal3.io", "Other")) is claims.CAPI
