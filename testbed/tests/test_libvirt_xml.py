"""The XML that libvirt is told: well-formed, without secure boot, isolated."""

from __future__ import annotations

import dataclasses
from xml.etree import ElementTree

import pytest
from capm3_testbed import libvirt

DOMAIN = libvirt.Domain(
    name="node-0",
    uuid="11111111-1111-1111-1111-111111111111",
    macs=("02:00:00:00:0a:01", "02:00:00:00:0a:02"),
    network="capm3",
    disk="/var/tmp/a & b.qcow2",
    console="/var/tmp/console",
)


def test_a_domain_has_every_nic_and_an_empty_sata_cd_drive() -> None:
    root = ElementTree.fromstring(libvirt.domain_xml(DOMAIN))
    assert [mac.get("address") for mac in root.iter("mac")] == list(DOMAIN.macs)
    drive = next(disk for disk in root.iter("disk") if disk.get("device") == "cdrom")
    assert drive.find("source") is None
    target = drive.find("target")
    assert target is not None and target.get("bus") == "sata"


def test_values_are_escaped_into_the_xml() -> None:
    root = ElementTree.fromstring(libvirt.domain_xml(DOMAIN))
    source = root.find("devices/disk/source")
    assert source is not None and source.get("file") == DOMAIN.disk


def test_uefi_firmware_is_the_build_without_secure_boot() -> None:
    loader = ElementTree.fromstring(libvirt.domain_xml(DOMAIN)).find("os/loader")
    assert loader is not None and loader.text is not None
    assert "secboot" not in loader.text and loader.get("secure") is None


def test_legacy_boot_has_no_loader() -> None:
    root = ElementTree.fromstring(libvirt.domain_xml(dataclasses.replace(DOMAIN, uefi=False)))
    assert root.find("os/loader") is None


def test_a_network_is_isolated_and_gives_out_its_upper_half() -> None:
    network = libvirt.Network("capm3", "capm3br0", "192.0.2.0/24", (libvirt.Lease("02:00:00:00:0a:01", "192.0.2.10"),))
    root = ElementTree.fromstring(libvirt.network_xml(network))
    assert root.find("forward") is None
    span = root.find("ip/dhcp/range")
    assert span is not None and (span.get("start"), span.get("end")) == ("192.0.2.128", "192.0.2.254")


@pytest.mark.parametrize(("bridge", "subnet"), [("b" * 16, "192.0.2.0/24"), ("b", "192.0.2.0/30"), ("b", "nonsense")])
def test_a_network_that_cannot_work_is_refused(bridge: str, subnet: str) -> None:
    with pytest.raises(ValueError):
        libvirt.network_xml(libvirt.Network("n", bridge, subnet))
