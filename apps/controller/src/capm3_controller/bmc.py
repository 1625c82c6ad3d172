"""Real servers for the managers: the `Bmc` port over the hardware drivers.

The translation between two vocabularies that know nothing of each other, and the promise that a BMC gets one call at a
time: many can't bear two, and a second worker has better things to do than to wait long for one that hangs.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from capm3_hwdrivers import errors
from capm3_hwdrivers.model import Access
from capm3_managers.ports import BmcAccess, BmcError, BmcFailure, BmcView
from pydantic import SecretStr

if TYPE_CHECKING:
    from capm3_hwdrivers.service import Service

TURN_SECONDS = 5.0


class Servers:
    """Implements `capm3_managers.ports.Bmc`; thread-safe.

    Args:
        turn: how long to wait for another call to the same BMC.
    """

    def __init__(self, service: Service | None = None, *, turn: float = TURN_SECONDS) -> None:
        self._made = service
        self._turn = turn
        self._guard = threading.Lock()
        self._locks: dict[str, tuple[threading.Lock, int]] = {}

    @property
    def _service(self) -> Service:
        """Made when it is first needed: the drivers are a third of the program's memory, and most run without them."""
        with self._guard:
            if self._made is None:
                from capm3_hwdrivers.service import Service

                self._made = Service()
            return self._made

    def observe(self, access: BmcAccess, *, inventory: bool = False, media: bool = False) -> BmcView | BmcFailure:
        """See the port."""
        try:
            with self._alone(access.address):
                view = self._service.observe(_access(access), inventory=inventory, media=media)
        except errors.DriverError as error:
            return _failure(error)
        except BmcError as error:
            return error.failure
        return BmcView(
            power=view.power.value,
            media=view.media.image if view.media is not None else None,
            boot_mode=view.boot.mode,
            inventory=view.inventory.to_hardware() if view.inventory is not None else None,
            notes=view.notes,
        )

    def perform(self, access: BmcAccess, op: str, args: Mapping[str, str]) -> None:
        """See the port."""
        try:
            with self._alone(access.address):
                self._service.perform(_access(access), op, args)
        except errors.DriverError as error:
            raise BmcError(_failure(error)) from None

    def close(self) -> None:
        if self._made is not None:
            self._made.close()

    @contextlib.contextmanager
    def _alone(self, address: str) -> Iterator[None]:
        with self._guard:
            lock, users = self._locks.get(address, (threading.Lock(), 0))
            self._locks[address] = (lock, users + 1)
        try:
            if not lock.acquire(timeout=self._turn):
                raise BmcError(BmcFailure("Busy", "another call to this BMC is still running"))
            try:
                yield
            finally:
                lock.release()
        finally:
            with self._guard:
                lock, users = self._locks[address]
                if users > 1:
                    self._locks[address] = (lock, users - 1)
                else:
                    del self._locks[address]


def _access(access: BmcAccess) -> Access:
    return Access(
        address=access.address,
        username=access.username,
        password=SecretStr(access.password),
        verify_certificate=access.verify_certificate,
        boot_mac=access.boot_mac,
    )


def _failure(error: errors.DriverError) -> BmcFailure:
    return BmcFailure(error.reason, error.message, error.transient)
