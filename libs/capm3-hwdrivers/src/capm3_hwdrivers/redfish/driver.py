"""The Redfish driver: the capabilities over one BMC, each within its time.

It only joins the parts; what they do is in `power`, `boot`, `media` and `collect`.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Self, TypeVar

from capm3_hwdrivers import errors
from capm3_hwdrivers.address import Address
from capm3_hwdrivers.deadline import Clock, Limits
from capm3_hwdrivers.model import Access, BootInfo, Inventory, Media, PowerState
from capm3_hwdrivers.redfish import boot, collect, media, power, quirks
from capm3_hwdrivers.redfish.connect import Body, Client

T = TypeVar("T")


class RedfishDriver:
    """One server. Calls from several threads queue up: a BMC stands one at a time best."""

    def __init__(
        self, address: Address, access: Access, limits: Limits | None = None, clock: Clock | None = None
    ) -> None:
        self._address = address
        self._limits = limits or Limits()
        self._client = Client(address, access, self._limits, clock)
        self._path = address.path
        self._resolved = False
        self._lock = threading.Lock()

    def power_state(self) -> PowerState:
        return self._do(lambda: power.state(self._system()))

    def set_power(self, goal: str, mode: str = "hard") -> None:
        self._do(lambda: power.change(self._client, self._system_path(), goal, mode))

    def boot_info(self) -> BootInfo:
        return self._do(lambda: boot.info(self._system()))

    def boot_once(self, device: str, mode: str = "") -> None:
        self._do(lambda: boot.set_once(self._client, self._system_path(), device, mode))

    def media(self) -> Media | None:
        return self._do(lambda: media.read(self._client, self._system_path()))

    def insert_media(self, url: str) -> None:
        self._do(lambda: media.insert(self._client, self._system_path(), url))

    def eject_media(self) -> None:
        self._do(lambda: media.eject(self._client, self._system_path()))

    def inventory(self) -> Inventory:
        return self._do(lambda: collect.hardware(self._client, self._system_path()))

    def close(self) -> None:
        with self._lock:
            self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        self.close()

    def _do(self, work: Callable[[], T]) -> T:
        if not self._lock.acquire(timeout=self._limits.total):
            raise errors.Busy(f"{self._address.authority}: another operation on this BMC is still running")
        try:
            self._client.begin()
            return work()
        finally:
            self._lock.release()

    def _system(self) -> Body:
        return self._client.get(self._system_path())

    def _system_path(self) -> str:
        """The System's path; looked up, and checked, once."""
        if not self._resolved:
            self._path = self._only_system() if not self._path else self._existing(self._path)
            self._resolved = True
        return self._path

    def _only_system(self) -> str:
        found = self._listed()
        if len(found) == 1:
            return found[0]
        where = f"{self._address.base}{self._client.root.systems}"
        if not found:
            raise errors.AddressInvalid("SystemNotFound", f"{where} lists no System")
        raise errors.AddressInvalid(
            "SystemAmbiguous",
            f"{where} lists {len(found)} Systems; end the BMC address with one of {', '.join(found)}",
        )

    def _existing(self, path: str) -> str:
        if self._client.find(path) is not None:
            return path
        known = ", ".join(self._listed()) or "none"
        raise errors.AddressInvalid(
            "SystemNotFound", f"{self._address.base} has no System {path}; it has {known}: correct the BMC address"
        )

    def _listed(self) -> tuple[str, ...]:
        return quirks.links((self._client.find(self._client.root.systems) or {}).get("Members"))
