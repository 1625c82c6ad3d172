"""The doctor names every lack with its mend, and only a lack of the default tier makes it fail."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from capm3_testbed import doctor
from rich.console import Console


def test_every_bad_finding_says_how_to_mend_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    out = StringIO()
    code = doctor.main(Console(file=out, width=200))
    text = out.getvalue()
    assert code == 0  # the embedded tier needs none of what is missing here
    assert "neither etcd and kube-apiserver nor Go to build them" in text
    assert "install Go 1.26 or later" in text
    assert "apt-get install docker.io" in text


def test_a_lack_of_the_default_tier_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "sushy_tools" else object())
    out = StringIO()
    assert doctor.main(Console(file=out, width=200)) == 1
    assert "uv pip install sushy-tools" in out.getvalue()


def test_a_wrong_assets_folder_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    found = [finding for finding in doctor.check() if finding.tier == "apiserver" and finding.mend]
    assert str(tmp_path) in found[0].mend
