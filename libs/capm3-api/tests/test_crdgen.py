"""The checked-in CRDs are what the generator makes, and they say what the API server needs."""

from __future__ import annotations

import importlib.util
import io
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from capm3_api import crdgen, crdgen_facts

ROOT = Path(__file__).resolve().parents[3]
NAMES = [crdgen.crd_name(facts.kind) for facts in crdgen_facts.ALL.values()]


def _tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _schema_nodes(node: Any) -> list[dict[str, Any]]:
    found = [node]
    for child in (node.get("properties") or {}).values():
        found += _schema_nodes(child)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            found += _schema_nodes(node[key])
    return found


def test_regenerating_changes_no_file() -> None:
    gen = _tool("gen_crds")
    on_disk = {path.name: path.read_text() for path in gen.FOLDER.glob("*.yaml")}
    assert on_disk == gen.rendered()


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_is_structural(name: str) -> None:
    for version in crdgen.load(name)["spec"]["versions"]:
        for node in _schema_nodes(version["schema"]["openAPIV3Schema"]):
            assert node.get("type") or node.get("x-kubernetes-preserve-unknown-fields")
            assert set(node.get("required", [])) <= set(node.get("properties", {}))
            for key in node.get("x-kubernetes-list-map-keys", []):
                item = node["items"]
                assert key in item["required"] or "default" in item["properties"][key]


@pytest.mark.parametrize("name", NAMES)
def test_every_field_has_a_description(name: str) -> None:
    for version in crdgen.load(name)["spec"]["versions"]:
        root = version["schema"]["openAPIV3Schema"]
        assert root["properties"]["metadata"] == {"type": "object"}  # the API server refuses a description there
        for node in _schema_nodes(root):
            for key, child in (node.get("properties") or {}).items():
                told = child.get("description") or (node is root and key == "metadata")
                assert told, f"{name} {version['name']} {key}"


@pytest.mark.parametrize("name", NAMES)
def test_exactly_one_version_is_stored(name: str) -> None:
    versions = crdgen.load(name)["spec"]["versions"]
    assert [version["name"] for version in versions if version["storage"]] == [versions[-1]["name"]]
    assert all(version["served"] for version in versions)


def test_the_conversion_webhook_stands_on_our_nine_kinds_only() -> None:
    crds = crdgen.all_crds(crdgen.Webhook(url="https://127.0.0.1:9443/convert", ca_bundle="Q0E="))
    with_webhook = [crd for crd in crds if "conversion" in crd["spec"]]
    assert len(with_webhook) == 9
    for crd in with_webhook:
        config = crd["spec"]["conversion"]["webhook"]["clientConfig"]
        assert config == {"url": "https://127.0.0.1:9443/convert", "caBundle": "Q0E="}


def test_a_webhook_in_the_cluster_is_named_by_its_service() -> None:
    config = crdgen.Webhook().client_config()
    assert config == {
        "service": {"name": "capm3-webhook-service", "namespace": "capm3-system", "path": "/convert", "port": 443}
    }


def test_an_unknown_kind_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        crdgen.load("Metal3Nothing")


def _reference(folder: Path, crds: list[dict[str, Any]]) -> Path:
    for crd in crds:
        (folder / f"{crd['metadata']['name']}.yaml").write_text(yaml.safe_dump(crd))
    return folder


def test_the_drift_tool_agrees_with_an_equal_reference(tmp_path: Path) -> None:
    assert _tool("crd_drift").compare(_reference(tmp_path, crdgen.all_crds()), io.StringIO()) == 0


def test_the_drift_tool_ignores_descriptions_but_not_a_field_of_that_name(tmp_path: Path) -> None:
    crds = crdgen.all_crds()
    host = next(crd for crd in crds if crd["spec"]["names"]["kind"] == "BareMetalHost")
    spec = host["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["description"] = "other"
    drift = _tool("crd_drift")
    assert drift.compare(_reference(tmp_path, crds), io.StringIO()) == 0
    del spec["properties"]["description"]
    assert drift.compare(_reference(tmp_path, crds), io.StringIO()) == 1


def test_the_drift_tool_finds_every_kind_of_change(tmp_path: Path) -> None:
    crds = crdgen.all_crds()
    cluster, machine = crds[0], crds[2]
    cluster["spec"]["names"]["shortNames"].append("other")
    cluster["spec"]["versions"][1]["additionalPrinterColumns"].pop()
    machine["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["failureDomain"][
        "maxLength"
    ] = 1
    del crds[3]["spec"]["versions"][0]["subresources"]
    crds[4]["metadata"]["labels"]["clusterctl.cluster.x-k8s.io/move"] = "x"
    out = io.StringIO()
    assert _tool("crd_drift").compare(_reference(tmp_path, crds), out) == 5
    assert "failureDomain.maxLength: reference 1, ours 256" in out.getvalue()


def test_the_drift_tool_registers_only_where_ours_accepts_more(tmp_path: Path) -> None:
    drift = _tool("crd_drift")
    crds = crdgen.all_crds()
    template = next(crd for crd in crds if crd["spec"]["names"]["kind"] == "Metal3DataTemplate")
    old = template["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    item = old["metaData"]["properties"]["gatewaysFromIPPool"]["items"]
    item["required"] = ["apiGroup", "key", "kind", "name"]
    del item["properties"]["apiGroup"]["default"]
    assert drift.compare(_reference(tmp_path, crds), io.StringIO()) == 0
    item["required"] = ["key"]
    assert drift.compare(_reference(tmp_path, crds), io.StringIO()) == 1
