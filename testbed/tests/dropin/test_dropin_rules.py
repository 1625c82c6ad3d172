"""Immutability, topology dry runs and single rules of admission, as an API server with our webhooks enforces them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from capm3_api.model import Raw
from capm3_testbed.dropin import templates
from capm3_testbed.dropin.calls import Answer
from capm3_testbed.dropin.site import Site

pytestmark = [pytest.mark.apiserver, pytest.mark.timeout(240)]
SAMPLES = Path(__file__).parents[1] / "data" / "dropin"
TOPOLOGY = "topology.cluster.x-k8s.io/dry-run"
VERSIONS = ("v1beta1", "v1beta2")


def sample(kind: str, namespace: str, version: str = "v1beta2") -> Raw:
    found = templates.objects(SAMPLES / f"every-kind-{version}.yaml", namespace, {})
    return next(obj for obj in found if obj["kind"] == kind)


def changed(obj: Raw, change: Callable[[Raw], Any]) -> Raw:
    other = copy.deepcopy(obj)
    change(other)
    return other


def machine(namespace: str, **spec: Any) -> Raw:
    obj = sample("Metal3Machine", namespace)
    return {**obj, "spec": spec}


def both_ways(site: Site, obj: Raw) -> list[Answer]:
    """The object itself, and as the body of a Metal3MachineTemplate."""
    template = sample("Metal3MachineTemplate", obj["metadata"]["namespace"])
    wrapped = {**template, "spec": {"template": {"spec": obj["spec"]}}}
    return [site.calls.create(item, dryRun="All") for item in (obj, wrapped)]


def denied(answer: Answer, *fields: str) -> None:
    assert answer.code in (403, 422) and not answer.accepted, answer.body
    assert answer.fields == sorted(fields), answer.message


# B14


def new_image(obj: Raw) -> None:
    obj["spec"]["template"]["spec"]["image"]["url"] = "oci://registry.example.test/node:2"


@pytest.mark.parametrize(
    ("dry", "annotated", "allowed"),
    [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
    ids=["topology-dry-run", "plain-dry-run", "annotation-without-dry-run", "plain-update"],
)
@pytest.mark.parametrize("way", ["put", "apply"])
def test_b14_a_template_changes_in_a_topology_dry_run_only(
    way: str, dry: bool, annotated: bool, allowed: bool, site: Site, namespace: str
) -> None:
    template = sample("Metal3MachineTemplate", namespace)
    template["metadata"]["annotations"] = {TOPOLOGY: ""} if annotated else {}
    assert site.calls.apply(template, "topology").accepted
    wanted = changed(template, new_image)
    query = {"dryRun": "All"} if dry else {}
    if way == "put":
        version = site.calls.read(template).body["metadata"]["resourceVersion"]
        wanted["metadata"]["resourceVersion"] = version
        answer = site.calls.put(wanted, **query)
    else:
        answer = site.calls.apply(wanted, "topology", **query)
    if allowed:
        assert answer.accepted, answer.message
    else:
        denied(answer, "spec.template.spec")
    assert site.calls.read(template).body["spec"]["template"]["spec"]["image"]["url"].endswith("node:1")


def test_b14_labels_and_node_reuse_of_a_template_may_change(site: Site, namespace: str) -> None:
    template = sample("Metal3MachineTemplate", namespace)
    assert site.calls.create(template).accepted
    for patch in ({"metadata": {"labels": {"x": "y"}}}, {"spec": {"nodeReuse": True}}):
        answer = site.calls.merge(template, patch)
        assert answer.accepted, answer.message


def test_webhooks_declare_no_side_effects_and_fail_closed(site: Site) -> None:
    for kind in ("mutating", "validating"):
        path = f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations"
        found = [hook for item in site.calls.send("GET", path).body["items"] for hook in item["webhooks"]]
        assert found and {(hook["sideEffects"], hook["failurePolicy"]) for hook in found} == {("None", "Fail")}


# Immutability


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("kind", "patch", "field"),
    [
        ("Metal3DataTemplate", {"spec": {"metaData": {"strings": [{"key": "a", "value": "b"}]}}}, "spec.metaData"),
        ("Metal3Data", {"spec": {"index": 7}}, "spec.index"),
        ("Metal3DataClaim", {"spec": {"template": {"name": "other"}}}, "spec.template"),
        (
            "Metal3ClusterTemplate",
            {"spec": {"template": {"spec": {"controlPlaneEndpoint": {"host": "other"}}}}},
            "spec.template.spec",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("Metal3") else "",
)
def test_what_is_immutable_is_so_in_both_versions(
    kind: str, patch: Raw, field: str, version: str, site: Site, namespace: str
) -> None:
    obj = sample(kind, namespace, version)
    assert site.calls.create(obj).accepted
    answer = site.calls.merge(obj, patch)
    assert not answer.accepted and field in " ".join(answer.fields), (answer.fields, answer.message)


@pytest.mark.parametrize("kind", ["Metal3DataTemplate", "Metal3Data", "Metal3DataClaim", "Metal3MachineTemplate"])
def test_writing_the_defaults_out_in_the_other_version_is_no_change(kind: str, site: Site, namespace: str) -> None:
    """Immutability is compared after defaulting, whichever version an update comes in."""
    obj = sample(kind, namespace, "v1beta1")
    assert site.calls.create(obj).accepted
    for version in VERSIONS:
        read = site.calls.read(obj, version).body
        answer = site.calls.put(read)
        assert answer.accepted, answer.message
        assert answer.body["metadata"]["generation"] == 1


def test_several_errors_are_told_at_once(site: Site, namespace: str) -> None:
    obj = machine(
        namespace,
        image={"url": "ftp:/bad", "checksum": "abc"},
        userData={"name": "s", "namespace": "elsewhere"},
        networkData={"name": "s", "namespace": "elsewhere"},
    )
    answer = site.calls.create(obj, dryRun="All")
    assert {"spec.userData.namespace", "spec.networkData.namespace", "spec.image.url"} <= set(answer.fields)


# B10, B11, B12, B13, B04, B36


@pytest.mark.parametrize("field", ["userData", "metaData", "networkData"])
def test_b10_a_secret_of_another_namespace_is_refused(field: str, site: Site, namespace: str) -> None:
    image = {"url": "http://img.example.test/a.iso", "diskFormat": "live-iso"}
    for answer, prefix in zip(
        both_ways(site, machine(namespace, image=image, **{field: {"name": "admin", "namespace": "kube-system"}})),
        ("spec", "spec.template.spec"),
        strict=True,
    ):
        denied(answer, f"{prefix}.{field}.namespace")
    own = machine(namespace, image=image, **{field: {"name": "mine", "namespace": namespace}})
    assert both_ways(site, own)[0].accepted


SHA = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
HTTP = "http://img.example.test/a.qcow2"
IMAGES = [
    ("no-checksum", {"url": HTTP}, "image.checksum"),
    ("digest", {"url": HTTP, "checksum": SHA, "checksumType": "sha256"}, ""),
    ("upper-case-digest", {"url": HTTP, "checksum": SHA.upper(), "checksumType": "sha256"}, ""),
    ("url", {"url": HTTP, "checksum": "http://img.example.test/SHA256SUMS"}, ""),
    ("short-digest", {"url": HTTP, "checksum": SHA[:32], "checksumType": "sha256"}, "image.checksum"),
    ("no-digest", {"url": HTTP, "checksum": "not a hash"}, "image.checksum"),
    ("live-iso", {"url": "http://img.example.test/a.iso", "diskFormat": "live-iso"}, ""),
    ("oci", {"url": "oci://registry.example.test/os:1"}, ""),
    ("oci-with-checksum", {"url": "oci://registry.example.test/os:1", "checksum": SHA}, "image.checksum"),
    ("bad-url", {"url": "ftp:/bad", "checksum": SHA}, "image.url"),
]


@pytest.mark.parametrize(("image", "field"), [row[1:] for row in IMAGES], ids=[row[0] for row in IMAGES])
def test_b11_b12_the_checksum_fits_the_image_on_machine_and_template_alike(
    image: Raw, field: str, site: Site, namespace: str
) -> None:
    for answer, prefix in zip(
        both_ways(site, machine(namespace, image=image)), ("spec", "spec.template.spec"), strict=True
    ):
        if field:
            denied(answer, f"{prefix}.{field}")
        else:
            assert answer.accepted, answer.message


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ({"customDeploy": {"method": "m"}}, True),
        ({"customDeploy": {"method": "m"}, "image": {"url": HTTP, "checksum": SHA}}, True),
        ({}, False),
    ],
    ids=["method-only", "both", "neither"],
)
def test_b13_custom_deploy_replaces_the_image_on_machine_and_template_alike(
    spec: Raw, allowed: bool, site: Site, namespace: str
) -> None:
    assert [answer.accepted for answer in both_ways(site, machine(namespace, **spec))] == [allowed, allowed]


SELECTORS = [
    *((operator, ["r1"], "") for operator in ("in", "In", "notin", "NotIn", "=", "!=")),
    *((operator, [], "") for operator in ("exists", "Exists", "!", "DoesNotExist")),
    ("gt", ["1"], ""),
    ("In", [], "values"),
    ("nonsense", ["r1"], "operator"),
]


@pytest.mark.parametrize(("operator", "values", "field"), SELECTORS)
def test_b04_selectors_are_judged_at_admission(
    operator: str, values: list[str], field: str, site: Site, namespace: str
) -> None:
    expression = {"key": "rack", "operator": operator, "values": values}
    obj = machine(namespace, customDeploy={"method": "m"}, hostSelector={"matchExpressions": [expression]})
    answer = site.calls.create(obj, dryRun="All")
    if field:
        denied(answer, f"spec.hostSelector.matchExpressions[0].{field}")
    else:
        assert answer.accepted, answer.message


def links(obj: Raw) -> Raw:
    return obj["spec"]["networkData"]["links"]  # type: ignore[no-any-return]


def too_big(obj: Raw) -> None:
    links(obj)["bonds"][0]["mtu"] = 1500


def dangling_vlan(obj: Raw) -> None:
    links(obj)["vlans"][0]["vlanLink"] = "bond9"


def dangling_bond(obj: Raw) -> None:
    links(obj)["bonds"][0]["bondLinks"] = ["eno1", "eno7"]


def dangling_network(obj: Raw) -> None:
    obj["spec"]["networkData"]["networks"]["ipv4"][0]["link"] = "v99"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (too_big, "spec.networkData.links.vlans[0].mtu"),
        (dangling_vlan, "spec.networkData.links.vlans[0].vlanLink"),
        (dangling_bond, "spec.networkData.links.bonds[0].bondLinks[1]"),
        (dangling_network, "spec.networkData.networks.ipv4[0].link"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_b36_links_that_would_configure_nothing_are_refused(
    change: Callable[[Raw], None], field: str, site: Site, namespace: str
) -> None:
    good = sample("Metal3DataTemplate", namespace)
    assert site.calls.create(good, dryRun="All").accepted
    denied(site.calls.create(changed(good, change), dryRun="All"), field)
