"""The rules agree with what the Go program and a real API server were seen to answer, or the difference is registered."""

from __future__ import annotations

import collections
import copy
import json
import pathlib

import pytest
from capm3_api.testing import vectors_admission

DATA = pathlib.Path(__file__).parent / "data" / "admission"


@pytest.fixture(scope="module")
def rows():
    return vectors_admission.compare(DATA)


def test_no_recorded_answer_differs_without_a_registered_reason(rows):
    assert [row for row in rows if row[1] == "differing"] == []


def test_most_answers_agree_to_the_field_and_every_kind_is_compared(rows):
    counts = collections.Counter(row[1] for row in rows)
    assert counts["agreed"] > 2 * counts["registered"] > 0
    assert len({row[0].partition("/")[0] for row in rows}) == 10, "nine kinds, and the rewrites"


def test_a_changed_recording_is_noticed(tmp_path):
    """The comparison can fail: an allowed case that the recording denies, and one denied at another field."""
    records = json.loads((DATA / "metal3machine.json").read_text())
    by_name = {record["name"]: record for record in records}
    allowed = copy.deepcopy(by_name["create-custom-deploy"])
    denied = copy.deepcopy(by_name["create-nothing"])
    allowed["validating"], denied["validating"] = by_name["create-nothing"]["validating"], allowed["validating"]
    elsewhere = copy.deepcopy(by_name["create-userData-other-ns"])
    for part in (elsewhere["validating"]["status"], elsewhere["apiServer"]):
        part["details"]["causes"][0]["field"] = "spec.somewhere"
    (tmp_path / "metal3machine.json").write_text(json.dumps([allowed, denied, elsewhere]))
    verdicts = {name: verdict for name, verdict, _ in vectors_admission.compare(tmp_path)}
    assert verdicts["metal3machine/create-custom-deploy webhook"] == "differing"
    assert verdicts["metal3machine/create-nothing webhook"] == "differing"
    assert verdicts["metal3machine/create-userData-other-ns webhook"] == "differing"
    assert verdicts["metal3machine/create-userData-other-ns server"] == "differing"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Spec.Template.Spec.Image.ChecksumType", "spec.template.spec.image.checksumType"),
        ("spec.metaData.fromHostInterfaces.0.interface", "spec.metaData.fromHostInterfaces[0].interface"),
        ("spec.networkData.networks.ipv4.12.fromPoolRef.name", "spec.networkData.networks.ipv4[12].fromPoolRef.name"),
        ("spec.MetaData", "spec.metaData"),
        ("name", "metadata.name"),
        ("spec.image.url", "spec.image.url"),
    ],
)
def test_field_paths_of_the_go_program_map_to_json_paths(path, expected):
    assert vectors_admission.json_path(path) == expected
