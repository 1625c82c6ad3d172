"""The controller's benchmark: finds the harness and the recorded figures, and says what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from capm3_testbed import bench
from capm3_testbed.apiserver.build import MissingToolError


def test_a_missing_harness_is_said_with_the_way_to_name_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--harness", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert str(tmp_path) in told and "--harness" in told and bench.HARNESS_VARIABLE in told


def test_the_harness_is_found_by_option_then_by_variable(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bench.py").write_text("")
    environ = {bench.HARNESS_VARIABLE: str(tmp_path / "b")}
    assert bench.find_harness(tmp_path / "a", environ) == tmp_path / "a"
    assert bench.find_harness(None, environ) == tmp_path / "b"
    with pytest.raises(MissingToolError):
        bench.find_harness(None, {bench.HARNESS_VARIABLE: str(tmp_path / "c")})


def test_only_recorded_runs_of_the_same_size_are_compared(tmp_path: Path) -> None:
    for name, machines in (("upstream-n50", 50), ("upstream-n200", 200)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"config": {"machines": machines}}))
    (tmp_path / "upstream-broken.json").write_text("{")
    assert [path.name for path in bench.recorded(tmp_path, 50)] == ["upstream-n50.json"]


def test_what_the_environment_names_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"BENCH_ETCD": "/e", "BENCH_APISERVER": "/a", "BENCH_KUBECTL": "/k", "BENCH_CAPI": "/c", "PATH": "/bin"}
    found = bench.environment(given)
    assert {name: found[name] for name in given if name != "PATH"} == {k: v for k, v in given.items() if k != "PATH"}
    assert found["PATH"].endswith(":/bin")


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
