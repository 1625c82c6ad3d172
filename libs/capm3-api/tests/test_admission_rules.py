"""The admission rules, by the reports of people who were hurt by their absence, and by kind."""

from __future__ import annotations

import copy

import pytest
from capm3_api import defaults, kinds, names, schemas
from capm3_api.validation import rules
from capm3_api.validation.values import normal

IMAGE = {
    "url": "http://img.example.test/a.qcow2",
    "checksum": "http://img.example.test/SHA256SUMS",
    "checksumType": "sha256",
    "diskFormat": "qcow2",
}
DIGEST = "0123456789abcdef" * 4

EMBEDDING = {"Metal3Machine": ("spec",), "Metal3MachineTemplate": ("spec", "template", "spec")}
"""Every kind that embeds a machine spec, with the place of it: the tables below run on all of them."""


def obj(kind, spec=None, *, name="x", namespace="ns1", **metadata):
    raw = {"apiVersion": f"{kinds.INFRASTRUCTURE}/v1beta2", "kind": kind, "spec": spec or {}}
    return {**raw, "metadata": {"name": name, "namespace": namespace, **metadata}}


def machine(kind, spec, **metadata):
    for key in reversed(EMBEDDING[kind][1:]):
        spec = {key: spec}
    return obj(kind, spec, **metadata)


def paths(new, old=None, **request):
    return [error.path for error in rules.validate(new, old, **request)]


def at_spec(kind, path):
    return ".".join((*EMBEDDING[kind], path))


def test_every_kind_of_ours_has_a_row_of_rules():
    assert set(rules.CHECKS) == {kind.kind for kind in kinds.OURS}


def test_the_tables_below_run_on_every_kind_that_embeds_a_machine_spec():
    def places(schema, path=()):
        properties = schema.get("properties") or {}
        if {"image", "customDeploy"} <= set(properties):
            yield path
        for name, child in properties.items():
            yield from places(child, (*path, name))

    found = {kind.kind: path for kind in kinds.OURS for path in places(schemas.of(kind.api_version, kind.kind)) if path}
    assert found == EMBEDDING


@pytest.mark.parametrize("kind", EMBEDDING)
@pytest.mark.parametrize(
    ("image", "wrong"),
    [
        ({"checksum": DIGEST, "checksumType": "sha256"}, []),
        ({"checksum": DIGEST.upper(), "checksumType": "sha256"}, []),
        ({"checksum": DIGEST[:32], "checksumType": "sha256"}, ["image.checksum"]),
        ({"checksum": DIGEST[:32], "checksumType": "md5"}, []),
        ({"checksum": DIGEST[:32], "checksumType": None}, []),
        ({"checksum": DIGEST * 2, "checksumType": "sha512"}, []),
        ({"checksum": DIGEST[:40], "checksumType": None}, ["image.checksum"]),
        ({"checksum": "http://img.example.test/SHA256SUMS"}, []),
        ({"checksum": "http://%zz"}, ["image.checksum"]),
        ({"checksum": "not a hash"}, ["image.checksum"]),
        ({"checksum": f" {DIGEST}"}, ["image.checksum"]),
        ({"checksum": ""}, ["image.checksum"]),
        ({"checksum": None}, ["image.checksum"]),
        ({"url": "http://img.example.test/a.iso", "diskFormat": "live-iso", "checksum": None}, []),
        ({"url": "oci://reg.example.test/os:1", "checksum": None, "checksumType": None}, []),
        ({"url": "OCI://reg.example.test/os:1", "checksum": None, "checksumType": None}, []),
        ({"url": "oci://reg.example.test/os:1"}, ["image.checksum", "image.checksumType"]),
        ({"url": "ftp:/bad"}, ["image.url"]),
        ({"url": "http://"}, ["image.url"]),
        ({"url": "http://2001:db8::1/a.raw"}, ["image.url"]),
        ({"url": "http://[2001:db8::1]/a.raw"}, []),
        ({"url": "os.qcow2"}, ["image.url"]),
        ({"url": "file:///images/os.raw"}, []),
        ({"url": ""}, ["image.url"]),
        ({"url": "", "checksum": None}, ["image"]),
    ],
    ids=str,
)
def test_image_rules_hold_alike_wherever_a_machine_spec_is_embedded(kind, image, wrong):
    merged = {key: value for key, value in {**IMAGE, **image}.items() if value is not None}
    assert paths(machine(kind, {"image": merged})) == [at_spec(kind, path) for path in wrong]


