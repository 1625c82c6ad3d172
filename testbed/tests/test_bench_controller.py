"""The controller's benchmark starts the harness with our program and passes its answer on."""

from __future__ import annotations

from pathlib import Path

import pytest
from capm3_testbed import bench


def test_the_harness_runs_our_controller_and_its_answer_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bench.py").write_text("import sys; print(sys.argv[1:]); sys.exit(1)")
    for name in ("ETCD", "APISERVER", "KUBECTL", "CAPI"):
        monkeypatch.setenv(f"BENCH_{name}", "/x")
    code = bench.main(["--harness", str(tmp_path), "-n", "7", "--results", str(tmp_path / "r"), "--phases", "delete"])
    told = capfd.readouterr().out
    assert code == 1
    assert "'-n', '7'" in told and "'--phases', 'delete'" in told and "--kube-api-qps=1000" in told
