"""``capm3 render``: documents and checks from files alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from capm3_api import cli, conversion, kinds
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers.testing import datasite

Run = Callable[..., int]


def template(**spec: Any) -> Raw:
    return {**builders.data_template("dt1"), "spec": {**datasite.TEMPLATE, **spec}}


def host(name: str, *nics: str, **changes: Any) -> Raw:
    found = [{"name": nic, "mac": f"00:00:00:00:00:0{place}"} for place, nic in enumerate(nics)]
    return builders.host(name, status={"hardware": {"nics": found} if nics else None}, **changes)


@pytest.fixture
def render(tmp_path: Path) -> Run:
    """Runs the command on a file with these objects."""

    def run(objects: list[Raw], *arguments: str) -> int:
        path = tmp_path / "objects.yaml"
        path.write_text(yaml.safe_dump_all(objects))
        return cli.main(["render", str(path), *arguments])

    return run


def test_a_template_is_tried_on_every_host_of_its_namespace(render: Run, capsys: pytest.CaptureFixture[str]) -> None:
    objects = [template(), host("h1", "eth0"), host("h2", "eno1"), host("h3"), host("far", "x", namespace="elsewhere")]
    assert render(objects) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "  h1: ok"
    assert lines[2].startswith(
        "  h2: HostInterfaceNotFound: the template asks for interface eth0; BareMetalHost h2 has eno1"
    )
    assert lines[3].startswith("  h3: HardwareDetailsMissing: ")
    assert lines[4:] == ["1 ok, 2 not"]


def test_a_template_that_fits_every_host_ends_well(render: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert render([template(), host("h1", "eth0")], "-o", "json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["host"], row["ok"], row["reason"], row["messages"]) == ("h1", True, "", [])


def test_every_missing_interface_is_named_at_once(render: Run, capsys: pytest.CaptureFixture[str]) -> None:
    links = [{"id": n, "type": "phy", "macAddress": {"fromHostInterface": n}} for n in ("eth7", "eth8")]
    assert render([template(networkData={"links": {"ethernets": links}}), host("h1", "eth0")]) == 1
    assert {"eth7", "eth8"} <= set(capsys.readouterr().out.replace(";", " ").split())


def test_hardware_may_come_from_hardware_data(render: Run) -> None:
    data = kinds.HARDWARE_DATA.new(
        builders.NAMESPACE, "h1", spec={"hardware": {"nics": [{"name": "eth0", "mac": "00:00:00:00:00:01"}]}}
    )
    assert render([template(), host("h1"), data]) == 0


def test_documents_are_rendered_with_the_given_address(render: Run, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--host", "h1", "--machine", "m1", "--address", "pool1=10.0.0.9/24,10.0.0.1")
    assert render([template(), host("h1", "eth0")], *arguments) == 0
    out = capsys.readouterr().out
    assert out.startswith("# metaData of Machine m1 on BareMetalHost h1, index 0\n")
    metadata, network = yaml.safe_load_all(out)
    assert (metadata["name"], metadata["ip"]) == ("m1", "10.0.0.9")
    assert network["networks"][0]["ip_address"] == "10.0.0.9"
    assert network["links"][0]["ethernet_mac_address"] == "00:00:00:00:00:00"


def test_a_machine_brings_its_host_template_and_labels(render: Run, capsys: pytest.CaptureFixture[str]) -> None:
    spec = {"metaData": {"fromLabels": [{"key": "rack", "object": "machine", "label": "rack"}]}}
    machine = builders.machine(
        "m1", spec={"infrastructureRef": {"name": "m1-infra"}}, metadata={"labels": {"rack": "r7"}}
    )
    marks = {"metal3.io/BareMetalHost": f"{builders.NAMESPACE}/h2"}
    infra = builders.metal3_machine("m1-infra", metadata={"annotations": marks}, spec={"dataTemplate": {"name": "dt2"}})
    objects = [template(), {**builders.data_template("dt2"), "spec": spec}, machine, infra, host("h1"), host("h2")]
    assert render(objects, "--machine", "m1", "-o", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["machine"], found["host"], found["template"].rpartition("/")[2]) == ("m1", "h2", "dt2")
    assert yaml.safe_load(found["metaData"])["rack"] == "r7"


def test_an_address_comes_from_the_pool_in_the_files_at_the_index(
    render: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    ranges = [{"start": "10.0.0.10", "end": "10.0.0.11"}, {"start": "10.0.1.1", "end": "10.0.1.9"}]
    pool = builders.ip_pool("pool1", spec={"pools": ranges, "preAllocations": {"x": "10.0.1.2"}})
    objects = [template(), host("h1", "eth0"), pool]
    for index, address in ((0, "10.0.0.10"), (2, "10.0.1.1"), (3, "10.0.1.3")):
        assert render(objects, "--host", "h1", "--index", str(index)) == 0
        assert f"ip: {address}" in capsys.readouterr().out


def test_a_template_of_the_older_version_is_read(render: Run) -> None:
    assert render([conversion.convert(template(clusterName="c1"), to="v1beta1"), host("h1", "eth0")]) == 0


def test_what_can_not_be_rendered_says_why(render: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert render([template(), host("h1", "eno1")], "--host", "h1", "--address", "pool1=10.0.0.9/24") == 1
    assert "h1: HostInterfaceNotFound: the template asks for interface eth0" in capsys.readouterr().err


WRONG: list[tuple[str, list[Raw], tuple[str, ...], str]] = [
    ("no template", [host("h1", "eth0")], (), "no Metal3DataTemplate"),
    ("no host", [template()], (), "no BareMetalHost in the namespace"),
    ("unknown host", [template(), host("h1")], ("--host", "h9"), "no BareMetalHost h9 in the files; there is h1"),
    ("unknown machine", [template(), host("h1")], ("--machine", "m9"), "add --host NAME"),
    (
        "machine without host",
        [template(), builders.metal3_machine("m1"), host("h1")],
        ("--machine", "m1"),
        "add --host",
    ),
    ("several templates", [template(), builders.data_template("dt2"), host("h1")], ("--host", "h1"), "give --template"),
    ("no address", [template(), host("h1", "eth0")], ("--host", "h1"), "give --address pool1=IP/PREFIX"),
    ("address without prefix", [template(), host("h1")], ("--address", "pool1=10.0.0.1"), "is not of the form"),
    ("no address at all", [template(), host("h1")], ("--address", "pool1=ten/24"), "does not appear to be an IPv4"),
    ("negative index", [template(), host("h1")], ("--index", "-1"), "--index"),
    ("spec is a text", [{**template(), "spec": "x"}, host("h1")], (), "spec"),
    ("status is a text", [template(), {**builders.machine(), "status": "x"}], (), "status: must be an object"),
]


@pytest.mark.parametrize(("objects", "arguments", "told"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_wrong_usage_says_what_to_give(
    render: Run, capsys: pytest.CaptureFixture[str], objects: list[Raw], arguments: tuple[str, ...], told: str
) -> None:
    assert render(objects, *arguments) == 2
    assert told in capsys.readouterr().err


def test_a_missing_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["render", "/nowhere.yaml"]) == 2
    assert "/nowhere.yaml: No such file" in capsys.readouterr().err
