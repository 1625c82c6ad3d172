"""A server in memory with all capabilities and knobs for what real BMCs do wrong.

The third peer of the contract suite beside sushy-tools and the test server, and what programs that use the drivers test
against. Time is the caller's: a power change shows after a number of looks.
"""

from __future__ import annotations

import dataclasses
import threading

from capm3_hwdrivers import errors, powerplan
from capm3_hwdrivers.model import Access, BootInfo, Inventory, Media, Nic, PowerState

RESET_TYPES = ("On", "ForceOff", "GracefulShutdown")


@dataclasses.dataclass
class Faults:
    """Args:
    failures: raised by the next calls, in order, before they have any effect.
    lost_answers: so many actions take effect and then fail as if the connection broke.
    ignores_soft: the operating system does not shut down.
    """

    failures: list[errors.DriverError] = dataclasses.field(default_factory=list)
    lost_answers: int = 0
    ignores_soft: bool = False


@dataclasses.dataclass
class FakeServer:
    """The hardware.

    Args:
        looks: how often the power has to be read until a change shows.
        has_media: whether there is a virtual CD.
        resets: the reset types it was sent, in order.
    """

    username: str = "admin"
    password: str = "password"  # noqa: S105 (a made-up server's)
    power: PowerState = PowerState.OFF
    looks: int = 0
    has_media: bool = True
    image: str = ""
    boot: BootInfo = BootInfo(device="disk", mode="UEFI")
    reset_types: tuple[str, ...] = RESET_TYPES
    faults: Faults = dataclasses.field(default_factory=Faults)
    hardware: Inventory = Inventory(
        manufacturer="Example", product="Fake", ram_mib=16384, nics=(Nic(name="nic1", mac="02:00:00:00:00:01"),)
    )
    resets: list[str] = dataclasses.field(default_factory=list)
    booted_from: str = ""
    _coming: PowerState | None = None
    _left: int = 0

    def look(self) -> PowerState:
        """The power as a BMC shows it; time passes with every look."""
        if self._coming is not None:
            if self._left <= 0:
                self.switch(self._coming)
            else:
                self._left -= 1
                return PowerState.POWERING_ON if self._coming == PowerState.ON else PowerState.POWERING_OFF
        return self.power

    def reset(self, kind: str) -> None:
        self.resets.append(kind)
        if kind == "GracefulShutdown" and self.faults.ignores_soft:
            return
        self._coming = PowerState.ON if kind == "On" else PowerState.OFF
        self._left = self.looks
        if not self.looks:
            self.switch(self._coming)

    def switch(self, power: PowerState) -> None:
        """The power is now like this, whoever did it; a start uses up a boot-once device."""
        if power == PowerState.ON and self.power != PowerState.ON:
            self.booted_from = self.image if self.boot.device == "cd" else self.boot.device
            if self.boot.once:
                self.boot = BootInfo(device="disk", mode=self.boot.mode)
        if power == PowerState.OFF:
            self.booted_from = ""
        self.power, self._coming = power, None


class FakeDriver:
    """A driver over a `FakeServer`."""

    def __init__(self, server: FakeServer, access: Access) -> None:
        self._server = server
        self._access = access
        self._lock = threading.Lock()

    def power_state(self) -> PowerState:
        with self._begun() as server:
            return server.look()

    def set_power(self, goal: str, mode: str = "hard") -> None:
        with self._begun() as server:
            try:
                kind = powerplan.choose(goal, mode, server.look(), server.reset_types)
            except LookupError as error:
                raise errors.NotSupported(f"{error}; the server offers {', '.join(server.reset_types)}") from None
            if kind is not None:
                server.reset(kind)
                self._answer()

    def boot_info(self) -> BootInfo:
        with self._begun() as server:
            return server.boot

    def boot_once(self, device: str, mode: str = "") -> None:
        with self._begun() as server:
            if device not in ("cd", "disk", "pxe"):
                raise errors.NotSupported(f"boot device {device!r} is unknown")
            server.boot = BootInfo(device=device, once=True, mode=mode or server.boot.mode)
            self._answer()

    def media(self) -> Media | None:
        with self._begun() as server:
            return Media(image=server.image, slot="/fake/cd") if server.has_media else None

    def insert_media(self, url: str) -> None:
        with self._begun() as server:
            if not server.has_media:
                raise errors.NotSupported("the server has no virtual CD")
            server.image = url
            self._answer()

    def eject_media(self) -> None:
        with self._begun() as server:
            server.image = ""
            self._answer()

    def inventory(self) -> Inventory:
        with self._begun() as server:
            return server.hardware

    def close(self) -> None:
        return

    def _begun(self) -> _Held:
        return _Held(self._lock, self._server, self._access)

    def _answer(self) -> None:
        if self._server.faults.lost_answers > 0:
            self._server.faults.lost_answers -= 1
            raise errors.Unreachable("the connection broke before the answer came")


class _Held:
    """One call on the server: one at a time, after its faults and its password."""

    def __init__(self, lock: threading.Lock, server: FakeServer, access: Access) -> None:
        self._lock = lock
        self._server = server
        self._access = access

    def __enter__(self) -> FakeServer:
        self._lock.acquire()
        try:
            if self._server.faults.failures:
                raise self._server.faults.failures.pop(0)
            given = (self._access.username, self._access.password.get_secret_value())
            if given != (self._server.username, self._server.password):
                raise errors.CredentialsRefused(f"the server refuses user {self._access.username!r}")
        except errors.DriverError:
            self._lock.release()
            raise
        return self._server

    def __exit__(self, *_: object) -> None:
        self._lock.release()