@pytest.mark.parametrize("kind", EMBEDDING)
@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"customDeploy": {"method": "install_widget"}}, []),
        ({"customDeploy": {"method": "install_widget"}, "image": IMAGE}, []),
        ({"customDeploy": {"method": "install_widget"}, "image": {"url": "nope"}}, []),
        ({"customDeploy": {"method": ""}}, ["image"]),
        ({}, ["image"]),
    ],
    ids=str,
)
def test_an_image_may_be_left_out_only_with_a_custom_deploy_method(kind, spec, wrong):
    assert paths(machine(kind, spec)) == [at_spec(kind, path) for path in wrong]


@pytest.mark.parametrize("kind", EMBEDDING)
@pytest.mark.parametrize("field", ["userData", "metaData", "networkData", "dataTemplate"])
def test_references_to_another_namespace_are_refused_and_to_the_own_one_are_not(kind, field):
    foreign = machine(kind, {"image": IMAGE, field: {"name": "admin-token", "namespace": "kube-system"}})
    assert paths(foreign) == [at_spec(kind, f"{field}.namespace")]
    for namespace in ("ns1", ""):
        assert paths(machine(kind, {"image": IMAGE, field: {"name": "x", "namespace": namespace}})) == []


def test_a_host_annotation_must_name_a_host_of_the_own_namespace():
    spec = {"image": IMAGE}
    assert paths(obj("Metal3Machine", spec, annotations={names.HOST_ANNOTATION: "ns2/host-z"})) == [
        f"metadata.annotations[{names.HOST_ANNOTATION}]"
    ]
    for value in ("ns1/host-z", "host-z", ""):
        assert paths(obj("Metal3Machine", spec, annotations={names.HOST_ANNOTATION: value})) == []


@pytest.mark.parametrize("kind", EMBEDDING)
def test_an_unreadable_host_selector_is_refused_with_its_path(kind):
    selector = {"matchExpressions": [{"key": "rack", "operator": "In", "values": []}]}
    found = paths(machine(kind, {"image": IMAGE, "hostSelector": selector}))
    assert found == [at_spec(kind, "hostSelector.matchExpressions[0].values")]


def test_several_errors_are_told_at_once():
    spec = {"image": {"url": "nope"}, "userData": {"namespace": "a"}, "hostSelector": {"matchLabels": {"-": "x"}}}
    assert len(paths(obj("Metal3Machine", spec))) == 4


@pytest.mark.parametrize(
    "change",
    [
        {"image": {**IMAGE, "checksum": "not a hash"}},
        {"image": {**IMAGE, "url": "ftp:/bad"}},
        {"image": IMAGE, "hostSelector": {"matchExpressions": [{"key": "a", "operator": "near"}]}},
        {"image": IMAGE, "dataTemplate": {"name": "t", "namespace": "ns2"}},
    ],
    ids=str,
)
def test_rules_beyond_the_go_program_never_lock_a_stored_object(change):
    stored = obj("Metal3Machine", change)
    assert paths(stored) != []
    touched = copy.deepcopy(stored)
    touched["metadata"]["finalizers"] = []
    touched["spec"]["providerID"] = "metal3://x"
    assert paths(touched, stored) == []


TEMPLATES = {
    "Metal3MachineTemplate": ({"image": IMAGE}, {"image": {**IMAGE, "url": "http://img.example.test/b.qcow2"}}),
    "Metal3ClusterTemplate": (
        {"controlPlaneEndpoint": {"host": "a.example", "port": 6443}},
        {"controlPlaneEndpoint": {"host": "b.example", "port": 6443}},
    ),
}


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize(
    ("dry_run", "annotations", "allowed"),
    [
        (True, {"topology.cluster.x-k8s.io/dry-run": ""}, True),
        (True, {}, False),
        (False, {"topology.cluster.x-k8s.io/dry-run": ""}, False),
        (False, {}, False),
    ],
)
def test_a_template_changes_only_in_a_topology_dry_run(kind, dry_run, annotations, allowed):
    before, after = TEMPLATES[kind]
    old = obj(kind, {"template": {"spec": before}})
    new = obj(kind, {"template": {"spec": after}}, annotations=annotations)
    assert paths(new, old, dry_run=dry_run) == ([] if allowed else ["spec.template.spec"])


