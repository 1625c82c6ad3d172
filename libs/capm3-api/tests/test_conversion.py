"""Conversion does what the Go program does, and keeps what that loses (report B17)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import capm3_api
import pytest
from capm3_api import conversion, v1beta2
from capm3_api.conversion import hub, merge
from capm3_api.model import Raw
from capm3_api.testing import builders, vectors_conversion

VECTORS = Path(__file__).parent / "data" / "conversion"
GROUP = "infrastructure.cluster.x-k8s.io"


def _old(kind: str, spec: Raw, status: Raw | None = None, **metadata: Any) -> Raw:
    obj: Raw = {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": kind,
        "metadata": {"name": "t1", "namespace": "ns1", **metadata},
        "spec": spec,
    }
    return obj if status is None else {**obj, "status": status}


def _there(obj: Raw) -> Raw:
    return conversion.convert(obj, "v1beta2" if obj["apiVersion"].endswith("v1beta1") else "v1beta1")


def test_every_recorded_conversion_agrees_or_differs_for_a_registered_reason() -> None:
    rows = list(vectors_conversion.compare(VECTORS))
    assert [row for row in rows if row[1] == "differing"] == []
    assert len(rows) > 330
    assert sum(row[1] == "agreed" for row in rows) > 250


def test_every_registered_reason_is_met_by_a_recording() -> None:
    seen = {rule for _, verdict, detail in vectors_conversion.compare(VECTORS) for rule in detail.split(", ")}
    assert set(vectors_conversion.RULES) <= seen


def test_the_comparison_finds_a_wrong_value() -> None:
    source = builders.metal3_machine(spec={"failureDomain": "rack-a"})
    expected = _there(source)
    assert vectors_conversion.judge(source, f"{GROUP}/v1beta1", expected)[0] == "agreed"
    wrong = builders.merge(expected, {"spec": {"failureDomain": "rack-b"}})
    verdict, detail = vectors_conversion.judge(source, f"{GROUP}/v1beta1", wrong)
    assert verdict == "differing"
    assert "spec.failureDomain" in detail


def test_the_package_itself_offers_convert() -> None:
    assert capm3_api.convert is conversion.convert
    assert capm3_api.ConversionError is conversion.ConversionError


def test_the_version_that_an_object_has_already_gives_a_copy() -> None:
    obj = builders.metal3_cluster()
    same = conversion.convert(obj, "v1beta2")
    assert same == obj and same is not obj


# Fields that are easily lost, one by one


FIELDS: list[tuple[str, str, Raw, Raw]] = [
    (
        "the format of an image has another name",
        "Metal3Machine",
        {"image": {"url": "http://a/b", "checksum": "c", "format": "raw"}, "hostSelector": {}},
        {"image": {"url": "http://a/b", "checksum": "c", "diskFormat": "raw"}},
    ),
    (
        "failure domains are a map before and a list after",
        "Metal3Cluster",
        {"failureDomains": {"b": {"controlPlane": True}, "a": {"attributes": {"x": "1"}}}},
        {"failureDomains": [{"name": "a", "attributes": {"x": "1"}}, {"name": "b", "controlPlane": True}]},
    ),
    (
        "a time-out is a text before and seconds after",
        "Metal3Remediation",
        {"strategy": {"type": "Reboot", "retryLimit": 1, "timeout": "5m0s"}},
        {"strategy": {"type": "Reboot", "retryLimit": 1, "timeoutSeconds": 300}},
    ),
    (
        "metadata from pools has other names",
        "Metal3DataTemplate",
        {"clusterName": "c1", "metaData": {"gatewaysFromIPPool": [{"key": "gw", "name": "pool-a"}]}},
        {"clusterName": "c1", "metaData": {"gatewaysFromPool": [{"key": "gw", "name": "pool-a"}]}},
    ),
    (
        "bond parameters are a map before and a list after",
        "Metal3DataTemplate",
        {
            "clusterName": "c1",
            "networkData": {
                "links": {"bonds": [{"id": "b", "bondMode": "802.3ad", "parameters": {"x": 1, "a": {"y": 2}}}]}
            },
        },
        {
            "clusterName": "c1",
            "networkData": {
                "links": {
                    "bonds": [
                        {
                            "id": "b",
                            "bondMode": "802.3ad",
                            "macAddress": {},
                            "parameters": [{"name": "a", "value": {"y": 2}}, {"name": "x", "value": 1}],
                        }
                    ]
                }
            },
        },
    ),
]


@pytest.mark.parametrize(("kind", "old", "new"), [row[1:] for row in FIELDS], ids=[row[0] for row in FIELDS])
def test_a_field(kind: str, old: Raw, new: Raw) -> None:
    assert _there(_old(kind, old))["spec"] == new


def test_indexes_are_a_map_before_and_a_list_after() -> None:
    obj = _old("Metal3DataTemplate", {"clusterName": "c1"}, {"indexes": {"m-b": 1, "m-a": 0}})
    there = _there(obj)
    assert there["status"]["indexes"] == [{"name": "m-a", "index": 0}, {"name": "m-b", "index": 1}]
    assert _there(there)["status"]["indexes"] == {"m-b": 1, "m-a": 0}


def test_readiness_phase_and_failures_move() -> None:
    status = {"ready": True, "phase": "Done", "failureReason": "CreateError", "failureMessage": "no"}
    there = _there(_old("Metal3Machine", {}, status))
    assert there["status"]["initialization"] == {"provisioned": True}
    assert there["status"]["deprecated"] == {"v1beta1": {"failureReason": "CreateError", "failureMessage": "no"}}
    assert _there(there)["status"] == status


@pytest.mark.parametrize("value", [True, False])
def test_no_cloud_provider_comes_back_although_v1beta2_has_no_place_for_it(value: bool) -> None:
    obj = _old("Metal3Cluster", {"controlPlaneEndpoint": {"host": "a", "port": 1}, "noCloudProvider": value})
    there = _there(obj)
    assert "noCloudProvider" not in there["spec"] and "cloudProviderEnabled" not in there["spec"]
    assert _there(there)["spec"] == obj["spec"]


def test_no_cloud_provider_follows_an_edit_of_the_new_field() -> None:
    spec = {"controlPlaneEndpoint": {"host": "a", "port": 1}, "noCloudProvider": True, "cloudProviderEnabled": True}
    there = _there(_old("Metal3Cluster", spec))
    there["spec"]["cloudProviderEnabled"] = False
    assert _there(there)["spec"]["noCloudProvider"] is True
    there["spec"]["cloudProviderEnabled"] = True
    assert _there(there)["spec"]["noCloudProvider"] is True


def test_the_template_reference_and_references_in_full_come_back() -> None:
    claim = {"apiVersion": f"{GROUP}/v1beta1", "kind": "Metal3DataClaim", "name": "m", "namespace": "ns1", "uid": "u"}
    obj = _old("Metal3Data", {"index": 3, "claim": claim, "template": {"name": "t"}, "templateReference": "base"})
    there = _there(obj)
    assert there["spec"] == {"index": 3, "claim": {"name": "m", "namespace": "ns1"}, "template": {"name": "t"}}
    assert _there(there)["spec"] == obj["spec"]


def test_a_reference_to_another_object_does_not_get_the_uid_of_the_former_one() -> None:
    reference = {"kind": "Metal3DataTemplate", "name": "t", "namespace": "ns1", "uid": "u"}
    there = _there(_old("Metal3Machine", {"dataTemplate": reference}))
    there["spec"]["dataTemplate"]["name"] = "other"
    assert _there(there)["spec"]["dataTemplate"] == {"name": "other", "namespace": "ns1"}


def test_a_time_out_of_less_than_a_second_comes_back() -> None:
    for text in ("1500ms", "500ms", "90m"):
        obj = _old("Metal3Remediation", {"strategy": {"type": "Reboot", "retryLimit": 1, "timeout": text}})
        assert _there(_there(obj))["spec"] == obj["spec"]


def test_the_metadata_of_a_template_come_back_and_an_edit_in_v1beta1_wins() -> None:
    template = {"metadata": {"labels": {"tier": "edge"}}, "spec": {"image": builders.IMAGE}}
    obj = builders.metal3_machine_template(spec={"template": template, "nodeReuse": True})
    old = _there(obj)
    assert "metadata" not in old["spec"]["template"]
    old["spec"]["template"]["spec"]["image"]["url"] = "http://images.example.com/newer.qcow2"
    old["spec"]["nodeReuse"] = False
    again = _there(old)
    assert again["spec"]["template"]["metadata"] == {"labels": {"tier": "edge"}}
    assert again["spec"]["template"]["spec"]["image"]["url"] == "http://images.example.com/newer.qcow2"
    assert not again["spec"].get("nodeReuse")


def test_a_route_of_prefix_zero_stays_apart_from_one_without_prefix() -> None:
    routes = [
        {"network": "0.0.0.0", "prefix": 0, "gateway": {"string": "192.0.2.1"}},
        {"network": "198.51.100.0", "gateway": {"string": "192.0.2.1"}},
    ]
    network = {"id": "n", "link": "l", "routes": routes}
    obj = builders.data_template(spec={"networkData": {"networks": {"ipv4": [network]}}})
    old = _there(obj)
    assert _there(old)["spec"] == obj["spec"]
    old["spec"]["networkData"]["networks"]["ipv4"][0]["routes"].append(
        {"network": "203.0.113.0", "prefix": 24, "gateway": {"string": "192.0.2.1"}}
    )
    assert [route.get("prefix") for route in _there(old)["spec"]["networkData"]["networks"]["ipv4"][0]["routes"]] == [
        0,
        None,
        24,
    ]


def test_a_pool_that_only_got_the_default_group_names_nothing() -> None:
    reference = {"apiGroup": "ipam.metal3.io", "kind": "", "name": ""}
    network = {"id": "n", "link": "l", "fromPoolRef": reference, "ipAddressFromIPPool": "pool"}
    spec = {"clusterName": "c1", "networkData": {"networks": {"ipv4": [network]}}}
    there = _there(_old("Metal3DataTemplate", spec))
    assert there["spec"]["networkData"]["networks"]["ipv4"] == [{"id": "n", "link": "l", "ipAddressFromIPPool": "pool"}]


# Preserved data


def test_preserved_data_of_the_go_program_restore() -> None:
    data = '{"spec":{"image":{"url":"oci://r/a:1"}},"status":{"initialization":{"provisioned":false}}}'
    obj = _old("Metal3Machine", {"image": {"url": "oci://r/a:1"}}, annotations={hub.DATA: data, "a": "b"})
    there = _there(obj)
    assert there["spec"] == {"image": {"url": "oci://r/a:1"}}
    assert there["status"] == {"initialization": {"provisioned": False}}
    assert there["metadata"]["annotations"] == {"a": "b"}


def test_a_checksum_added_in_v1beta1_wins_over_preserved_data_without_one() -> None:
    old = _there(builders.metal3_machine(spec={"image": {"checksum": None, "checksumType": None}}))
    old["spec"]["image"]["checksum"] = "http://images.example.com/sums"
    assert _there(old)["spec"]["image"]["checksum"] == "http://images.example.com/sums"


def test_broken_preserved_data_are_an_error_that_names_object_and_annotation() -> None:
    for text in ("{not json", "", "[1]", '{"spec": 3}'):
        with pytest.raises(conversion.ConversionError) as caught:
            _there(_old("Metal3Cluster", {}, annotations={hub.DATA: text}))
        assert "Metal3Cluster ns1/t1: metadata.annotations[cluster.x-k8s.io/conversion-data]" in str(caught.value)


def test_a_users_own_annotation_of_that_name_stays_where_the_go_program_writes_none() -> None:
    for text in ("{not json", '{"spec": {"clusterName": "x"}}', "[1]"):
        obj = _old("Metal3DataTemplate", {"clusterName": "c1"}, annotations={hub.DATA: text})
        assert _there(obj)["metadata"]["annotations"] == {hub.DATA: text}
        assert _there(_there(obj))["metadata"]["annotations"] == {hub.DATA: text}


def test_preserved_v1beta1_data_that_cannot_be_read_are_left_alone() -> None:
    for text in (
        "{not json",
        "[]",
        '{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "Metal3Cluster", "spec": 3}',
        "[" * 100000,
    ):
        obj = builders.metal3_cluster(metadata={"annotations": {hub.OLD_DATA: text}})
        assert _there(obj)["metadata"]["annotations"][hub.OLD_DATA] == text


def test_nothing_is_preserved_on_v1beta2_where_nothing_is_lost() -> None:
    spec = {"image": {"url": "http://a/b", "checksum": "c"}, "dataTemplate": {"name": "t"}}
    assert "annotations" not in _there(_old("Metal3Machine", spec))["metadata"]


def test_preserved_data_that_the_go_program_carried_to_the_wrong_side_do_not_count() -> None:
    spec = {"controlPlaneEndpoint": {"host": "a", "port": 1}}
    carried = _there(_old("Metal3Cluster", {**spec, "noCloudProvider": True}))["metadata"]["annotations"]
    assert list(carried) == [hub.OLD_DATA]
    again = _there(_there(_old("Metal3Cluster", spec, annotations=carried)))
    assert "noCloudProvider" not in again["spec"]
    claim = builders.data_claim(spec={"template": {"name": None, "namespace": None}})
    carried = _there(claim)["metadata"]["annotations"]
    plain = builders.data_claim(metadata={"annotations": carried})
    assert "annotations" not in _there(plain)["metadata"]


# Errors and batches


BAD: list[tuple[str, Raw, str]] = [
    ("spec.controlPlaneEndpoint", {"controlPlaneEndpoint": "oops"}, "must be an object"),
    ("spec.controlPlaneEndpoint.port", {"controlPlaneEndpoint": {"port": "6443"}}, "must be a whole number"),
    ("spec.failureDomains.a.controlPlane", {"failureDomains": {"a": {"controlPlane": 1}}}, "must be true or false"),
    ("spec.cloudProviderEnabled", {"cloudProviderEnabled": "yes"}, "must be true or false"),
]


@pytest.mark.parametrize(("path", "spec", "message"), BAD, ids=[row[0] for row in BAD])
def test_a_value_of_a_wrong_type_is_named_with_object_and_field(path: str, spec: Raw, message: str) -> None:
    with pytest.raises(conversion.ConversionError) as caught:
        _there(_old("Metal3Cluster", spec))
    assert str(caught.value) == f"Metal3Cluster ns1/t1: {path}: {message}"


def test_a_list_item_is_named_by_its_index() -> None:
    spec = {"hostSelector": {"matchExpressions": [{"key": "a", "operator": "in", "values": ["b"]}, 5]}}
    with pytest.raises(
        conversion.ConversionError, match=r"spec\.hostSelector\.matchExpressions\[1\]: must be an object"
    ):
        _there(_old("Metal3Machine", spec))


def test_a_time_out_that_is_none_is_refused_in_the_words_of_go() -> None:
    with pytest.raises(conversion.ConversionError, match=r'spec\.strategy\.timeout: time: invalid duration "soon"'):
        _there(_old("Metal3Remediation", {"strategy": {"timeout": "soon"}}))


@pytest.mark.parametrize(
    ("api_version", "kind", "to"),
    [
        (f"{GROUP}/v1alpha5", "Metal3Cluster", "v1beta2"),
        (f"{GROUP}/v1beta1", "Metal3Thing", "v1beta2"),
        ("metal3.io/v1beta1", "Metal3Cluster", "v1beta2"),
        (f"{GROUP}/v1beta1", "Metal3Cluster", "v1"),
        ("", "", "v1beta2"),
    ],
)
def test_what_cannot_be_converted_is_refused(api_version: str, kind: str, to: str) -> None:
    with pytest.raises(conversion.ConversionError):
        conversion.convert({"apiVersion": api_version, "kind": kind, "metadata": {}}, to)


@pytest.mark.parametrize("part", [None, 3, "text", [1], True, {"a": 1}])
@pytest.mark.parametrize("kind", sorted(v1beta2.KINDS))
def test_any_json_gives_an_object_or_a_conversion_error(kind: str, part: Any) -> None:
    for version, to in (("v1beta1", "v1beta2"), ("v1beta2", "v1beta1")):
        for obj in ({"metadata": part}, {"spec": part}, {"status": part}, {"spec": {"template": {"spec": part}}}):
            try:
                conversion.convert({"apiVersion": f"{GROUP}/{version}", "kind": kind, **obj}, to)
            except conversion.ConversionError:
                pass


def test_five_hundred_mixed_objects_convert_and_keep_their_order() -> None:
    makers = (builders.metal3_cluster, builders.metal3_machine, builders.data_template, builders.remediation)
    objects = [makers[index % 4](f"o{index}") for index in range(500)]
    olds = [_there(obj) for obj in objects]
    assert [_there(old)["metadata"]["name"] for old in olds] == [f"o{index}" for index in range(500)]
    assert [_there(old)["spec"] for old in olds] == [obj["spec"] for obj in objects]


def test_metadata_other_than_annotations_are_untouched() -> None:
    obj = builders.metal3_machine(
        metadata={
            "labels": {"a": ""},
            "finalizers": ["x"],
            "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}],
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        }
    )
    metadata = dict(_there(obj)["metadata"])
    assert json.loads(metadata.pop("annotations")[hub.DATA])["kind"] == "Metal3Machine"
    assert metadata == obj["metadata"]


# The merge


MERGES: list[tuple[str, Any, Any, Any, Any]] = [
    ("nothing changed gives what was preserved", {"a": 0}, {"a": 0}, {"a": None, "b": 1}, {"a": None, "b": 1}),
    ("a change wins", {"a": 0}, {"a": 5}, {"a": 1, "b": 1}, {"a": 5, "b": 1}),
    ("a removal wins", {"a": 1, "c": 1}, {"c": 2}, {"a": 1, "c": 1}, {"c": 2}),
    ("an addition stays", {"a": 1}, {"a": 1, "n": 2}, {"a": 1}, {"a": 1, "n": 2}),
    ("what conversion only made up goes", {"a": 1, "z": 0}, {"a": 2, "z": 0}, {"a": 1}, {"a": 2}),
    ("false is not zero", {"a": 0}, {"a": False}, {"a": 7}, {"a": False}),
    (
        "list items are found by their key",
        [{"key": "a", "x": 0}, {"key": "b"}],
        [{"key": "n"}, {"key": "b"}, {"key": "a", "x": 0}],
        [{"key": "a"}, {"key": "b", "y": 1}],
        [{"key": "n"}, {"key": "b", "y": 1}, {"key": "a"}],
    ),
    ("items without key go by position", [1, 2], [1, 3], [1, 2], [1, 3]),
]


@pytest.mark.parametrize(("base", "new", "old", "merged"), [row[1:] for row in MERGES], ids=[row[0] for row in MERGES])
def test_merge(base: Any, new: Any, old: Any, merged: Any) -> None:
    result = merge.merge(base, new, old)
    assert result == merged
    assert json.dumps(result) == json.dumps(merged)
