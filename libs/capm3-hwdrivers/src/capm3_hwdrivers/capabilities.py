"""What a driver may be able to do, one protocol each.

Split by capability, because drivers differ in them: IPMI has power and boot but neither media nor inventory. Every
method keeps to the operation's total time and raises `errors.DriverError` only.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from capm3_hwdrivers.model import BootInfo, Inventory, Media, PowerState


@runtime_checkable
class Power(Protocol):
    def power_state(self) -> PowerState: ...

    def set_power(self, goal: str, mode: str = "hard") -> None:
        """Asks for ``on`` or ``off`` (``soft`` or ``hard``) and returns without waiting for the effect.

        A server that is there already, or on its way, is left alone.
        """
        ...


@runtime_checkable
class Boot(Protocol):
    def boot_info(self) -> BootInfo: ...

    def boot_once(self, device: str, mode: str = "") -> None:
        """Sets the device of the next start: ``cd``, ``disk`` or ``pxe``; `mode` ``UEFI``, ``legacy`` or as it is."""
        ...


@runtime_checkable
class VirtualMedia(Protocol):
    def media(self) -> Media | None:
        """The virtual CD, ``None`` when the BMC has none."""
        ...

    def insert_media(self, url: str) -> None:
        """Puts the image in; another one is ejected first. Returns when the BMC reports it inserted."""
        ...

    def eject_media(self) -> None:
        """Empties the virtual CD; one that is empty already is a success."""
        ...


@runtime_checkable
class Inspect(Protocol):
    def inventory(self) -> Inventory: ...


class Driver(Power, Boot, VirtualMedia, Inspect, Protocol):
    """All of them."""

    def close(self) -> None:
        """Gives back what the BMC keeps for us (a session). Never raises."""
        ...
