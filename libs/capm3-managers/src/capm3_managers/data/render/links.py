"""The links of the network data: bonds, then network cards, then VLANs.

Apart from networks, which refer to links by id only.
"""

from __future__ import annotations

from typing import Any

from capm3_api.v1beta2.networkdata import Bond, Ethernet, Link, Links, Vlan

from capm3_managers.data import report
from capm3_managers.data.render import sources as sourcing
from capm3_managers.data.render.sources import Sources

USUAL_MTU = 1500
"""What the schema fills in; an object that was stored without is treated the same."""


def render(links: Links | None, sources: Sources) -> list[dict[str, Any]]:
    """One entry a link, in the shape of OpenStack's network data (behaviour facts on CAPM3, 5.4.7).

    Raises:
        report.Unrenderable: a MAC address can't be had, or a bond or VLAN is not complete.
    """
    if links is None:
        return []
    return [
        *(_bond(bond, sources) for bond in links.bonds),
        *(_ethernet(ethernet, sources) for ethernet in links.ethernets),
        *(_vlan(vlan, sources) for vlan in links.vlans),
    ]


def _common(link: Link, kind: str, mac_key: str, sources: Sources) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": kind,
        "id": link.id,
        "mtu": USUAL_MTU if link.mtu is None else link.mtu,
        mac_key: sourcing.mac(sources, link.mac_address, link.id),
    }
    return {**entry, "name": link.name} if link.name else entry


def _ethernet(ethernet: Ethernet, sources: Sources) -> dict[str, Any]:
    return _common(ethernet, ethernet.type, "ethernet_mac_address", sources)


def _bond(bond: Bond, sources: Sources) -> dict[str, Any]:
    entry = _common(bond, "bond", "ethernet_mac_address", sources)
    entry |= {
        "bond_mode": bond.bond_mode,
        "bond_xmit_hash_policy": bond.bond_xmit_hash_policy,
        "bond_links": list(bond.bond_links) if bond.has("bond_links") else None,
    }
    clashes = [item.name for item in bond.parameters if f"bond_{item.name}" in entry]
    if clashes:
        listed = ", ".join(f'"{name}"' for name in clashes)
        text = f"illegal params {listed} into bond params blob into link id={bond.id}"
        raise report.refuse(report.TEMPLATE_INVALID, text, f"bond {bond.id}: {listed} have fields of their own")
    return entry | {f"bond_{item.name}": item.value for item in bond.parameters}


def _vlan(vlan: Vlan, sources: Sources) -> dict[str, Any]:
    if vlan.vlan_id is None:
        raise report.refuse(report.TEMPLATE_INVALID, f"vlanID is not set for link id={vlan.id}")
    entry = _common(vlan, "vlan", "vlan_mac_address", sources)
    return entry | {"vlan_link": vlan.vlan_link, "vlan_id": vlan.vlan_id}
