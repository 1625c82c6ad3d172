"""The sushy-tools emulator: what the testbed relies on."""

from __future__ import annotations

import http.server
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from capm3_hwdrivers.model import Access
from capm3_hwdrivers.service import Service
from capm3_hwdrivers.testing.emulator import Emulator, EmulatorError
from pydantic import SecretStr

UUID = "22222222-0000-4000-8000-000000000002"


@pytest.fixture(scope="module")
def running() -> Iterator[Emulator]:
    with Emulator("node-1", UUID, "02:00:00:00:00:02", "admin", "password", power_seconds=0.1) as emulator:
        yield emulator


@pytest.fixture
def service() -> Service:
    return Service()


def access(emulator: Emulator) -> Access:
    return Access(address=emulator.address, username="admin", password=SecretStr("password"))


def wait_for(emulator: Emulator, power: str) -> None:
    end = time.monotonic() + 10
    while emulator.state().power != power:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_boot_from_the_virtual_cd_is_seen_and_a_power_failure_ends_it(running: Emulator, service: Service) -> None:
    image = "http://images.example.test/live.iso"
    service.perform(access(running), "insert-media", {"url": image})
    service.perform(access(running), "boot-once", {"device": "cd"})
    service.perform(access(running), "power-on", {})
    wait_for(running, "On")
    state = running.state()
    assert (state.booted_image, state.booted_device, state.boots, state.fetched) == (image, "Cd", 1, False)
    running.power_failure()
    assert (running.state().power, running.state().booted_image) == ("Off", "")
    service.perform(access(running), "eject-media", {})
    assert running.state().image == ""


def test_the_hardware_is_read_in_full(running: Emulator, service: Service) -> None:
    found = service.observe(access(running), inventory=True).inventory
    assert found is not None
    hardware = found.to_hardware()
    assert hardware["cpu"]["count"] == 8 and hardware["ramMebibytes"] == 16384
    assert hardware["storage"][0] | {"sizeBytes": 480 * 1024**3, "type": "HDD"} == hardware["storage"][0]
    assert hardware["nics"] == [{"name": "02:00:00:00:00:02", "mac": "02:00:00:00:00:02"}]
    assert not [note for note in found.notes if "500" in note or "404" in note]


def test_every_redfish_request_is_listed_and_nothing_else(running: Emulator, service: Service) -> None:
    before = len(running.requests)
    service.perform(access(running), "power-off", {"mode": "hard"})
    service.observe(access(running))
    running.state()
    seen = running.requests[before:]
    assert all(request.path.startswith("/redfish/") for request in seen)
    assert {request.method for request in seen} >= {"GET"}
    assert all(request.status == 200 for request in seen if request.method == "GET")


def test_no_password_is_in_the_process_list_or_in_its_files(running: Emulator) -> None:
    assert running._child is not None and running._dir is not None
    assert "password" not in Path(f"/proc/{running._child.pid}/cmdline").read_text()
    for path in Path(running._dir.name).rglob("*"):
        if path.is_file():
            assert b'"password"' not in path.read_bytes() or b"admin:$2" in path.read_bytes()


def test_an_image_on_this_machine_is_really_fetched(running: Emulator, service: Service, tmp_path: Path) -> None:
    (tmp_path / "tiny.iso").write_bytes(b"x" * 1000)
    fetched: list[str] = []

    class Files(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(tmp_path))  # type: ignore[arg-type]

        def log_message(self, format: str, *args: object) -> None:
            fetched.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        service.perform(access(running), "insert-media", {"url": f"http://127.0.0.1:{server.server_port}/tiny.iso"})
    finally:
        server.shutdown()
        server.server_close()
    assert fetched == ["/tiny.iso"]
    assert running.state().fetched
    service.perform(access(running), "eject-media", {})


def test_its_questions_are_only_answered_to_its_parent(running: Emulator) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{running.url}/_emulator/state")
    assert caught.value.code == 403


def test_a_port_that_is_taken_is_told_with_the_reason(running: Emulator) -> None:
    with pytest.raises(EmulatorError, match="did not start"):
        Emulator("node-2", UUID, "02:00:00:00:00:03", port=running.port).start()


def test_stopping_leaves_neither_process_nor_files() -> None:
    emulator = Emulator("node-3", UUID, "02:00:00:00:00:04").start()
    assert emulator._child is not None and emulator._dir is not None
    pid, folder = emulator._child.pid, Path(emulator._dir.name)
    emulator.stop()
    emulator.stop()
    assert not folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
