"""The parts of a server as BareMetalHost and HardwareData describe them: found hardware, disk hints, RAID volumes.

Apart from `bmo`, because these shapes are used by both kinds and say nothing about the life of a host.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from capm3_api.markers import MAC_ANYWHERE, Schema, required
from capm3_api.model import Model


class RootDeviceHints(Model):
    """Which disk is meant; every hint that is set must fit."""

    device_name: Annotated[str, Schema("Name under /dev.")] = ""
    hctl: Annotated[str, Schema("SCSI address, host:channel:target:lun.")] = ""
    model: Annotated[str, Schema("Part of the model name.")] = ""
    vendor: Annotated[str, Schema("Part of the vendor name.")] = ""
    serial_number: Annotated[str, Schema("Serial number.")] = ""
    min_size_gigabytes: Annotated[int | None, Schema("Least size in gigabytes.", minimum=0)] = None
    wwn: Annotated[str, Schema("World wide name.")] = ""
    wwn_with_extension: Annotated[str, Schema("World wide name with the vendor extension.")] = ""
    wwn_vendor_extension: Annotated[str, Schema("Vendor extension of the world wide name.")] = ""
    rotational: Annotated[bool | None, Schema("Whether the disk rotates.")] = None


class HardwareRaidVolume(Model):
    name: Annotated[str, Schema("Name of the volume.", max_length=64)] = ""
    level: Annotated[str, required("RAID level.", enum=("0", "1", "2", "5", "6", "1+0", "5+0", "6+0"))] = ""
    size_gibibytes: Annotated[int | None, Schema("Size; the largest possible when absent.", minimum=0)] = None
    rotational: Annotated[bool | None, Schema("Whether its disks should rotate.")] = None
    number_of_physical_disks: Annotated[int | None, Schema("How many disks it uses.", minimum=1)] = None
    controller: Annotated[str, Schema("Name of the RAID controller.")] = ""
    physical_disks: Annotated[list[str], Schema("Names of the disks.")] = []


class SoftwareRaidVolume(Model):
    level: Annotated[str, required("RAID level.", enum=("0", "1", "1+0"))] = ""
    size_gibibytes: Annotated[int | None, Schema("Size; the largest possible when absent.", minimum=0)] = None
    physical_disks: Annotated[list[RootDeviceHints], Schema("Disks to use, by hints.", min_items=2)] = []
    root_volume: Annotated[bool | None, Schema("Whether the image is written to this volume.", default=False)] = None


class Raid(Model):
    """RAID volumes, of the controller or of the operating system."""

    hardware_raid_volumes: Annotated[
        list[HardwareRaidVolume] | None,
        Field(alias="hardwareRAIDVolumes"),
        Schema("Volumes of the RAID controller; an empty list removes all.", nullable=True),
    ] = None
    software_raid_volumes: Annotated[
        list[SoftwareRaidVolume] | None,
        Field(alias="softwareRAIDVolumes"),
        Schema("Volumes of the operating system; an empty list removes all.", nullable=True, max_items=2),
    ] = None


class SystemVendor(Model):
    manufacturer: Annotated[str, Schema("Who made the server.")] = ""
    product_name: Annotated[str, Schema("Which model it is.")] = ""
    serial_number: Annotated[str, Schema("Serial number.")] = ""


class Bios(Model):
    date: Annotated[str, Schema("Date of the firmware.")] = ""
    vendor: Annotated[str, Schema("Who made it.")] = ""
    version: Annotated[str, Schema("Its version.")] = ""


class HardwareFirmware(Model):
    bios: Annotated[Bios, Schema("Firmware of the main board.")] = Bios()


class Vlan(Model):
    id: Annotated[int | None, Schema("Number of the VLAN.", minimum=0, maximum=4094, format="int32")] = None
    name: Annotated[str, Schema("Name of the VLAN.")] = ""


class Lldp(Model):
    switch_id: Annotated[str, Field(alias="switchID"), Schema("Identity of the switch.")] = ""
    port_id: Annotated[str, Field(alias="portID"), Schema("Port on the switch.")] = ""
    switch_system_name: Annotated[str, Schema("Name of the switch.")] = ""


class Nic(Model):
    """One address of one network interface."""

    name: Annotated[str, Schema("Name of the interface.")] = ""
    model: Annotated[str, Schema("Vendor and product identity.")] = ""
    mac: Annotated[str, Schema("MAC address.", pattern=MAC_ANYWHERE)] = ""
    ip: Annotated[str, Schema("IP address during inspection; one entry an address.")] = ""
    speed_gbps: Annotated[int | None, Schema("Speed in gigabits a second.")] = None
    vlans: Annotated[list[Vlan], Schema("VLANs that the switch announces.")] = []
    vlan_id: Annotated[int | None, Schema("Untagged VLAN.", minimum=0, maximum=4094, format="int32")] = None
    pxe: Annotated[bool | None, Schema("Whether it can boot from the network.")] = None
    lldp: Annotated[Lldp | None, Schema("What the switch says of itself.")] = None
    pci_address: Annotated[str, Schema("PCI address.")] = ""


class Storage(Model):
    """One disk."""

    name: Annotated[str, Schema("Name of the disk; a stable one where there is one.")] = ""
    alternate_names: Annotated[list[str], Schema("Other names of it.")] = []
    rotational: Annotated[bool | None, Schema("Whether it rotates.")] = None
    type: Annotated[str, Schema("Kind of disk.", enum=("HDD", "SSD", "NVME"))] = ""
    size_bytes: Annotated[int | None, Schema("Size in bytes.", format="int64")] = None
    vendor: Annotated[str, Schema("Who made it.")] = ""
    model: Annotated[str, Schema("Which model it is.")] = ""
    serial_number: Annotated[str, Schema("Serial number.")] = ""
    wwn: Annotated[str, Schema("World wide name.")] = ""
    wwn_vendor_extension: Annotated[str, Schema("Vendor extension of the world wide name.")] = ""
    wwn_with_extension: Annotated[str, Schema("World wide name with the vendor extension.")] = ""
    hctl: Annotated[str, Schema("SCSI address, host:channel:target:lun.")] = ""


class Cpu(Model):
    arch: Annotated[str, Schema("Architecture.")] = ""
    model: Annotated[str, Schema("Model name.")] = ""
    clock_megahertz: Annotated[int | float | None, Schema("Clock in MHz.", format="double")] = None
    flags: Annotated[list[str], Schema("Features of the CPU.")] = []
    count: Annotated[int | None, Schema("Number of logical CPUs.")] = None


class HardwareDetails(Model):
    """All that inspection found."""

    system_vendor: Annotated[SystemVendor, Schema("The server.")] = SystemVendor()
    firmware: Annotated[HardwareFirmware, Schema("Its firmware.")] = HardwareFirmware()
    ram_mebibytes: Annotated[int | None, Schema("Memory in MiB.")] = None
    nics: Annotated[list[Nic], Schema("Network interfaces.")] = []
    storage: Annotated[list[Storage], Schema("Disks.")] = []
    cpu: Annotated[Cpu, Schema("Processors.")] = Cpu()
    hostname: Annotated[str, Schema("Host name during inspection.")] = ""
