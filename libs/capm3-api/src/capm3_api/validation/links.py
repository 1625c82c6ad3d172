"""Whether the links and networks of a data template refer to links that it has.

Apart from the other rules of the template, because it reads the whole network data as one graph. The Go program leaves
all of it to the machine, whose network then stays down (field report B36); hence every error here has a rule id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capm3_api.validation import errors
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import at, items, number, text

LINK_RULE = "dangling-link"
MTU_RULE = "vlan-mtu"
DEFAULT_MTU = 1500
_KINDS = ("ethernets", "bonds", "vlans")
_FAMILIES = ("ipv4", "ipv4DHCP", "ipv6", "ipv6DHCP", "ipv6SLAAC")


def check(network_data: Any, path: str) -> list[FieldError]:
    """Dangling and repeated link ids, and VLANs with a larger MTU than the link under them."""
    links = at(network_data, "links")
    known: dict[str, Mapping[str, Any]] = {}
    found = []
    for kind in _KINDS:
        for index, link in enumerate(items(at(links, kind))):
            name = text(link.get("id"))
            if name and name in known:
                found.append(errors.duplicate(f"{path}.links.{kind}[{index}].id", name, rule=LINK_RULE))
            known.setdefault(name, link)
    known.pop("", None)
    found += _bonds(links, f"{path}.links", known) + _vlans(links, f"{path}.links", known)
    return found + _networks(at(network_data, "networks"), f"{path}.networks", known)


def _missing(path: str, name: Any, known: Mapping[str, Any]) -> list[FieldError]:
    if not text(name) or name in known:
        return []
    have = ", ".join(sorted(known)) or "none"
    return [errors.invalid(path, name, f"is the id of no link of this template (it has: {have})", rule=LINK_RULE)]


def _bonds(links: Any, path: str, known: Mapping[str, Any]) -> list[FieldError]:
    found = []
    for index, bond in enumerate(items(at(links, "bonds"))):
        members = bond.get("bondLinks")
        for place, name in enumerate(members if isinstance(members, list) else []):
            found += _missing(f"{path}.bonds[{index}].bondLinks[{place}]", name, known)
    return found


def _vlans(links: Any, path: str, known: Mapping[str, Mapping[str, Any]]) -> list[FieldError]:
    found = []
    for index, vlan in enumerate(items(at(links, "vlans"))):
        parent = text(vlan.get("vlanLink"))
        found += _missing(f"{path}.vlans[{index}].vlanLink", parent, known)
        if parent in known:
            mtu, limit = (number(link.get("mtu")) or DEFAULT_MTU for link in (vlan, known[parent]))
            if mtu > limit:
                detail = f"is larger than the MTU {limit} of the link {parent} under it"
                found.append(errors.invalid(f"{path}.vlans[{index}].mtu", mtu, detail, rule=MTU_RULE))
    return found


def _networks(networks: Any, path: str, known: Mapping[str, Any]) -> list[FieldError]:
    found = []
    for family in _FAMILIES:
        for index, network in enumerate(items(at(networks, family))):
            found += _missing(f"{path}.{family}[{index}].link", network.get("link"), known)
    return found
