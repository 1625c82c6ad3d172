"""Claiming a host: annotations, other namespaces, credentials, and a host that changes after the pick."""

from __future__ import annotations

from typing import Any

import pytest
from capm3_api import condition, kinds, names
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import machine
from capm3_managers.settings import Settings
from capm3_managers.testing import fixtures
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.world import World


def settle(world: World, **rest: Any) -> None:
    Scenario(world, [machine.MANAGER], actors=[fixtures.operate_hosts], **rest).until_settled()


def told(world: World, name: str = "m1", type_: str = "AssociateBareMetalHost") -> tuple[str, str, str]:
    found = condition.get(fixtures.metal3_machine(world, name), type_) or {}
    return found.get("status", ""), found.get("reason", ""), found.get("message", "")


def consumer(world: World, name: str) -> str:
    return str((fixtures.host(world, name)["spec"].get("consumerRef") or {}).get("name", ""))


def annotated(value: str) -> Raw:
    return {"metadata": {"annotations": {names.HOST_ANNOTATION: value}}}


def test_b10_the_namespace_of_a_host_annotation_is_ignored() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    world.put(builders.host("h1", "site-b"))
    fixtures.add_machine(world, "m1", **annotated("site-b/h1"))
    settle(world)
    assert consumer(world, "h1") == "m1"
    other = world.get(kinds.BARE_METAL_HOST, Key("site-b", "h1"))
    assert other and "consumerRef" not in other["spec"]
    assert fixtures.metal3_machine(world, "m1")["metadata"]["annotations"][names.HOST_ANNOTATION] == "site-a/h1"


@pytest.mark.parametrize("namespaced", [True, False])
def test_b10_hosts_of_other_namespaces_are_never_chosen(namespaced: bool) -> None:
    world = fixtures.site()
    world.put(builders.host("h1", "site-b"))
    fixtures.add_machine(world, "m1")
    settle(world)
    assert "no available host found" in told(world)[2] and "there are no hosts" in told(world)[2]


REFERENCES = [
    ("userData", "AssociateBareMetalHost"),
    ("metaData", "AssociateMetal3MachineMetaData"),
    ("networkData", "AssociateMetal3MachineMetaData"),
]


@pytest.mark.parametrize(("field", "type_"), REFERENCES)
def test_b10_a_secret_in_another_namespace_is_refused_and_never_read(field: str, type_: str) -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1", spec={field: {"name": "admin-token", "namespace": "kube-system"}})
    world.put(builders.secret("admin-token", "kube-system"))
    settle(world)
    status, reason, message = told(world, type_=type_)
    assert (status, reason) == ("False", "CrossNamespaceReference")
    assert message.endswith(
        f'cross-namespace secret reference is not allowed for {field} (namespace "kube-system" does not match "site-a")'
    )
    assert "image" not in fixtures.host(world, "h1")["spec"] or field != "userData"
    assert "kube-system" not in str(fixtures.host(world, "h1"))


@pytest.mark.parametrize("field", ["userData", "metaData", "networkData"])
def test_b10_a_status_that_names_a_secret_in_another_namespace_never_reaches_the_host(field: str) -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1", status={field: {"name": "admin-token", "namespace": "kube-system"}})
    settle(world)
    if field == "userData":
        reason, message = told(world)[1:]
        assert reason == "CrossNamespaceReference"
        assert "cross-namespace secret reference is not allowed for userData on host h1" in message
    assert "kube-system" not in str(fixtures.host(world, "h1"))


def test_b10_a_data_template_in_another_namespace_is_refused() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1", spec={"dataTemplate": {"name": "dt1", "namespace": "site-b"}})
    settle(world)
    assert told(world, type_="AssociateMetal3MachineMetaData")[:2] == ("False", "CrossNamespaceReference")
    assert world.get(kinds.METAL3_DATA_CLAIM, fixtures.key("m1")) is None


def test_an_annotation_that_names_another_machines_host_steals_nothing() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1")
    settle(world)
    fixtures.add_host(world, "h2")
    fixtures.add_machine(world, "m2", **annotated("site-a/h1"))
    settle(world)
    assert (consumer(world, "h1"), consumer(world, "h2")) == ("m1", "m2")


def test_an_annotation_that_names_a_free_host_claims_it_properly() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_host(world, "h2")
    fixtures.add_machine(world, "m1", **annotated("site-a/h2"))
    settle(world)
    host = fixtures.host(world, "h2")
    assert host["spec"]["image"] and host["metadata"]["labels"][names.CLUSTER_NAME_LABEL] == "c1"
    assert consumer(world, "h1") == ""


def test_an_annotation_that_names_an_unusable_host_is_told_and_no_other_is_taken() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_host(world, "h2", status={"errorMessage": "no power"})
    fixtures.add_machine(world, "m1", **annotated("site-a/h2"))
    settle(world)
    assert "host h2 is in error; remove annotation metal3.io/BareMetalHost" in told(world)[2]
    assert consumer(world, "h1") == consumer(world, "h2") == ""


def test_a_malformed_annotation_is_told() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1", **annotated("a/b/c"))
    settle(world)
    assert told(world)[2].endswith('annotation metal3.io/BareMetalHost is "a/b/c" instead of <namespace>/<host>')


def test_a_host_that_names_the_machine_already_is_adopted() -> None:
    world = fixtures.site()
    ref = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "Metal3Machine", "name": "m1"}
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1")
    fixtures.add_host(world, "h2", spec={"consumerRef": {**ref, "namespace": "site-a"}})
    Scenario(world, [machine.MANAGER], actors=[fixtures.operate_hosts], check=False).until_settled()
    assert fixtures.metal3_machine(world, "m1")["metadata"]["annotations"][names.HOST_ANNOTATION] == "site-a/h2"
    assert consumer(world, "h1") == ""
    assert fixtures.host(world, "h2")["spec"]["consumerRef"]["apiVersion"].endswith("/v1beta2")


