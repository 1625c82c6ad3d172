"""What the Go programs rendered, these managers render too, byte by byte, or the difference is registered."""

from __future__ import annotations

import json
import pathlib

import pytest
from capm3_managers.testing import vectors_rendering

CASES = sorted((pathlib.Path(__file__).parent / "data" / "rendering").glob("*.json"))
REGISTERED = {"meta-dns-only", "meta-from-pools"}


def load(path: pathlib.Path) -> dict[str, object]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_recorded_case_is_rendered_alike(path: pathlib.Path) -> None:
    name, verdict, detail = vectors_rendering.judge(load(path))
    assert verdict == ("registered" if name in REGISTERED else "agreed"), detail


def test_a_changed_byte_is_a_difference() -> None:
    case = load(next(path for path in CASES if path.stem == "meta-strings"))
    case["rendered"]["m-1-metadata"]["metaData"] += " "  # type: ignore[index]
    assert vectors_rendering.judge(case)[1] == "differing"


def test_a_pool_of_another_kind_in_the_metadata_is_a_registered_difference() -> None:
    case = load(next(path for path in CASES if path.stem == "meta-from-pool-explicit-kind"))
    other = {"kind": "GlobalInClusterIPPool", "apiGroup": "ipam.cluster.x-k8s.io"}
    case["dataTemplate"]["spec"]["metaData"]["ipAddressesFromPool"][0] |= other  # type: ignore[index]
    assert vectors_rendering.judge(case)[1:] == ("registered", "apiGroup and kind of ...FromPool entries are honoured")


def test_a_gateway_named_by_an_annotation_is_a_registered_difference() -> None:
    case = load(next(path for path in CASES if path.stem == "net-dhcp-gateway-from-pool"))
    ref = {"fromPoolAnnotation": {"object": "baremetalhost", "annotation": "pool"}}
    networks = case["dataTemplate"]["spec"]["networkData"]["networks"]  # type: ignore[index]
    networks["ipv4DHCP"][0]["routes"][0]["gateway"] = ref
    host = next(obj for obj in case["inputs"] if obj["kind"] == "BareMetalHost")  # type: ignore[attr-defined]
    host["metadata"]["annotations"] = {"pool": "pool-a"}
    case |= {"rendered": {}, "expect": "error", "errorMessages": {"tmpl-0": "failed to fetch pool from cache"}}
    assert vectors_rendering.judge(case)[1:] == ("registered", "gateways named by annotations are claimed")


def test_a_difference_that_a_rule_does_not_explain_is_not_registered() -> None:
    case = load(next(path for path in CASES if path.stem == "meta-from-pools"))
    text = case["rendered"]["m-1-metadata"]["metaData"]  # type: ignore[index]
    case["rendered"]["m-1-metadata"]["metaData"] = text.replace("192.0.2.120", "192.0.2.121")  # type: ignore[index]
    assert vectors_rendering.judge(case)[1] == "differing"
