"""The real program as a process: signals and exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_controller.kube.leader import NAME
from capm3_controller.testing.tinyapi import TinyApi

LEASE = Key("capm3-system", NAME)


@pytest.fixture
def api():
    with TinyApi() as server:
        yield server


class Program:
    def __init__(self, api, folder, *flags):
        config = folder / "kubeconfig"
        config.write_text(json.dumps(api.kubeconfig()))
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "capm3_controller", f"--kubeconfig={config}", "--health-addr=127.0.0.1:0"),
                *("--diagnostics-address=0", "--leader-elect", "--kube-api-qps=0", "--logging-format=json", *flags),
            ],
            stderr=subprocess.PIPE,
            env={**os.environ, "KUBECONFIG": ""},
        )
        api.until(lambda: self.holder(api), 60)
        api.until(lambda: any(seen.watches and "metal3machines" in seen.path for seen in api.seen), 60)

    @staticmethod
    def holder(api):
        return ((api.world.get(kinds.LEASE, LEASE) or {}).get("spec") or {}).get("holderIdentity")

    def finish(self):
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, [json.loads(line) for line in err.decode().splitlines()]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_0_and_gives_the_lease_back(api, tmp_path, number):
    program = Program(api, tmp_path)
    program.process.send_signal(number)
    code, lines = program.finish()
    assert code == 0
    assert Program.holder(api) == ""
    assert lines[-1]["msg"] == "Stopped"
    assert not [line for line in lines if line.get("level") == "error"]


def test_a_second_signal_ends_it_at_once(api, tmp_path):
    program = Program(api, tmp_path)
    api.held.clear()
    api.world.create(kinds.METAL3_CLUSTER.new("ns", "c", spec={}))
    api.until(lambda: any("metal3clusters" in seen.path and seen.method == "PATCH" for seen in api.seen), 60)
    program.process.send_signal(signal.SIGTERM)
    api.until(lambda: b"Stopping" in program.process.stderr.readline(), 60)
    program.process.send_signal(signal.SIGTERM)
    assert program.process.wait(10) == 1


def test_a_stolen_lease_ends_it_with_1(api, tmp_path):
    program = Program(api, tmp_path)
    api.world.patch(kinds.LEASE, LEASE, {"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 60}})
    code, lines = program.finish()
    assert code == 1
    assert any(line["msg"] == "Lost the lease" for line in lines)