def test_missing_credentials_are_told_and_mended_later() -> None:
    world = fixtures.site()
    world.put(builders.host("h1"))
    fixtures.add_machine(world, "m1")
    settle(world)
    assert told(world)[1:] == (
        "AssociateBareMetalHostFailed",
        'failed to associate the Metal3Machine to a BareMetalHost: secrets "h1-bmc" not found',
    )
    world.put(builders.bmc_secret("h1"))
    settle(world)
    assert told(world)[0] == "True"
    secret = world.get(kinds.SECRET, fixtures.key("h1-bmc"))
    assert secret and secret["metadata"]["labels"][names.CLUSTER_NAME_LABEL] == "c1"


AFTER = [
    ("externally provisioned", {"spec": {"externallyProvisioned": True}}, "BareMetalHostExternallyProvisioned"),
    ("error", {"status": {"errorMessage": "disk is on fire"}}, "BareMetalHostInError"),
    ("inspection", {"status": {"provisioning": {"state": "inspecting"}}}, "BareMetalHostUnusable"),
    ("detached", {"metadata": {"annotations": {names.HOST_DETACHED_ANNOTATION: ""}}}, "BareMetalHostUnusable"),
]


@pytest.mark.parametrize(("changes", "reason"), [row[1:] for row in AFTER], ids=[row[0] for row in AFTER])
def test_b02_a_host_that_turns_unusable_after_the_pick_is_told_and_kept(changes: Raw, reason: str) -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1")
    settle(world)
    before = fixtures.host(world, "h1")["spec"]
    world.put(builders.merge(fixtures.host(world, "h1"), changes))
    run = Scenario(world, [machine.MANAGER])
    done = run.run("metal3machine", fixtures.key("m1"))
    assert done.plan and done.plan.requeue_after and done.plan.requeue_after <= 60
    status, found, message = told(world)
    assert (status, found) == ("False", reason) and "h1" in message
    assert not condition.is_true(fixtures.metal3_machine(world, "m1"), "Ready")
    assert fixtures.host(world, "h1")["spec"] == {**before, **changes.get("spec", {})}
    healthy = builders.merge(fixtures.host(world, "h1"), {"spec": {"externallyProvisioned": None}})
    healthy = builders.merge(healthy, {"status": {"errorMessage": "", "provisioning": {"state": "provisioned"}}})
    world.put(builders.merge(healthy, {"metadata": {"annotations": {names.HOST_DETACHED_ANNOTATION: None}}}))
    run.run("metal3machine", fixtures.key("m1"))
    assert told(world)[:2] == ("True", "AssociateBareMetalHostSuccess")


def test_b02_a_host_taken_away_after_the_pick_is_told_and_no_other_is_claimed() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1")
    settle(world)
    fixtures.add_host(world, "h2")
    thief = {"apiVersion": "example.test/v1", "kind": "Thief", "name": "t", "namespace": "site-a"}
    world.patch(kinds.BARE_METAL_HOST, fixtures.key("h1"), {"spec": {"consumerRef": thief}})
    settle(world)
    assert told(world)[1:] == ("BareMetalHostTaken", "host h1 has the consumer Thief t instead of this machine")
    assert consumer(world, "h2") == ""


@pytest.mark.parametrize("how", ["flag", "annotation"])
def test_b05_a_required_failure_domain_is_waited_for_with_its_own_reason(how: str) -> None:
    marks = {"metadata": {"annotations": {"capm3.metal3.io/failure-domain-policy": "required"}}}
    world = fixtures.site(**(marks if how == "annotation" else {}))
    fixtures.add_host(world, "h1", metadata={"labels": {names.FAILURE_DOMAIN_LABEL: "rack-1"}})
    fixtures.add_machine(world, "m1", machine={"spec": {"failureDomain": "rack-2"}})
    settle(world, settings=Settings(required_failure_domain=how == "flag"))
    assert told(world)[:2] == ("False", "NoHostInFailureDomain")
    assert fixtures.metal3_machine(world, "m1")["spec"]["failureDomain"] == "rack-2"


def test_an_invalid_selector_names_the_field() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    wrong = {"matchExpressions": [{"key": "a", "operator": "like", "values": ["b"]}]}
    fixtures.add_machine(world, "m1", spec={"hostSelector": wrong})
    settle(world)
    assert "spec.hostSelector.matchExpressions[0].operator" in told(world)[2]
    assert consumer(world, "h1") == ""


def test_a_spec_that_cannot_be_read_names_the_field() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1", spec={"image": {"url": 7}})
    settle(world)
    assert told(world)[1] == "InvalidConfiguration" and "spec.image.url" in told(world)[2]


def test_a_machine_without_image_claims_nothing() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    fixtures.add_machine(world, "m1", spec={"image": None})
    settle(world)
    assert told(world)[2].endswith("Metal3Machine m1 has neither Image.URL nor CustomDeploy.Method configured")
    assert consumer(world, "h1") == ""


def test_an_image_without_format_can_be_provisioned() -> None:
    world = fixtures.site()
    fixtures.add_host(world, "h1")
    plain = {"url": "oci://registry.example.com/os:1", "checksum": None, "checksumType": None, "diskFormat": None}
    fixtures.add_machine(world, "m1", spec={"image": plain})
    settle(world)
    assert fixtures.host(world, "h1")["spec"]["image"] == {"url": "oci://registry.example.com/os:1"}
