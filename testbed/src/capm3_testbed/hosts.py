"""The testbed's servers: a sushy-tools emulator for each, and the BareMetalHost and Secret that tell of it.

Apart from the tiers, because the servers are the same whatever API server runs: real Redfish over HTTP, made-up hardware.
"""

from __future__ import annotations

import base64
import dataclasses
import logging
import secrets
import threading
import uuid
from collections.abc import Sequence

from capm3_api import kinds
from capm3_api.model import Raw
from capm3_hwdrivers.testing.emulator import Emulator, EmulatorError, Request

log = logging.getLogger(__name__)
USERNAME = "admin"
BOOT_MAC_ANNOTATION = "testbed.capm3.metal3.io/boot-mac"


@dataclasses.dataclass(frozen=True)
class Server:
    """One made-up server.

    Args:
        name: also of its BareMetalHost.
        mac: of its boot interface.
    """

    name: str
    mac: str
    password: str = dataclasses.field(repr=False)
    emulator: Emulator

    @property
    def address(self) -> str:
        return self.emulator.address

    def running_image(self) -> tuple[str, int]:
        try:
            state = self.emulator.state()
        except EmulatorError as error:
            log.debug("%s: %s", self.name, error)
            return "", 0
        return (state.booted_image if state.power == "On" else ""), state.boots

    def objects(self, namespace: str, *, online: bool = True, password: str | None = None) -> list[Raw]:
        """The Secret with the BMC's credentials and the BareMetalHost.

        Args:
            password: another one than the server's own, to see it refused.
        """
        credentials = {"username": USERNAME, "password": self.password if password is None else password}
        data = {key: base64.b64encode(value.encode()).decode() for key, value in credentials.items()}
        secret = kinds.SECRET.new(namespace, f"{self.name}-bmc", type="Opaque", data=data)
        spec = {
            "online": online,
            "bootMACAddress": self.mac,
            "bootMode": "UEFI",
            "bmc": {"address": self.address, "credentialsName": f"{self.name}-bmc"},
        }
        host = kinds.BARE_METAL_HOST.new(namespace, self.name, spec=spec)
        host["metadata"]["annotations"] = {BOOT_MAC_ANNOTATION: self.mac}
        return [secret, host]


class Fleet:
    """A number of servers, started side by side and ended together."""

    def __init__(self, count: int, *, power_seconds: float = 0.5, prefix: str = "host") -> None:
        self.servers: list[Server] = [
            _server(number, f"{prefix}-{number}", power_seconds) for number in range(1, count + 1)
        ]

    def launch(self) -> None:
        """Starts the processes without waiting for them."""
        for server in self.servers:
            server.emulator.launch()

    def wait(self) -> None:
        """Waits until all servers answer.

        Raises:
            EmulatorError: one did not start.
        """
        for server in self.servers:
            server.emulator.wait()

    def stop(self) -> None:
        threads = [threading.Thread(target=server.emulator.stop) for server in self.servers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def objects(self, namespace: str) -> list[Raw]:
        """The BareMetalHosts and their Secrets."""
        return [obj for server in self.servers for obj in server.objects(namespace)]

    def requests(self) -> dict[str, Sequence[Request]]:
        """The Redfish requests that each server saw, by its name."""
        return {server.name: server.emulator.requests for server in self.servers}


def _server(number: int, name: str, power_seconds: float) -> Server:
    mac = f"52:54:00:00:00:{number:02x}"
    password = secrets.token_urlsafe(12)
    identity = str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}.capm3.testbed"))
    emulator = Emulator(name, identity, mac, USERNAME, password, power_seconds=power_seconds)
    return Server(name, mac, password, emulator)
