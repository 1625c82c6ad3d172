"""The comparison with recorded conversions explains what a rule is about, and nothing else."""

from __future__ import annotations

import copy
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from capm3_api.testing import vectors_conversion as vectors

VECTORS = pathlib.Path(__file__).parent / "data" / "conversion"
MEANINGLESS = (None, "", False, [], {})


def records() -> Iterator[Any]:
    for file in sorted(VECTORS.glob("metal3*.json")):
        for record in json.loads(file.read_text()):
            if record.get("output") is not None:
                yield record


def leaves(value: Any, path: vectors.Path = ()) -> Iterator[tuple[vectors.Path, Any]]:
    if isinstance(value, (dict, list)) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path, value


def without(document: Any, path: vectors.Path) -> Any:
    changed = copy.deepcopy(document)
    del vectors.at(changed, path[:-1])[path[-1]]
    return changed


def test_a_value_that_the_recording_lacks_is_a_difference_unless_a_rule_brings_it_back() -> None:
    allowed = 0
    for record in list(records())[::5]:
        for path, value in leaves(record["output"]):
            if value in MEANINGLESS or path[:2] == ("metadata", "annotations") or path[0] not in ("spec", "status"):
                continue
            verdict, detail = vectors.judge(record["input"], record["to"], without(record["output"], path))
            allowed += verdict != "differing"
            assert verdict == "differing" or "conversion-restored" in detail, (record["name"], path, detail)
    assert allowed < 10


@pytest.mark.parametrize("value", ["other", 7])
def test_another_value_than_the_recorded_one_is_always_a_difference(value: object) -> None:
    for record in list(records())[::8]:
        for path, _ in leaves(record["output"].get("spec", {}), ("spec",)):
            if len(path) == 1:
                continue
            changed = copy.deepcopy(record["output"])
            vectors.at(changed, path[:-1])[path[-1]] = value
            assert vectors.judge(record["input"], record["to"], changed)[0] == "differing", (record["name"], path)


@pytest.mark.parametrize("text", ["{", "", "null", "[]", '"x"', "5"])
def test_no_annotation_makes_the_comparison_fail(text: str) -> None:
    for kind in vectors.v1beta2.KINDS:
        for version, other in (("v1beta1", "v1beta2"), ("v1beta2", "v1beta1")):
            source = {
                "apiVersion": f"infrastructure.cluster.x-k8s.io/{version}",
                "kind": kind,
                "metadata": {"annotations": {vectors.hub.DATA: text, vectors.hub.OLD_DATA: text}},
            }
            expected = {**source, "apiVersion": f"infrastructure.cluster.x-k8s.io/{other}", "spec": {"odd": 1}}
            assert vectors.judge(source, other, expected)[0] == "differing"


@pytest.mark.parametrize(
    "request_",
    [
        "{",
        None,
        {},
        {"request": None},
        {"request": {"objects": [None]}},
        {"request": {"objects": "x"}},
        {"request": {}},
    ],
)
def test_a_recorded_review_of_any_form_is_read(tmp_path: pathlib.Path, request_: Any) -> None:
    for status, body in ((200, {"response": {"convertedObjects": None}}), (200, {}), (400, "")):
        record = {"name": "odd", "request": request_, "response": {"httpStatus": status, "body": body}}
        (tmp_path / "review-protocol.json").write_text(json.dumps([record]))
        assert all(verdict != "differing" for _, verdict, _ in vectors.compare(tmp_path))
