"""All nine kinds are served in both versions, stored in the new one, and mean the same in both."""

from __future__ import annotations

from pathlib import Path

import pytest
from capm3_api import conversion, crdgen, kinds, names
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_testbed.dropin import templates
from capm3_testbed.dropin.lost import lost
from capm3_testbed.dropin.site import Site

pytestmark = [pytest.mark.apiserver, pytest.mark.timeout(240)]
DATA = Path(__file__).parents[1] / "data" / "dropin"
VERSIONS = ("v1beta1", "v1beta2")
SAMPLES = {version: templates.objects(DATA / f"every-kind-{version}.yaml", "", {}) for version in VERSIONS}


def test_there_is_a_sample_of_each_kind_in_each_version() -> None:
    for samples in SAMPLES.values():
        assert [obj["kind"] for obj in samples] == [
            "Metal3Cluster",
            "Metal3ClusterTemplate",
            "Metal3Machine",
            "Metal3MachineTemplate",
            "Metal3DataTemplate",
            "Metal3Data",
            "Metal3DataClaim",
            "Metal3Remediation",
            "Metal3RemediationTemplate",
        ]


@pytest.mark.parametrize("kind", kinds.OURS, ids=lambda kind: kind.kind)
def test_a_definition_serves_both_versions_and_stores_the_new_one(kind: Kind, site: Site) -> None:
    found = site.api.get(kinds.CRD, Key("", crdgen.crd_name(kind)))
    assert found is not None
    versions = {entry["name"]: (entry["served"], entry["storage"]) for entry in found["spec"]["versions"]}
    assert versions == {"v1beta1": (True, False), "v1beta2": (True, True)}
    assert found["spec"]["conversion"]["strategy"] == "Webhook"
    assert found["spec"]["conversion"]["webhook"]["clientConfig"]["url"].endswith("/convert")
    assert found["status"]["storedVersions"] == ["v1beta2"]
    conditions = {entry["type"]: entry["status"] for entry in found["status"]["conditions"]}
    assert conditions["NamesAccepted"] == "True" and conditions.get("NonStructuralSchema", "False") == "False"
    for version in VERSIONS:
        assert site.calls.list(kind.at(version)).code == 200


def _placed(obj: Raw, namespace: str) -> Raw:
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("number", range(9), ids=[obj["kind"] for obj in SAMPLES["v1beta1"]])
def test_an_object_made_in_one_version_reads_in_both(number: int, version: str, site: Site, namespace: str) -> None:
    sent = _placed(SAMPLES[version][number], namespace)
    made = site.calls.create(sent, fieldValidation="Strict")
    assert made.accepted, made.message
    deprecated = f"{sent['apiVersion']} {sent['kind']} is deprecated"
    assert any(deprecated in text for text in made.warnings) == (version == "v1beta1")
    assert lost(sent["spec"], made.body["spec"]) == []
    for other in VERSIONS:
        read = site.calls.read(sent, other)
        assert read.body["apiVersion"] == f"infrastructure.cluster.x-k8s.io/{other}"
        assert read.body["spec"].keys() and read.body["metadata"]["uid"] == made.body["metadata"]["uid"]
    there = site.calls.read(sent, "v1beta2").body
    back = site.calls.read(sent, "v1beta1").body
    assert conversion.convert(there, to="v1beta1")["spec"] == back["spec"]
    assert (
        names.CONVERSION_DATA_ANNOTATION not in (made.body["metadata"].get("annotations") or {}) or version == "v1beta1"
    )


def test_what_lies_in_the_store_is_the_new_version(site: Site, namespace: str) -> None:
    for sample in SAMPLES["v1beta1"]:
        assert site.calls.create(_placed(sample, namespace)).accepted
    for kind in kinds.OURS:
        lying = site.plane.stored(f"/registry/{kind.group}/{kind.plural}/{namespace}/")
        assert [obj["apiVersion"] for obj in lying] == [kind.api_version]


def test_a_list_of_many_objects_is_converted_at_once_and_keeps_its_order(site: Site, namespace: str) -> None:
    sample = _placed(SAMPLES["v1beta2"][2], namespace)
    wanted = [f"m-{number:03}" for number in range(60)]
    for name in wanted:
        assert site.calls.create({**sample, "metadata": {"name": name, "namespace": namespace}}).accepted
    for version in VERSIONS:
        listed = site.calls.list(kinds.METAL3_MACHINE.at(version), namespace)
        assert [item["metadata"]["name"] for item in listed.body["items"]] == wanted
        assert {item["apiVersion"] for item in listed.body["items"]} == {f"infrastructure.cluster.x-k8s.io/{version}"}


def test_an_edit_in_the_old_version_wins_over_what_was_preserved(site: Site, namespace: str) -> None:
    sent = _placed(SAMPLES["v1beta2"][2], namespace)
    assert site.calls.create(sent).accepted
    old = {**sent, "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1"}
    changed = site.calls.merge(old, {"spec": {"hostSelector": {"matchLabels": {"rack-row": "north"}}}})
    assert changed.accepted, changed.message
    assert site.calls.read(sent).body["spec"]["hostSelector"]["matchLabels"] == {"rack-row": "north"}
    assert site.calls.read(sent).body["spec"]["customDeploy"] == {"method": "install_everything"}


def test_printer_columns_and_short_names_work_in_kubectl(site: Site, namespace: str) -> None:
    objects = [_placed(obj, namespace) for obj in SAMPLES["v1beta2"]]
    site.kubectl.run("apply", "-f", site.kubectl.file(objects))
    lines = site.kubectl.run("get", "m3m", "-n", namespace).splitlines()
    assert lines[0].split()[0] == "NAME" and lines[1].split()[0] == "fresh"
    everything = site.kubectl.run("get", "cluster-api", "-n", namespace, "-o", "name").split()
    assert len([name for name in everything if ".infrastructure." in name]) == 9
