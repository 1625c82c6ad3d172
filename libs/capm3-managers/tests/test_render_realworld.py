"""Data templates that users published render as the notes beside them say."""

from __future__ import annotations

import copy
import pathlib
from typing import Any

import pytest
import yaml
from capm3_api import conversion, defaults
from capm3_api.testing import builders
from capm3_managers.data import preview
from capm3_managers.data.render.sources import Address

CASES = sorted((pathlib.Path(__file__).parent / "data" / "realworld").glob("*.expect.yaml"))


def stored(path: pathlib.Path) -> dict[str, Any]:
    template = yaml.safe_load(path.read_text(encoding="utf-8"))
    converted = conversion.convert(defaults.schema_defaults(template), to="v1beta2")
    return dict(defaults.schema_defaults(converted))


def host(namespace: str) -> dict[str, Any]:
    nics = [{"name": "eno1", "mac": "02:00:00:00:0a:01"}, {"name": "eno2", "mac": "02:00:00:00:0a:02"}]
    return builders.host("host-1", namespace, status={"hardware": {"nics": nics}})


def render(template: dict[str, Any], expected: dict[str, Any]) -> preview.Preview:
    pool = expected.get("pool")
    addresses = {pool["name"]: Address(pool["address"], pool["prefix"], pool["gateway"])} if pool else {}
    return preview.render(template, host(template["metadata"]["namespace"]), machine="m-1", addresses=addresses)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".expect.yaml"))
def test_a_published_template_renders_as_expected(path: pathlib.Path) -> None:
    expected = yaml.safe_load(path.read_text(encoding="utf-8"))
    template = stored(path.with_name(path.name.replace(".expect", "")))
    found = render(template, expected)
    assert not found.error
    documents = {key: yaml.safe_load(text) for key, text in found.texts.items()}
    wanted = {key: value for part in expected["rendered"].values() for key, value in part.items()}
    assert documents == wanted
    if "variant" in expected:
        changed = copy.deepcopy(template)
        for link in changed["spec"]["networkData"]["links"]["ethernets"]:
            link["macAddress"]["fromHostInterface"] = "eth0"
        broken = render(changed, expected)
        assert broken.error == expected["variant"]["metal3DataErrorMessage"]
        assert broken.report is not None and "eno1 (02:00:00:00:0a:01)" in broken.report.message
        assert preview.check(changed, host("x")) == [broken.report.message]
    assert preview.check(template, host("x")) == []