@pytest.mark.parametrize("kind", TEMPLATES)
def test_metadata_of_a_template_may_always_change(kind):
    spec = {"template": {"spec": TEMPLATES[kind][0]}}
    assert paths(obj(kind, spec, labels={"x": "y"}), obj(kind, spec)) == []


def test_node_reuse_and_the_cleaning_mode_of_a_template_may_change():
    old = obj("Metal3MachineTemplate", {"template": {"spec": {"image": IMAGE}}, "nodeReuse": False})
    spec = {"image": IMAGE, "automatedCleaningMode": "metadata"}
    assert paths(obj("Metal3MachineTemplate", {"template": {"spec": spec}, "nodeReuse": True}), old) == []


def test_a_stored_template_that_breaks_the_rules_may_be_mended():
    old = obj("Metal3ClusterTemplate", {"template": {"spec": {}}})
    new = obj("Metal3ClusterTemplate", {"template": {"spec": TEMPLATES["Metal3ClusterTemplate"][0]}})
    assert paths(new, old) == []


def test_an_empty_field_added_to_a_template_is_no_change():
    old = obj("Metal3MachineTemplate", {"template": {"spec": {"image": IMAGE}}})
    new = obj("Metal3MachineTemplate", {"template": {"spec": {"image": IMAGE, "hostSelector": {}, "taints": []}}})
    assert paths(new, old) == []


def test_reapplying_an_object_from_before_a_default_existed_is_no_change():
    sent = {"metaData": {"ipAddressesFromPool": [{"key": "ip0", "name": "pool-a"}], "indexes": [{"key": "i"}]}}
    stored = defaults.schema_defaults(obj("Metal3DataTemplate", sent))
    assert stored["spec"] != sent, "the schema must have defaults here, or this proves nothing"
    assert paths(obj("Metal3DataTemplate", sent), stored) == []


@pytest.mark.parametrize("field", ["metaData", "networkData"])
def test_the_sections_of_a_data_template_cannot_change(field):
    inner = {"metaData": {"strings": [{"key": "a", "value": "b"}]}, "networkData": {"services": {"dns": ["192.0.2.1"]}}}
    old, new = obj("Metal3DataTemplate", {field: inner[field]}), obj("Metal3DataTemplate", {})
    assert paths(new, old) == [f"spec.{field}"] and paths(old, new) == [f"spec.{field}"]
    assert paths(obj("Metal3DataTemplate", {field: {}}), new) == []


def _links(**changes):
    mac = {"fromHostInterface": "eno1"}
    links = {
        "ethernets": [{"id": "a", "type": "phy", "macAddress": mac}, {"id": "b", "type": "phy", "macAddress": mac}],
        "bonds": [{"id": "bond0", "bondMode": "802.3ad", "bondLinks": ["a", "b"], "macAddress": mac}],
        "vlans": [{"id": "v70", "vlanID": 70, "vlanLink": "bond0", "macAddress": mac}],
    }
    networks = {"ipv4": [{"id": "n0", "link": "v70", "fromPoolRef": {"name": "pool-a"}}]}
    data = {"links": links, "networks": networks}
    for path, value in changes.items():
        section, kind, field = path.split("__")
        data[section][kind][0][field] = value
    return obj("Metal3DataTemplate", {"networkData": data})


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({}, []),
        ({"networks__ipv4__link": "v99"}, ["spec.networkData.networks.ipv4[0].link"]),
        ({"links__bonds__bondLinks": ["a", "c"]}, ["spec.networkData.links.bonds[0].bondLinks[1]"]),
        ({"links__vlans__vlanLink": "c"}, ["spec.networkData.links.vlans[0].vlanLink"]),
        ({"links__vlans__mtu": 9000}, ["spec.networkData.links.vlans[0].mtu"]),
        ({"links__vlans__mtu": 9000, "links__bonds__mtu": 9000}, []),
        ({"links__vlans__mtu": 1400}, []),
        ({"links__vlans__id": "a", "networks__ipv4__link": "a"}, ["spec.networkData.links.vlans[0].id"]),
    ],
    ids=str,
)
def test_links_and_networks_must_refer_to_links_that_the_template_has(changes, wrong):
    assert paths(_links(**changes)) == wrong


