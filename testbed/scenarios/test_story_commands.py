"""The command line: a demo that is interrupted leaves nothing, one that is kept can be used and ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(400)
COMMAND = [sys.executable, "-m", "capm3_testbed.cli"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    for name in ("tmp", "state"):
        (tmp_path / name).mkdir()
    return {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "XDG_STATE_HOME": str(tmp_path / "state")}


def _descendants(pid: int) -> set[int]:
    """All processes below one, from /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found.add(child)
            waiting.append(child)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_an_interrupted_demo_leaves_nothing_behind(
    tmp_path: Path, environ: dict[str, str], number: signal.Signals
) -> None:
    command = [*COMMAND, "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "BareMetalHost" in line:
                break
        children = _descendants(process.pid)
        assert len(children) >= 5  # a controller and four servers
        process.send_signal(number)
        rest, _ = process.communicate(timeout=60)
    assert process.returncode == 130, rest
    assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == []
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_kept_demo_answers_kubectl_and_ends_on_demand(tmp_path: Path, environ: dict[str, str]) -> None:
    shown = subprocess.run([*COMMAND, "demo", "--keep"], capture_output=True, text=True, env=environ, timeout=300)
    try:
        assert shown.returncode == 0, shown.stdout[-3000:] + shown.stderr[-3000:]
        (line,) = [line for line in shown.stdout.splitlines() if line.startswith("export KUBECONFIG=")]
        kubeconfig = line.partition("=")[2]
        kubectl = [str(Path(sys.executable).parent / "kubectl"), "--kubeconfig", kubeconfig]
        answer = subprocess.run(
            [*kubectl, "get", "machines,baremetalhosts", "-A"], capture_output=True, text=True, timeout=60
        )
        assert answer.stdout.count("Running") == 3, answer.stdout + answer.stderr
        assert answer.stdout.count("provisioned") == 3
        again = subprocess.run([*COMMAND, "up"], capture_output=True, text=True, env=environ, timeout=60)
        assert again.returncode == 1
        assert "runs already" in again.stdout
        state = json.loads((tmp_path / "state" / "capm3-testbed" / "embedded.json").read_text())
        children = {state["pid"], *_descendants(state["pid"])}
        assert subprocess.run([*COMMAND, "status"], capture_output=True, env=environ, timeout=60).returncode == 0
    finally:
        ended = subprocess.run([*COMMAND, "down"], capture_output=True, text=True, env=environ, timeout=120)
    assert ended.returncode == 0
    _wait_for_end(children)
    assert subprocess.run([*COMMAND, "status"], capture_output=True, env=environ, timeout=60).returncode == 1
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_demo_that_can_not_come_to_its_end_says_what_is_missing(tmp_path: Path, environ: dict[str, str]) -> None:
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(
        "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: a, namespace: b}\nspec:\n"
        "  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: Metal3Cluster, name: missing}\n"
    )
    command = [*COMMAND, "demo", "--manifest", str(manifest), "--timeout", "3", "-o", "json"]
    answer = subprocess.run(command, capture_output=True, text=True, env=environ, timeout=120)
    assert answer.returncode == 1
    assert answer.stdout == ""
    assert "the infrastructure cluster object does not exist" in answer.stderr.lower()


def _wait_for_end(pids: set[int]) -> None:
    end = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < end, "processes are left"
        time.sleep(0.1)
