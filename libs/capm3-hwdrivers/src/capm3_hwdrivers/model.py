"""What the drivers report about a server: power, boot override, virtual media, hardware.

Values only, in this library's own terms, so that callers know neither Redfish nor any vendor.
"""

from __future__ import annotations

import enum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class PowerState(enum.StrEnum):
    """What the BMC says about the power. Unknown is never "off"."""

    ON = "on"
    OFF = "off"
    POWERING_ON = "powering-on"
    POWERING_OFF = "powering-off"
    UNKNOWN = "unknown"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class Access(_Value):
    """How to reach one server's BMC.

    Attributes:
        address: as in ``BareMetalHost.spec.bmc.address``.
        verify_certificate: off only when the host says so; no environment variable changes it.
        ca_file: PEM file of the authorities to trust instead of the usual ones.
    """

    address: str
    username: str = ""
    password: SecretStr = SecretStr("")
    verify_certificate: bool = True
    ca_file: str = ""
    boot_mac: str = ""


class BootInfo(_Value):
    """The boot override.

    Attributes:
        device: ``cd``, ``disk``, ``pxe``, ``http``, another name in lower case, ``""`` for none.
        once: it holds for the next start only.
        mode: ``UEFI``, ``legacy`` or ``""`` when the BMC does not say.
    """

    device: str = ""
    once: bool = False
    mode: str = ""


class Media(_Value):
    """The virtual CD.

    Attributes:
        image: URL; ``""`` when it is empty.
        slot: its path, for people.
    """

    image: str = ""
    slot: str = ""


class Nic(_Value):
    name: str = ""
    mac: str = ""
    model: str = ""
    ip: str = ""
    speed_gbps: int = 0
    pxe: bool = False


class Disk(_Value):
    """Attributes:
    kind: ``HDD``, ``SSD``, ``NVME`` or ``""``.
    """

    name: str = ""
    kind: str = ""
    size_bytes: int = 0
    vendor: str = ""
    model: str = ""
    serial_number: str = ""
    wwn: str = ""
    rotational: bool | None = None


class Cpu(_Value):
    arch: str = ""
    model: str = ""
    count: int = 0
    clock_mhz: float = 0.0


class Inventory(_Value):
    """Hardware as read out of band.

    Attributes:
        notes: what could not be read, one sentence each, naming the resource and the field.
    """

    manufacturer: str = ""
    product: str = ""
    serial_number: str = ""
    bios_version: str = ""
    bios_date: str = ""
    hostname: str = ""
    ram_mib: int = 0
    cpu: Cpu = Cpu()
    nics: tuple[Nic, ...] = ()
    disks: tuple[Disk, ...] = ()
    notes: tuple[str, ...] = Field(default=())

    def to_hardware(self) -> dict[str, Any]:
        """In the shape of ``BareMetalHost.status.hardware``; what is not known is left out."""
        hardware: dict[str, Any] = {
            "systemVendor": _known(
                manufacturer=self.manufacturer, productName=self.product, serialNumber=self.serial_number
            ),
            "firmware": {"bios": _known(version=self.bios_version, date=self.bios_date)},
            "ramMebibytes": self.ram_mib or None,
            "hostname": self.hostname,
            "cpu": _known(
                arch=self.cpu.arch, model=self.cpu.model, count=self.cpu.count, clockMegahertz=self.cpu.clock_mhz
            ),
            "nics": [_nic(nic) for nic in self.nics],
            "storage": [_disk(disk) for disk in self.disks],
        }
        return {key: value for key, value in hardware.items() if value or isinstance(value, dict)}


def _nic(nic: Nic) -> dict[str, Any]:
    return _known(name=nic.name, mac=nic.mac, model=nic.model, ip=nic.ip, speedGbps=nic.speed_gbps, pxe=nic.pxe)


def _disk(disk: Disk) -> dict[str, Any]:
    shape = _known(
        name=disk.name,
        type=disk.kind,
        sizeBytes=disk.size_bytes,
        vendor=disk.vendor,
        model=disk.model,
        serialNumber=disk.serial_number,
        wwn=disk.wwn,
    )
    return shape if disk.rotational is None else {**shape, "rotational": disk.rotational}


def _known(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


class View(_Value):
    """What a server looks like right now.

    Attributes:
        media: ``None`` when it was not asked for or there is no such slot.
        inventory: ``None`` unless asked for.
    """

    power: PowerState = PowerState.UNKNOWN
    boot: BootInfo = BootInfo()
    media: Media | None = None
    inventory: Inventory | None = None
    notes: tuple[str, ...] = ()
