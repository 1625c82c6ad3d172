"""Servers in memory behind the `Bmc` port, with knobs for what real ones do wrong.

Apart from the drivers' own fake, because managers must be testable without any driver, and time here is the scenario's:
a power change takes effect after a number of looks, not of seconds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from capm3_api.model import Raw

from capm3_managers.ports import BmcAccess, BmcError, BmcFailure, BmcView


@dataclasses.dataclass
class Server:
    """Args:
    power: ``on`` or ``off``, or anything else a BMC may say.
    media: URL in the virtual CD, ``None`` when there is no such slot.
    delay: how many looks a power change takes to show.
    ignores_soft: the operating system never shuts down.
    failing: what the next looks answer instead of a view, in order.
    refusing: what the next actions fail with, in order; the action has no effect then.
    """

    power: str = "off"
    media: str | None = ""
    password: str = "password"
    delay: int = 0
    ignores_soft: bool = False
    boot_device: str = ""
    booted_from: str = ""
    starts: int = 0
    looks: int = 0
    inventory: Raw = dataclasses.field(
        default_factory=lambda: {"cpu": {}, "firmware": {"bios": {}}, "systemVendor": {}}
    )
    actions: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    failing: list[BmcFailure] = dataclasses.field(default_factory=list)
    refusing: list[BmcFailure] = dataclasses.field(default_factory=list)
    _coming: str = ""
    _left: int = 0

    def tick(self) -> None:
        if self._coming and self._left <= 0:
            self.switch(self._coming)
        self._left -= 1

    def ask(self, power: str) -> None:
        if power != self.power:
            self._coming, self._left = power, self.delay
            self.tick()

    def switch(self, power: str) -> None:
        """The power is now like this, whoever did it."""
        self._coming = ""
        if power == "on" and self.power != "on":
            self.starts += 1
            self.booted_from = (self.media or "") if self.boot_device == "cd" else "disk"
            self.boot_device = ""
        if power == "off":
            self.booted_from = ""
        self.power = power


class Servers:
    """A `Bmc` over `Server`s by address; an unknown address is unreachable."""

    def __init__(self, servers: Mapping[str, Server] | None = None) -> None:
        self.servers: dict[str, Server] = dict(servers or {})

    def observe(self, access: BmcAccess, *, inventory: bool = False, media: bool = False) -> BmcView | BmcFailure:
        server = self.servers.get(access.address)
        if server is None:
            return BmcFailure("Unreachable", "connection refused")
        server.looks += 1
        if server.failing:
            return server.failing.pop(0)
        refused = _refused(server, access)
        if refused is not None:
            return refused
        server.tick()
        return BmcView(
            power=server.power,
            media=server.media if media else None,
            inventory=server.inventory if inventory else None,
        )

    def perform(self, access: BmcAccess, op: str, args: Mapping[str, str]) -> None:
        server = self.servers.get(access.address)
        if server is None:
            raise BmcError(BmcFailure("Unreachable", "connection refused"))
        refused = _refused(server, access) or (server.refusing.pop(0) if server.refusing else None)
        if refused is not None:
            raise BmcError(refused)
        server.actions.append((op, " ".join(args.values())))
        _act(server, op, args)


def _refused(server: Server, access: BmcAccess) -> BmcFailure | None:
    if access.password == server.password:
        return None
    return BmcFailure("CredentialsRefused", "the BMC refuses the user", transient=False)


def _act(server: Server, op: str, args: Mapping[str, str]) -> None:
    if op == "power-on":
        server.ask("on")
    elif op == "power-off" and not (server.ignores_soft and args.get("mode") == "soft"):
        server.ask("off")
    elif op == "insert-media":
        server.media = args["url"]
    elif op == "eject-media":
        server.media = ""
    elif op == "boot-once":
        server.boot_device = args["device"]
