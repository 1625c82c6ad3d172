"""All servers behind two calls, for controllers: look at one, do something to one.

It keeps a connected driver per BMC between calls (BMCs have few sessions), forgets it when the credentials change or
it failed, and holds no state about servers.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping

from capm3_hwdrivers import errors, registry
from capm3_hwdrivers.capabilities import Driver
from capm3_hwdrivers.deadline import Limits
from capm3_hwdrivers.model import Access, BootInfo, View

Connect = Callable[[Access], Driver]

OPERATIONS = ("power-on", "power-off", "insert-media", "eject-media", "boot-once")


class Service:
    """Args:
    connect: makes a driver; a fake's in tests.
    keep: how many connected drivers are kept.
    """

    def __init__(self, connect: Connect | None = None, *, limits: Limits | None = None, keep: int = 256) -> None:
        self._connect: Connect = connect or (lambda access: registry.connect(access, limits))
        self._keep = keep
        self._drivers: OrderedDict[str, tuple[str, Driver]] = OrderedDict()
        self._lock = threading.Lock()

    def observe(self, access: Access, *, inventory: bool = False, media: bool = False) -> View:
        """Reads a server.

        Raises:
            DriverError: it could not be asked, or refused.
        """
        driver = self._driver(access)
        try:
            found = driver.inventory() if inventory else None
            return View(
                power=driver.power_state(),
                boot=driver.boot_info() if inventory else BootInfo(),
                media=driver.media() if media else None,
                inventory=found,
                notes=found.notes if found is not None else (),
            )
        except errors.DriverError:
            self._forget(access)
            raise

    def perform(self, access: Access, op: str, args: Mapping[str, str]) -> None:
        """Does one thing: ``power-on``; ``power-off`` (`mode`: ``soft`` or ``hard``); ``insert-media`` (`url`);
        ``eject-media``; ``boot-once`` (`device`; `mode`).

        Raises:
            DriverError: it failed; what happened is unknown until the next `observe`.
        """
        driver = self._driver(access)
        try:
            _perform(driver, op, args)
        except errors.DriverError:
            self._forget(access)
            raise

    def close(self) -> None:
        """Gives every session back."""
        with self._lock:
            drivers = [driver for _, driver in self._drivers.values()]
            self._drivers.clear()
        for driver in drivers:
            driver.close()

    def _driver(self, access: Access) -> Driver:
        mark = _mark(access)
        old: list[Driver] = []
        with self._lock:
            known = self._drivers.get(access.address)
            if known is not None and known[0] == mark:
                self._drivers.move_to_end(access.address)
                return known[1]
            driver = self._connect(access)
            if known is not None:
                old.append(known[1])
            self._drivers[access.address] = (mark, driver)
            self._drivers.move_to_end(access.address)
            while len(self._drivers) > self._keep:
                old.append(self._drivers.popitem(last=False)[1][1])
        for one in old:
            one.close()
        return driver

    def _forget(self, access: Access) -> None:
        with self._lock:
            known = self._drivers.pop(access.address, None)
        if known is not None:
            known[1].close()


def _perform(driver: Driver, op: str, args: Mapping[str, str]) -> None:
    if op == "power-on":
        driver.set_power("on")
    elif op == "power-off":
        driver.set_power("off", args.get("mode") or "hard")
    elif op == "insert-media":
        driver.insert_media(args["url"])
    elif op == "eject-media":
        driver.eject_media()
    elif op == "boot-once":
        driver.boot_once(args["device"], args.get("mode") or "")
    else:
        raise errors.NotSupported(f"operation {op!r} is unknown; known are {', '.join(OPERATIONS)}")


def _mark(access: Access) -> str:
    """A fingerprint of everything but the address, so that no password is kept for comparing."""
    parts = (access.username, access.password.get_secret_value(), str(access.verify_certificate), access.ca_file)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
