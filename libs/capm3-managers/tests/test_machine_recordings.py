"""Life cycles recorded from the Go programs, replayed: the same writes end in the same states, or in registered others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from capm3_managers.testing import vectors_lifecycle

RECORDINGS = sorted((Path(__file__).parent / "data" / "lifecycle").glob("*.json"))


@pytest.mark.parametrize("path", RECORDINGS, ids=[path.stem for path in RECORDINGS])
def test_a_recorded_life_cycle_ends_as_it_did_in_go(path: Path) -> None:
    rows = list(vectors_lifecycle.compare_recording(path.stem, json.loads(path.read_text())))
    assert rows
    assert [row for row in rows if row[1] == "differing"] == []


def test_recordings_agree_for_the_most_part() -> None:
    """Rules must not swallow everything: without them most objects are equal already."""
    path = next(path for path in RECORDINGS if path.stem == "provision-by-node-label")
    rows = list(vectors_lifecycle.compare_recording(path.stem, json.loads(path.read_text())))
    verdicts = [row[1] for row in rows]
    assert verdicts.count("agreed") > 2 * verdicts.count("registered")


def test_a_wrong_field_is_found() -> None:
    path = next(path for path in RECORDINGS if path.stem == "cluster-ready")
    recording = json.loads(path.read_text())
    recording["steps"][2]["snapshot"][-1]["status"]["initialization"]["provisioned"] = False
    rows = list(vectors_lifecycle.compare_recording(path.stem, recording))
    assert any(row[1] == "differing" and "initialization" in row[2] for row in rows)


@pytest.mark.parametrize(
    "name", ["custom-deploy-and-images", "machine-new-contract-fields-only", "externally-provisioned"]
)
def test_registered_differences_are_found_by_what_is_recorded_and_not_by_its_name(name: str) -> None:
    path = next(path for path in RECORDINGS if path.stem == name)
    rows = list(vectors_lifecycle.compare_recording("another-name", json.loads(path.read_text())))
    assert {row[1] for row in rows} == {"agreed", "registered"}


def test_a_recording_that_can_not_be_replayed_is_a_difference_and_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"steps": [{"step": "x", "actions": [{"method": "POST"}], "snapshot": []}]}')
    good = next(path for path in RECORDINGS if path.stem == "machine-waits")
    (tmp_path / "b.json").write_text(good.read_text())
    rows = list(vectors_lifecycle.compare(tmp_path))
    assert rows[0][:2] == ("a/all", "differing") and {row[1] for row in rows[1:]} <= {"agreed", "registered"}