def test_a_claim_without_a_template_is_a_field_error_in_every_request():
    whole, empty = obj("Metal3DataClaim", {"template": {"name": "t"}}), obj("Metal3DataClaim", {})
    assert paths(empty) == ["spec.template.name"]
    assert paths(empty, whole) == ["spec.template.name"]
    assert paths(whole, empty) == ["spec.template"]


def test_the_data_controller_may_fill_in_the_namespace_of_a_template():
    old = obj("Metal3Data", {"index": 0, "template": {"name": "t"}}, name="t-0")
    new = obj("Metal3Data", {"index": 0, "template": {"name": "t", "namespace": "ns1"}}, name="t-0")
    assert paths(new, old) == []
    assert paths(obj("Metal3Data", {"template": {"name": "t", "namespace": "ns2"}}), old) == ["spec.template"]


def test_data_may_not_refer_to_other_namespaces():
    spec = {"index": 0, "template": {"name": "t", "namespace": "ns2"}, "claim": {"name": "c", "namespace": "ns3"}}
    assert paths(obj("Metal3Data", spec, name="t-0")) == ["spec.template.namespace", "spec.claim.namespace"]


@pytest.mark.parametrize("junk", [None, 1, "text", [], {}, [1], {"a": [None]}], ids=str)
@pytest.mark.parametrize("kind", sorted(rules.CHECKS))
def test_rules_bear_values_of_any_shape(kind, junk):
    raw = {"apiVersion": f"{kinds.INFRASTRUCTURE}/v1beta2", "kind": kind, "metadata": junk, "spec": junk}
    assert isinstance(rules.validate(raw), list)
    nested = {
        **raw,
        "spec": {"template": {"spec": junk}, "image": junk, "networkData": {"links": junk, "networks": junk}},
    }
    assert isinstance(rules.validate(nested, raw), list)
    assert isinstance(rules.warnings(nested), list)
    assert defaults.default(defaults.default(nested)) == defaults.default(nested)


def test_defaulting_a_cluster_fills_port_and_flag_and_is_idempotent():
    once = defaults.default(obj("Metal3Cluster", {"controlPlaneEndpoint": {"host": "h", "port": 0}}))
    assert once["spec"] == {"controlPlaneEndpoint": {"host": "h", "port": 6443}, "cloudProviderEnabled": False}
    assert defaults.default(once) == once
    kept = obj("Metal3Cluster", {"controlPlaneEndpoint": {"host": "h", "port": 1}, "cloudProviderEnabled": True})
    assert defaults.default(kept) == kept


def test_defaulting_a_remediation_template_repairs_its_strategy_if_there_is_one():
    strategy = {"type": "", "retryLimit": -3, "timeoutSeconds": 0}
    filled = defaults.default(obj("Metal3RemediationTemplate", {"template": {"spec": {"strategy": strategy}}}))
    assert filled["spec"]["template"]["spec"]["strategy"] == {"type": "Reboot", "retryLimit": 1, "timeoutSeconds": 600}
    without = obj("Metal3RemediationTemplate", {"template": {"spec": {}}})
    assert defaults.default(without) == without and paths(without) == ["spec.template.spec.strategy"]


def test_absent_null_and_empty_are_alike_when_compared_and_false_and_zero_are_not():
    assert normal({"a": None, "b": [], "c": {"d": {}}}) is None
    assert normal({"a": False, "b": 0, "c": ""}) == {"a": False, "b": 0, "c": ""}
