"""The objects that a template may quote: Machine, Metal3Machine and BareMetalHost, and what it can ask of them.

Apart from rendering, because the names of pools can stand in annotations of these objects too, before anything is
rendered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from capm3_api import meta
from capm3_api.model import Raw

from capm3_managers.data import report


@dataclasses.dataclass(frozen=True)
class Objects:
    """One machine and its host, raw."""

    machine: Raw
    metal3machine: Raw
    host: Raw


def of(around: Objects, which: str) -> Raw:
    """The object that a template names ``machine``, ``metal3machine`` or ``baremetalhost``, in any letter case.

    Raises:
        report.Unrenderable: another word.
    """
    match which.lower():
        case "machine":
            return around.machine
        case "metal3machine":
            return around.metal3machine
        case "baremetalhost":
            return around.host
    text = f"object {which!r} is none of machine, metal3machine, baremetalhost"
    raise report.refuse(report.TEMPLATE_INVALID, "unknown object type", text)


def name(around: Objects, which: str) -> str:
    return meta.key_of(of(around, which)).name


def label(around: Objects, which: str, key: str) -> str:
    """The label's value, ``""`` when it is missing."""
    return _entry(of(around, which), "labels", key)


def annotation(around: Objects, which: str, key: str) -> str:
    """The annotation's value, ``""`` when it is missing."""
    return _entry(of(around, which), "annotations", key)


def interfaces(around: Objects) -> list[Raw]:
    """The network interfaces that inspection found.

    Raises:
        report.Unrenderable: there are none, since the host was not inspected.
    """
    hardware = ((around.host.get("status") or {}).get("hardware") or {}) if around.host else {}
    found = [nic for nic in hardware.get("nics") or [] if isinstance(nic, dict)]
    if not found:
        text = (
            f"BareMetalHost {meta.key_of(around.host).name} has no hardware details, so its interfaces are not known; "
            "let it be inspected, or give MAC addresses as string, annotation or boot MAC"
        )
        raise report.refuse(report.HARDWARE_DETAILS_MISSING, "NICs list not populated", text)
    return found


def interface_mac(around: Objects, wanted: str) -> str:
    """The MAC address of the first interface of that name; may be empty.

    Raises:
        report.Unrenderable: there is no such interface.
    """
    found = interfaces(around)
    for nic in found:
        if nic.get("name") == wanted:
            return str(nic.get("mac") or "")
    there = ", ".join(dict.fromkeys(f"{nic.get('name')} ({nic.get('mac') or 'no MAC'})" for nic in found))
    host = meta.key_of(around.host).name
    text = f"the template asks for interface {wanted}; BareMetalHost {host} has {there}"
    raise report.refuse(report.HOST_INTERFACE_NOT_FOUND, f"NIC name not found {wanted}", text)


def boot_mac(around: Objects, key: str) -> str:
    """``spec.bootMACAddress`` of the host.

    Args:
        key: the key of the metadata that wants it.

    Raises:
        report.Unrenderable: it is not set.
    """
    mac = (around.host.get("spec") or {}).get("bootMACAddress")
    if not mac:
        text = f'metadata key "{key}": BareMetalHost {meta.key_of(around.host)} spec.bootMACAddress is empty'
        raise report.refuse(report.MAC_ADDRESS_INVALID, text)
    return str(mac)


def _entry(obj: Mapping[str, Any], part: str, key: str) -> str:
    return str(((obj.get("metadata") or {}).get(part) or {}).get(key) or "")
