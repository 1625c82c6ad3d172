"""The real API server with our webhooks answers the recorded requests as the recorded one did, or for a stated reason."""

from __future__ import annotations

import collections
import json
from pathlib import Path

import pytest
from capm3_testbed.dropin import recordings
from capm3_testbed.dropin.site import Site

pytestmark = [pytest.mark.apiserver, pytest.mark.timeout(240)]
DATA = Path(__file__).parents[3] / "libs" / "capm3-api" / "tests" / "data" / "admission"
KINDS = sorted(file.stem for file in DATA.glob("metal3*.json"))
NAMESPACE = "site-a"


def test_there_are_recordings_of_all_nine_kinds() -> None:
    assert len(KINDS) == 9


@pytest.mark.parametrize("kind", KINDS)
def test_every_recorded_admission_is_answered_alike_by_server_and_library(kind: str, site: Site) -> None:
    site.namespace(NAMESPACE)
    records = json.loads((DATA / f"{kind}.json").read_text())
    rows = [row for record in records for row in recordings.admission(site.calls, record["name"], record)]
    assert [row for row in rows if row[1] == "differing"] == []
    assert len(rows) > len(records)
    assert sum(row[1] == "agreed" for row in rows) > len(rows) / 2


def test_reading_and_putting_back_in_each_version_does_what_was_recorded(site: Site) -> None:
    site.namespace(NAMESPACE)
    records = json.loads((DATA / "api-read-modify-write.json").read_text())
    rows = [row for record in records for row in recordings.rewrite(site.calls, record)]
    assert [row for row in rows if row[1] == "differing"] == []
    counts = collections.Counter(verdict for _, verdict, _ in rows)
    assert len(rows) > 100 and counts["agreed"] > counts["registered"]


def test_an_answer_that_is_not_the_recorded_one_is_noticed(site: Site) -> None:
    """The comparison can fail."""
    site.namespace(NAMESPACE)
    records = {record["name"]: record for record in json.loads((DATA / "metal3machine.json").read_text())}
    swapped = {**records["create-custom-deploy"], "apiServer": records["create-nothing"]["apiServer"]}
    assert recordings.admission(site.calls, "swapped", swapped)[0][1] == "differing"
