"""The commands for people: what they print, where the password comes from, and how they fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from capm3_hwdrivers import __main__ as program
from capm3_hwdrivers.testing.redfish_machine import Profile
from capm3_hwdrivers.testing.redfish_server import Fault, RedfishServer

IMAGE = "http://images.example.test/live.iso"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPM3_BMC_USERNAME", "admin")
    monkeypatch.setenv("CAPM3_BMC_PASSWORD", "password")


@pytest.fixture
def peer() -> Iterator[RedfishServer]:
    with RedfishServer() as running:
        yield running


def call(*words: str) -> int:
    try:
        return program.main(words)
    except SystemExit as end:
        return int(end.code or 0)


def test_probe_says_what_the_server_is_and_can(peer: RedfishServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("probe", peer.address) == 0
    out = capsys.readouterr().out
    assert "power: off" in out and "liveIso: true" in out and "bootMode: UEFI" in out


def test_power_is_changed_and_waited_for(peer: RedfishServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("power", peer.address, "on", "--wait") == 0
    assert call("power", peer.address, "off", "--soft", "--wait") == 0
    assert peer.machine.resets == ["On", "GracefulShutdown"]
    assert capsys.readouterr().out.splitlines() == ["power: on", "power: off"]


def test_media_and_boot_are_set_and_shown(peer: RedfishServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("media", peer.address, "insert", IMAGE) == 0
    assert call("boot", peer.address, "cd") == 0
    assert call("power", peer.address, "on") == 0
    assert peer.machine.booted_from == IMAGE
    assert call("media", peer.address, "eject") == 0
    out = capsys.readouterr().out
    assert f"image: {IMAGE}" in out and "device: cd" in out and "image: (empty)" in out


def test_the_inventory_is_json_when_asked(peer: RedfishServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("inventory", peer.address, "-o", "json") == 0
    hardware = json.loads(capsys.readouterr().out)["hardware"]
    assert hardware["storage"][0]["type"] == "NVME"
    assert hardware["cpu"] == {"arch": "x86_64", "model": "Example CPU", "count": 16, "clockMegahertz": 3600.0}


def test_the_inventory_is_readable_text(peer: RedfishServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("inventory", peer.address) == 0
    assert "    - name: 1" in capsys.readouterr().out


def test_the_password_may_come_from_a_file(
    peer: RedfishServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CAPM3_BMC_PASSWORD")
    file = tmp_path / "password"
    file.write_text("password\n")
    assert call("power", peer.address, "--password-file", str(file)) == 0


def test_there_is_no_option_that_takes_a_password(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("power", "--password", "x", "redfish://192.0.2.9") == 2
    capsys.readouterr()
    assert call("power", "--help") == 0
    assert "--password " not in capsys.readouterr().out


def test_without_a_password_and_a_terminal_it_says_how_to_give_one(
    peer: RedfishServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CAPM3_BMC_PASSWORD")
    monkeypatch.setattr("sys.stdin", open("/dev/null"))  # noqa: SIM115, PTH123
    assert call("power", peer.address) == 2
    assert "CAPM3_BMC_PASSWORD" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["probe", "irmc://192.0.2.9"], 2, "AddressInvalid: Unknown BMC type 'irmc'"),
        (["probe", "redfish://192.0.2.9/redfish/v1/Managers/1"], 2, "points at a Manager"),
        (["probe", "ipmi://192.0.2.9"], 1, "NotSupported: ipmi:// needs the ipmi driver"),
        (["media", "redfish://192.0.2.9", "insert"], 2, "needs the URL"),
        (["power", "redfish://192.0.2.9", "--timeout", "soon"], 2, "no number of seconds"),
        (["probe", "redfish://192.0.2.9", "--ca-file", "/nonexistent"], 2, "no such file"),
        ([], 2, "COMMAND"),
    ],
)
def test_wrong_use_is_told_without_asking_the_bmc(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*words) == code
    assert said in capsys.readouterr().err


def test_a_refused_password_fails_and_is_not_shown(
    peer: RedfishServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CAPM3_BMC_PASSWORD", "wr0ng-secret")
    assert call("power", peer.address) == 1
    shown = capsys.readouterr()
    assert "CredentialsRefused" in shown.err and "wr0ng-secret" not in shown.err + shown.out


def test_what_may_pass_has_its_own_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with RedfishServer(faults=(Fault("answer", status=503, times=99),)) as busy:
        assert call("power", busy.address, "--timeout", "1", "-o", "json") == 3
    error = json.loads(capsys.readouterr().err)["error"]
    assert (error["reason"], error["transient"]) == ("Busy", True)


def test_a_server_without_virtual_media_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with RedfishServer(Profile(media_at="none")) as peer:
        assert call("media", peer.address) == 1
    assert "no virtual CD" in capsys.readouterr().err
