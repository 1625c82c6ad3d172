"""Hardware over Redfish: pure readers of System, EthernetInterface, Storage, Drive and Processor bodies.

The readers never raise on JSON: a value of another type than the schema's is left out and named in a note, so that one
odd field of one vendor does not cost the whole inspection.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import re
from typing import Any

from capm3_hwdrivers.model import Cpu, Disk, Inventory, Nic
from capm3_hwdrivers.redfish import quirks
from capm3_hwdrivers.redfish.connect import Body

_MAC = re.compile(r"[0-9a-fA-F]{2}([:-]?[0-9a-fA-F]{2}){5}")
_UEFI_MAC = re.compile(r"MAC\(([0-9a-fA-F]{12}),")
_ARCHITECTURES = {
    "x86": "x86_64",
    "x86-64": "x86_64",
    "arm": "aarch64",
    "arm-a64": "aarch64",
    "power": "ppc64le",
    "riscv": "riscv64",
}
_MIB_PER_GIB = 1024
_TOO_BIG = 2.0**63


@dataclasses.dataclass
class Reader:
    """Takes typed values out of one body and notes what has another type.

    Args:
        name: of the resource, for the notes.
    """

    name: str
    body: Body
    notes: list[str] = dataclasses.field(default_factory=list)

    def text(self, key: str) -> str:
        value = self.body.get(key)
        if isinstance(value, str):
            return value.strip()
        self._odd(key, value, "text")
        return ""

    def number(self, key: str) -> float:
        value = self.body.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _TOO_BIG:
            return float(value)
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}(\.[0-9]+)?", value.strip()):
            return float(value)
        self._odd(key, value, "a number")
        return 0.0

    def inner(self, key: str) -> Reader:
        value = self.body.get(key)
        if not isinstance(value, dict):
            self._odd(key, value, "an object")
            value = {}
        return Reader(f"{self.name}.{key}", value, self.notes)

    def items(self, key: str) -> list[Body]:
        value = self.body.get(key)
        if not isinstance(value, list):
            self._odd(key, value, "a list")
            return []
        return [item for item in value if isinstance(item, dict)]

    def note(self, text: str) -> None:
        self.notes.append(f"{self.name}: {text}")

    def _odd(self, key: str, value: Any, wanted: str) -> None:
        if value is not None:
            self.note(f"{key} is not {wanted}")


def name_of(body: Body) -> str:
    """How notes call a resource: its path, else its id."""
    for key in ("@odata.id", "Id", "Name"):
        value = body.get(key)
        if isinstance(value, str) and value:
            return value.rstrip("/")
    return "resource"


def system(body: Body) -> Inventory:
    """What a System body alone says. Pure."""
    reader = Reader(name_of(body), body)
    memory = reader.inner("MemorySummary").number("TotalSystemMemoryGiB")
    summary = reader.inner("ProcessorSummary")
    count = summary.number("LogicalProcessorCount") or summary.number("CoreCount")
    sockets = summary.number("Count")
    if not memory:
        reader.note("no memory size")
    if not count and sockets:
        reader.note(f"no core count; {int(sockets)} processor(s)")
    elif not count:
        reader.note("no processors")
    return Inventory(
        manufacturer=reader.text("Manufacturer"),
        product=reader.text("Model"),
        serial_number=reader.text("SerialNumber"),
        bios_version=reader.text("BiosVersion"),
        hostname=reader.text("HostName"),
        ram_mib=round(memory * _MIB_PER_GIB),
        cpu=Cpu(model=summary.text("Model"), count=int(count or sockets)),
        nics=uefi_nics(body),
        notes=tuple(reader.notes),
    )


def uefi_nics(body: Body) -> tuple[Nic, ...]:
    """Network cards that a System body shows only inside its UEFI boot paths. Pure."""
    boot = body.get("Boot")
    values = boot.get("UefiTargetBootSourceOverride@Redfish.AllowableValues") if isinstance(boot, dict) else None
    found = dict.fromkeys(mac(match) for text in quirks.texts(values) for match in _UEFI_MAC.findall(text))
    return tuple(Nic(mac=one, pxe=True) for one in found)


def nic(body: Body) -> tuple[Nic | None, tuple[str, ...]]:
    """One EthernetInterface body. Pure; ``None`` when it has no usable MAC address."""
    reader = Reader(name_of(body), body)
    address = mac(reader.text("MACAddress")) or mac(reader.text("PermanentMACAddress"))
    if not address:
        reader.note("no MAC address")
        return None, tuple(reader.notes)
    speed = reader.number("SpeedMbps")
    name = reader.text("Id") or reader.text("Name")
    return Nic(name=name, mac=address, ip=_ip(reader), speed_gbps=int(speed // 1000)), tuple(reader.notes)


def mac(text: str) -> str:
    """A MAC address in lower case with colons; ``""`` for anything else."""
    text = text.strip()
    if not _MAC.fullmatch(text):
        return ""
    digits = re.sub("[:-]", "", text).lower()
    return ":".join(digits[index : index + 2] for index in range(0, 12, 2)) if int(digits, 16) else ""


def _ip(reader: Reader) -> str:
    for key in ("IPv4Addresses", "IPv6Addresses"):
        for item in reader.items(key):
            text = item.get("Address")
            if isinstance(text, str) and _usable(text):
                return text
            if isinstance(text, str) and text and not _is_ip(text):
                reader.note(f"{key} holds {text[:40]!r}, which is no address")
    return ""


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _usable(text: str) -> bool:
    if not _is_ip(text):
        return False
    ip = ipaddress.ip_address(text)
    return not (ip.is_unspecified or ip.is_link_local)


def storage(body: Body) -> tuple[tuple[str, ...], tuple[Disk, ...], tuple[str, ...]]:
    """One Storage body: paths of the drives it links, drives it holds in full, notes. Pure."""
    reader = Reader(name_of(body), body)
    linked: list[str] = []
    whole: list[Disk] = []
    for item in reader.items("Drives"):
        if set(item) <= {"@odata.id"} and isinstance(item.get("@odata.id"), str):
            linked.append(item["@odata.id"])
        elif item:
            found, notes = drive(item)
            whole.append(found)
            reader.notes.extend(notes)
    if "Drives" not in body:
        reader.note("no drives listed")
    return tuple(linked), tuple(whole), tuple(reader.notes)


def drive(body: Body) -> tuple[Disk, tuple[str, ...]]:
    """One Drive body. Pure."""
    reader = Reader(name_of(body), body)
    media, protocol = reader.text("MediaType").upper(), reader.text("Protocol").upper()
    kind = "NVME" if protocol.startswith("NVME") else media if media in ("HDD", "SSD") else ""
    size = reader.number("CapacityBytes")
    if not size:
        reader.note("no capacity")
    disk = Disk(
        name=reader.text("Id") or reader.text("Name"),
        kind=kind,
        size_bytes=int(size),
        vendor=reader.text("Manufacturer"),
        model=reader.text("Model"),
        serial_number=reader.text("SerialNumber"),
        wwn=_wwn(reader),
        rotational=None if not kind else kind == "HDD",
    )
    return disk, tuple(reader.notes)


def _wwn(reader: Reader) -> str:
    for item in reader.items("Identifiers"):
        text = item.get("DurableName")
        if isinstance(text, str) and item.get("DurableNameFormat") in ("NAA", "EUI"):
            return "0x" + re.sub(r"^0x|[^0-9a-fA-F]", "", text).lower()
    return ""


def processor(body: Body) -> tuple[Cpu, tuple[str, ...]]:
    """One Processor body; its count is of threads, else of cores. Pure."""
    reader = Reader(name_of(body), body)
    arch = (reader.text("ProcessorArchitecture") or reader.text("InstructionSet")).lower()
    return (
        Cpu(
            arch=_ARCHITECTURES.get(reader.text("InstructionSet").lower(), _ARCHITECTURES.get(arch, "")),
            model=reader.text("Model"),
            count=int(reader.number("TotalThreads") or reader.number("TotalCores")),
            clock_mhz=reader.number("OperatingSpeedMHz") or reader.number("MaxSpeedMHz"),
        ),
        tuple(reader.notes),
    )
