"""The commands for people against an API server over HTTPS, by the kubeconfig that it hands out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from capm3_api import cli, kinds
from capm3_api.testing import builders
from capm3_managers import machine
from capm3_managers.testing import fixtures
from capm3_managers.testing.scenario import Scenario
from capm3_testbed import certs, install
from capm3_testbed.embedded import EmbeddedServer
from capm3_testbed.semantics.widget import crd

_AUTHORITY = certs.Authority()


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    made = EmbeddedServer(crds=install.definitions(), authority=_AUTHORITY).start()
    world = made.world
    world.put(kinds.NAMESPACE.new("", fixtures.NAMESPACE))
    owner = world.put(builders.ready_cluster())
    world.put(builders.metal3_cluster(**builders.owners(owner)))
    fixtures.add_host(world, "h1", spec={"consumerRef": {"kind": "Other", "name": "other"}})
    fixtures.add_machine(world, "m1")
    Scenario(world, [machine.MANAGER]).until_settled()
    yield made
    made.stop()


@pytest.fixture
def run(server: EmbeddedServer, tmp_path: Path) -> Callable[..., int]:
    """Runs a command with the server's kubeconfig, whose context names no namespace."""
    path = server.access().write(tmp_path / "kubeconfig")
    return lambda *arguments: cli.main([*arguments, "--kubeconfig", str(path)])


def test_a_machine_is_explained(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", "machine/m1", "-n", fixtures.NAMESPACE) == 1
    out = capsys.readouterr().out
    assert "└─ Metal3Machine/m1: AssociateBareMetalHost is False" in out
    assert "no available host found" in out and "what to do: " in out


def test_a_cluster_is_shown(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("tree", "c1", "-n", fixtures.NAMESPACE, "-o", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {child["kind"] for child in found["children"]} == {"Machine", "Metal3Cluster"}


def test_the_namespace_is_the_contexts(
    server: EmbeddedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = server.access().document()
    here = document["contexts"][0]
    there = {"name": "site", "context": {**here["context"], "namespace": fixtures.NAMESPACE}}
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump({**document, "contexts": [here, there]}))
    assert cli.main(["explain", "m1", "--kubeconfig", str(path)]) == 2
    assert "nothing in namespace default has the name m1" in capsys.readouterr().err
    assert cli.main(["explain", "m1", "--kubeconfig", str(path), "--context", "site"]) == 1


def test_a_cluster_without_our_kinds_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = EmbeddedServer(crds=[crd()], authority=_AUTHORITY).start()
    try:
        path = bare.access().write(tmp_path / "kubeconfig")
        assert cli.main(["tree", "c1", "--kubeconfig", str(path)]) == 2
    finally:
        bare.stop()
    assert "Cluster API Provider Metal3 is not installed in it" in capsys.readouterr().err


def test_a_refused_token_says_to_log_in(
    server: EmbeddedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = server.access().document()
    document["users"][0]["user"]["token"] = "wrong"
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(document))
    assert cli.main(["tree", "c1", "--kubeconfig", str(path)]) == 2
    error = capsys.readouterr().err
    assert "log in again" in error and "wrong" not in error


def test_the_demo_is_the_testbeds(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["demo", "--help"])
    assert ended.value.code == 0
    assert "--manifest" in capsys.readouterr().out
    assert cli.main(["demo", "--manifest", "/nowhere.yaml"]) == 1
    assert "/nowhere.yaml" in capsys.readouterr().out
