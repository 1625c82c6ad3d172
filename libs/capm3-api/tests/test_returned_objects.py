"""Two answered objects differ for a registered reason only where the rule behind it is at work."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from capm3_api.testing import objects

GROUP = "infrastructure.cluster.x-k8s.io"
OLD: Any = {
    "apiVersion": f"{GROUP}/v1beta1",
    "kind": "Metal3DataTemplate",
    "metadata": {"name": "t", "namespace": "ns1"},
    "spec": {
        "clusterName": "c",
        "templateReference": "r",
        "metaData": {"indexes": [{"key": "i", "offset": 0, "step": 1}], "strings": [{"key": "k", "value": "v"}]},
    },
}


def lost(*path: str | int) -> set[str]:
    theirs = copy.deepcopy(OLD)
    here = theirs
    for key in path[:-1]:
        here = here[key]
    del here[path[-1]]
    return objects.differences(OLD, theirs, OLD)


def test_what_the_go_program_loses_may_be_there_in_ours() -> None:
    assert lost("spec", "templateReference") == {objects.SURVIVES}
    assert lost("spec", "metaData", "indexes", 0, "offset") == {objects.KEPT}


@pytest.mark.parametrize(
    "path",
    [
        ("metadata", "name"),
        ("spec",),
        ("spec", "clusterName"),
        ("spec", "metaData", "indexes", 0, "step"),
        ("spec", "metaData", "strings", 0, "value"),
    ],
)
def test_what_it_does_not_lose_may_not_be_missing(path: tuple[str | int, ...]) -> None:
    assert any(reason.startswith("?") for reason in lost(*path))


def test_annotations_that_are_no_json_are_compared_as_texts() -> None:
    key = "cluster.x-k8s.io/conversion-data"
    ours, theirs = ({"metadata": {"annotations": {key: text}}} for text in ("{", "{ "))
    assert all(reason.startswith("?") for reason in objects.differences(ours, theirs, OLD))
