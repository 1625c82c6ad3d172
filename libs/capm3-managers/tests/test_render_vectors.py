"""What the Go programs rendered, these managers render too, byte by byte, or the difference is registered."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterable, Mapping

import pytest
from capm3_api import kinds, meta, names
from capm3_api.model import Raw
from capm3_managers.testing import rendering_run, vectors_rendering

CASES = sorted((pathlib.Path(__file__).parent / "data" / "rendering").glob("*.json"))
REGISTERED = {"meta-dns-only", "meta-from-pools"}


def load(path: pathlib.Path) -> Raw:
    return dict(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_recorded_case_is_rendered_alike(path: pathlib.Path) -> None:
    name, verdict, detail = vectors_rendering.judge(load(path))
    assert name == vectors_rendering.identity(path.stem)
    assert verdict == ("registered" if path.stem in REGISTERED else "agreed"), detail


KINDS = (
    kinds.METAL3_DATA_TEMPLATE,
    kinds.METAL3_DATA_CLAIM,
    kinds.METAL3_DATA,
    kinds.IP_CLAIM,
    kinds.IP_ADDRESS,
    kinds.CAPI_IP_ADDRESS_CLAIM,
)


def plain(obj: Raw, uids: Mapping[str, str]) -> Raw:
    """An object in the form of the recordings, without what is registered as ours alone."""
    text = json.dumps(obj)
    for uid, name in uids.items():
        text = text.replace(uid, name)
    result: Raw = json.loads(text)
    metadata = result["metadata"]
    for name in ("resourceVersion", "creationTimestamp", "generation", "annotations"):
        metadata.pop(name, None)
    if obj["kind"] == kinds.METAL3_DATA.kind:
        labels = {name: value for name, value in (metadata.pop("labels", None) or {}).items() if name not in LEFT_OVER}
        metadata |= {"labels": labels} if labels else {}
    if "lastUpdated" in (result.get("status") or {}):
        result["status"]["lastUpdated"] = "<time>"
    return result


LEFT_OVER = (names.DATA_NAME_LABEL, names.POOL_NAME_LABEL)
"""With claims named by hosts the Go program leaves the labels of a random claim on the Metal3Data."""


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_objects_of_a_recorded_case_look_alike(path: pathlib.Path) -> None:
    raw = load(path)
    world = rendering_run.play(rendering_run.case_of(raw))
    uids = {meta.uid_of(obj): f"<uid:{obj['kind']}/{meta.key_of(obj).name}>" for obj in world.all()}
    wanted = {(kind.group, kind.kind) for kind in KINDS}

    def chosen(objects: Iterable[Raw]) -> dict[tuple[str, str], Raw]:
        pairs = ((meta.group_of(obj["apiVersion"]), obj) for obj in objects)
        return {
            (obj["kind"], meta.key_of(obj).name): plain(obj, uids)
            for group, obj in pairs
            if (group, obj["kind"]) in wanted
        }

    assert chosen(world.all()) == chosen(raw["observed"])


def test_a_changed_byte_is_a_difference() -> None:
    case = load(next(path for path in CASES if path.stem == "meta-strings"))
    case["rendered"]["m-1-metadata"]["metaData"] += " "
    assert vectors_rendering.judge(case)[1] == "differing"


def test_a_pool_of_another_kind_in_the_metadata_is_a_registered_difference() -> None:
    case = load(next(path for path in CASES if path.stem == "meta-from-pool-explicit-kind"))
    other = {"kind": "GlobalInClusterIPPool", "apiGroup": "ipam.cluster.x-k8s.io"}
    case["dataTemplate"]["spec"]["metaData"]["ipAddressesFromPool"][0] |= other
    assert vectors_rendering.judge(case)[1:] == ("registered", "apiGroup and kind of ...FromPool entries are honoured")


def test_a_gateway_named_by_an_annotation_is_a_registered_difference() -> None:
    case = load(next(path for path in CASES if path.stem == "net-dhcp-gateway-from-pool"))
    ref = {"fromPoolAnnotation": {"object": "baremetalhost", "annotation": "pool"}}
    networks = case["dataTemplate"]["spec"]["networkData"]["networks"]
    networks["ipv4DHCP"][0]["routes"][0]["gateway"] = ref
    host = next(obj for obj in case["inputs"] if obj["kind"] == "BareMetalHost")
    host["metadata"]["annotations"] = {"pool": "pool-a"}
    case |= {"rendered": {}, "expect": "error", "errorMessages": {"tmpl-0": "failed to fetch pool from cache"}}
    assert vectors_rendering.judge(case)[1:] == ("registered", "gateways named by annotations are claimed")


def test_a_difference_that_a_rule_does_not_explain_is_not_registered() -> None:
    case = load(next(path for path in CASES if path.stem == "meta-from-pools"))
    text = case["rendered"]["m-1-metadata"]["metaData"]
    case["rendered"]["m-1-metadata"]["metaData"] = text.replace("192.0.2.120", "192.0.2.121")
    assert vectors_rendering.judge(case)[1] == "differing"


def test_a_pool_that_is_overridden_and_missing_is_a_registered_difference() -> None:
    case = load(next(path for path in CASES if path.stem == "net-ipv4-pool-annotation"))
    network = case["dataTemplate"]["spec"]["networkData"]["networks"]["ipv4"][0]
    network["fromPoolRef"] = {"name": "nowhere", "kind": "IPPool", "apiGroup": "ipam.metal3.io"}
    case |= {"rendered": {}, "expect": "wait"}
    assert vectors_rendering.judge(case)[1:] == ("registered", "pools that are not used are not claimed")


def test_a_secret_of_other_data_is_a_registered_difference() -> None:
    case = load(next(path for path in CASES if path.stem == "secret-already-exists"))
    secret = next(obj for obj in case["inputs"] if obj["kind"] == "Secret")
    owner = {"apiVersion": kinds.METAL3_DATA.api_version, "kind": "Metal3Data", "name": "other", "uid": "u"}
    secret["metadata"]["ownerReferences"] = [owner]
    assert vectors_rendering.judge(case)[1:] == ("registered", "a Secret of another Metal3Data is not used")


def test_a_mask_that_does_not_fit_is_a_registered_difference() -> None:
    case = load(next(path for path in CASES if path.stem == "net-ipv4-pool-name"))
    for pool in (obj for obj in case["inputs"] if obj["kind"] == "IPPool"):
        pool["spec"]["pools"][0]["prefix"] = 64
    secret = case["rendered"]["m-1-networkdata"]
    mask = "?00000000000000000000ffff"
    secret["networkData"] = secret["networkData"].replace("netmask: 255.255.255.0", f"netmask: {mask}")
    assert vectors_rendering.judge(case)[1] == "registered"


def test_the_answers_of_another_provider_are_those_of_the_recording() -> None:
    case = load(next(path for path in CASES if path.stem == "capi-pool-ref"))
    for obj in case["observed"]:
        if obj["kind"] == "IPAddressClaim":
            obj["status"] = {}
    case |= {"rendered": {}, "expect": "wait"}
    assert vectors_rendering.judge(case)[1] == "agreed"
