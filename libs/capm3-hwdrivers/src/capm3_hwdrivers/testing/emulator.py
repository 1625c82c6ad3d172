"""A real sushy-tools emulator for one made-up server, in its own process on a loopback port.

Apart from `redfish_server`, because this one is somebody else's Redfish implementation: it tells whether the drivers
speak Redfish, the other one whether they stand its faults. What sushy-tools' ``fake`` systems lack for a testbed is
added by the child process: a power delay that is a setting, memory and processor counts, what the server booted from,
and images that are fetched from loopback addresses only.
"""

from __future__ import annotations

import dataclasses
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import types
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Self, cast

_START_SECONDS = 30.0


class EmulatorError(Exception):
    """The emulator did not start, or no longer answers."""


@dataclasses.dataclass(frozen=True)
class Request:
    """One Redfish request the server saw.

    Args:
        status: HTTP status of the answer.
        body: the JSON sent, passwords masked; ``None`` when there was none.
        at: seconds since the epoch.
    """

    method: str
    path: str
    status: int
    body: Any = None
    at: float = 0.0


@dataclasses.dataclass(frozen=True)
class State:
    """What the made-up server is doing.

    Args:
        power: ``On`` or ``Off``.
        image: URL in the virtual CD, ``""`` when it is empty.
        boot_device: the override as Redfish names it, ``Cd``, ``Hdd``, ``Pxe``.
        booted_device: what it started from when it was last powered on; ``""`` when it is off.
        booted_image: URL it started from, ``""`` unless it runs from the virtual CD.
        boots: how often it was started.
        fetched: whether the image was really downloaded (loopback addresses only).
    """

    power: str
    image: str
    boot_device: str
    boot_mode: str
    booted_device: str
    booted_image: str
    boots: int
    fetched: bool


class Emulator:
    """One server. Use `start` and `stop`, or ``with``. Ends with this process, however that ends.

    Args:
        mac: address of the first network card; `macs` adds more.
        username: with `password`, HTTP basic authentication is demanded; both empty: none.
        port: 0 takes a free one.
        power_seconds: how long a power change takes.
    """

    def __init__(  # noqa: PLR0913 (what makes a server)
        self,
        name: str,
        uuid: str,
        mac: str,
        username: str = "",
        password: str = "",
        port: int = 0,
        *,
        macs: Sequence[str] = (),
        power_state: str = "Off",
        power_seconds: float = 0.5,
        memory_gib: int = 16,
        cpus: int = 8,
        disk_gib: int = 480,
    ) -> None:
        self.name = name
        self.uuid = uuid
        self._password = password
        self._token = secrets.token_hex(16)
        self._wish: dict[str, Any] = {
            "name": name,
            "uuid": uuid,
            "macs": [mac, *macs],
            "username": username,
            "port": port,
            "power_state": power_state,
            "power_seconds": power_seconds,
            "memory_gib": memory_gib,
            "cpus": cpus,
            "disk_gib": disk_gib,
            "token": self._token,
        }
        self._port = port
        self._dir: tempfile.TemporaryDirectory[str] | None = None
        self._child: subprocess.Popen[str] | None = None

    def start(self) -> Self:
        """Starts the process and waits until it listens.

        Raises:
            EmulatorError: it ended, or said nothing within 30 seconds.
        """
        return self.launch().wait()

    def launch(self) -> Self:
        """Starts the process without waiting; several can come up side by side. Call `wait` before use."""
        self._dir = tempfile.TemporaryDirectory(prefix="capm3-emulator-")
        folder = Path(self._dir.name)
        config = folder / "config.json"
        config.write_text(json.dumps({**self._wish, "folder": str(folder)}), encoding="utf-8")
        with (folder / "log").open("w", encoding="utf-8") as log:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "capm3_hwdrivers.testing.emulator_process", str(config)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
                env={**os.environ, "TMPDIR": str(folder)},  # sushy-tools never removes the images it downloads
            )
        stdin = cast(IO[str], self._child.stdin)
        stdin.write(json.dumps(self._password) + "\n")
        stdin.flush()
        return self

    def wait(self) -> Self:
        """Waits until the launched process listens."""
        child = self._running()
        timer = threading.Timer(_START_SECONDS, child.kill)
        timer.start()
        try:
            line = cast(IO[str], child.stdout).readline().strip()
        finally:
            timer.cancel()
        if not line.isdigit():
            log = self.log()
            self.stop()
            raise EmulatorError(f"the emulator of {self.name} did not start: {log[-2000:]}")
        self._port = int(line)
        return self

    def stop(self) -> None:
        """Ends the process and removes its files; may be called twice."""
        if self._child is not None:
            self._child.terminate()
            try:
                self._child.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe is not None:
                    pipe.close()
            self._child = None
        if self._dir is not None:
            self._dir.cleanup()
            self._dir = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        self.stop()

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def address(self) -> str:
        """As in ``BareMetalHost.spec.bmc.address``."""
        return f"redfish-virtualmedia+{self.url}/redfish/v1/Systems/{self.uuid}"

    @property
    def requests(self) -> list[Request]:
        """Every Redfish request so far, oldest first."""
        if self._dir is None:
            return []
        file = Path(self._dir.name) / "requests.jsonl"
        if not file.exists():
            return []
        lines = file.read_text(encoding="utf-8").split("\n")[:-1]
        return [Request(**json.loads(line)) for line in lines]

    def state(self) -> State:
        """What the server does now; not a Redfish request, so it is not among `requests`."""
        return State(**self._control("state"))

    def power_failure(self) -> None:
        """Takes the power away, as a pulled plug does; nobody asked for it over Redfish."""
        self._control("power-failure")

    def log(self) -> str:
        """What the process wrote to its standard error."""
        return (Path(self._dir.name) / "log").read_text(encoding="utf-8", errors="replace") if self._dir else ""

    def _control(self, verb: str) -> Any:
        request = urllib.request.Request(f"{self.url}/_emulator/{verb}", headers={"X-Emulator-Token": self._token})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=10) as answer:
                return json.load(answer)
        except OSError as error:
            raise EmulatorError(f"the emulator of {self.name} does not answer: {error}") from error

    def _running(self) -> subprocess.Popen[str]:
        if self._child is None:
            raise EmulatorError(f"the emulator of {self.name} was not launched")
        return self._child
