"""``capm3 explain`` and ``capm3 tree``: which object is meant, what is printed, which code is returned."""

from __future__ import annotations

import json

import pytest
from capm3_api import cli, kinds
from capm3_controller.commands import explain, tree
from capm3_controller.commands.cluster import Refused
from capm3_managers import machine
from capm3_managers.testing import datasite, fixtures
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.world import World

NS = fixtures.NAMESPACE


@pytest.fixture
def waiting() -> World:
    """A machine without a host, and a free host of another name than its."""
    world = fixtures.site()
    fixtures.add_machine(world, "m1")
    Scenario(world, [machine.MANAGER]).until_settled()
    fixtures.add_host(world, "h1")
    return world


@pytest.mark.parametrize(
    "asked", ["m1", "Machine/m1", "machines/m1", "ma/m1", "MACHINE/m1", "machine.cluster.x-k8s.io/m1"]
)
def test_a_chain_is_printed_with_what_to_do(waiting: World, capsys: pytest.CaptureFixture[str], asked: str) -> None:
    assert explain.explain(waiting.reader(), asked, NS) == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Machine/m1: ")
    assert second.startswith("└─ Metal3Machine/m1: AssociateBareMetalHost is False (AssociateBareMetalHostFailed): ")
    assert last.startswith("what to do: ")


def test_what_waits_for_nothing_ends_well(waiting: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.explain(waiting.reader(), "bmh/h1", NS) == 0
    assert capsys.readouterr().out == "BareMetalHost/h1 waits for nothing\n"


def test_the_chain_is_printed_as_data(waiting: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.explain(waiting.reader(), "m3m/m1", NS, as_json=True) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["waits"] is True
    assert [link["kind"] for link in found["chain"]] == ["Metal3Machine"]
    assert {"namespace", "name", "what", "message", "remedy", "since"} <= set(found["chain"][0])


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("m9", f"nothing in namespace {NS} has the name m9"),
        ("bmh/h9", "no BareMetalHost h9 in namespace site-a; there are h1"),
        ("data/d", "there is none"),
        ("pod/x", "kind pod can't be explained; those that can are BareMetalHost, Cluster"),
        ("/m1", "is not of the form"),
        ("m1/", "is not of the form"),
    ],
)
def test_what_can_not_be_explained_is_refused_with_the_mend(waiting: World, asked: str, told: str) -> None:
    with pytest.raises(Refused) as refused:
        explain.explain(waiting.reader(), asked, NS)
    assert told in str(refused.value)


def test_a_tree_is_printed_as_text_and_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    world = datasite.site()
    datasite.scenario(world).until_settled()
    assert tree.show(world.reader(), "c1", NS) == 0
    assert "└─ BareMetalHost/h-m0  provisioned, on: held by m0" in capsys.readouterr().out
    assert tree.show(world.reader(), "cluster/c1", NS, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "Cluster"


def test_a_missing_cluster_names_those_that_there_are(waiting: World) -> None:
    with pytest.raises(Refused, match=r"no Cluster c9 in namespace site-a; there is c1\."):
        tree.show(waiting.reader(), "c9", NS)


@pytest.mark.parametrize("command", ["explain", "tree"])
def test_a_missing_kubeconfig_is_told_in_one_line(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert cli.main([command, "x", "--kubeconfig", "/nowhere"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"capm3 {command}: --kubeconfig names /nowhere, which does not exist")
    assert error.count("\n") == 1


def test_a_server_that_does_not_answer_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("kube") / "config"
    path.write_text(
        "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:9'}}]\n"
        "users: [{name: u, user: {}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
    )
    assert cli.main(["tree", "x", "--kubeconfig", str(path)]) == 2
    assert "see whether the cluster runs" in capsys.readouterr().err
    assert cli.main(["tree", "x", "--kubeconfig", str(path), "--context", "y"]) == 2
    assert "Expected object with name y in" in capsys.readouterr().err


def test_every_word_for_a_kind_can_be_explained() -> None:
    from capm3_managers.overview import findings

    assert set(explain.WORDS.values()) <= set(findings.KINDS)
    assert kinds.MACHINE in explain.WORDS.values()
