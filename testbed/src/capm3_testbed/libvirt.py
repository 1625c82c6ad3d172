"""Renders libvirt's XML for the servers and the network of a testbed, from plain values.

Apart from whatever starts the machines, so that what libvirt will be told can be read, and tested, without libvirt.
"""

from __future__ import annotations

import dataclasses
import ipaddress
from pathlib import Path

import jinja2

TEMPLATES = Path(__file__).resolve().parents[2] / "libvirt"


@dataclasses.dataclass(frozen=True)
class Firmware:
    """UEFI firmware files: the code, and the template of the variable store. Not the secure-boot build."""

    code: str = "/usr/share/OVMF/OVMF_CODE_4M.fd"
    variables: str = "/usr/share/OVMF/OVMF_VARS_4M.fd"


@dataclasses.dataclass(frozen=True)
class Domain:
    """One server.

    Args:
        disk: path of its qcow2 file.
        console: path of the file that its serial console is written to.
        kvm: hardware virtualisation; without it QEMU emulates, about ten times slower.
    """

    name: str
    uuid: str
    macs: tuple[str, ...]
    network: str
    disk: str
    console: str
    memory_mib: int = 1024
    vcpus: int = 1
    uefi: bool = True
    kvm: bool = False
    firmware: Firmware = Firmware()


@dataclasses.dataclass(frozen=True)
class Lease:
    """A fixed address for a MAC."""

    mac: str
    ip: str


@dataclasses.dataclass(frozen=True)
class Network:
    """An isolated network.

    Args:
        subnet: such as ``192.0.2.0/24``; its first address is the host's, the upper half is given out by DHCP.
        bridge: at most 15 characters, the kernel's limit.
    """

    name: str
    bridge: str
    subnet: str
    hosts: tuple[Lease, ...] = ()


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )


def domain_xml(domain: Domain) -> str:
    """The domain as libvirt's ``virsh define`` takes it."""
    values = dataclasses.asdict(domain) | {"accelerator": "kvm" if domain.kvm else "qemu"}
    return _environment().get_template("domain.xml.j2").render(values)


def network_xml(network: Network) -> str:
    """The network as libvirt's ``virsh net-define`` takes it.

    Raises:
        ValueError: the subnet is not one, is too small for DHCP, or the bridge's name is too long.
    """
    subnet = ipaddress.ip_network(network.subnet)
    if subnet.num_addresses < 8:
        raise ValueError(f"subnet {subnet} is too small: at least 8 addresses are needed")
    if len(network.bridge) > 15:
        raise ValueError(f"bridge name {network.bridge!r} is longer than 15 characters")
    values = {
        "name": network.name,
        "bridge": network.bridge,
        "gateway": subnet[1],
        "prefix": subnet.prefixlen,
        "dhcp_start": subnet[subnet.num_addresses // 2],
        "dhcp_end": subnet[-2],
        "hosts": network.hosts,
    }
    return _environment().get_template("network.xml.j2").render(values)
