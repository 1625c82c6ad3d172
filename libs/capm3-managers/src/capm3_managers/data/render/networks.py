"""The networks of the network data, with their routes.

Apart from links, to which they refer by id only.
"""

from __future__ import annotations

from typing import Any

from capm3_api.v1beta2.networkdata import Gateway, Network, NetworkData, NetworkDHCP, Networks, Route

from capm3_managers.data import pools, report
from capm3_managers.data.render import links, netmask, services
from capm3_managers.data.render import sources as sourcing
from capm3_managers.data.render.sources import Sources


def network_data(data: NetworkData, sources: Sources) -> dict[str, Any]:
    """The whole document; each part is a list, empty when the template leaves it out.

    Raises:
        report.Unrenderable: a value can't be had.
    """
    return {
        "links": links.render(data.links, sources),
        "networks": render(data.networks, sources),
        "services": services.render(data.services, sources),
    }


def render(networks: Networks | None, sources: Sources) -> list[dict[str, Any]]:
    """One entry a network, in the shape of OpenStack's network data (behaviour facts on CAPM3, 5.4.7)."""
    if networks is None:
        return []
    return [
        *(_static(network, 4, sources) for network in networks.ipv4),
        *(_static(network, 6, sources) for network in networks.ipv6),
        *(_dynamic(network, "ipv4_dhcp", 4, sources) for network in networks.ipv4_dhcp),
        *(_dynamic(network, "ipv6_dhcp", 6, sources) for network in networks.ipv6_dhcp),
        *(_dynamic(network, "ipv6_slaac", 6, sources) for network in networks.ipv6_slaac),
    ]


def _static(network: Network, family: int, sources: Sources) -> dict[str, Any]:
    source = pools.of_network(network)
    if source is None:
        text = f"network {network.id} names no pool: set fromPoolRef, fromPoolAnnotation or ipAddressFromIPPool"
        raise report.refuse(report.TEMPLATE_INVALID, "pool not found in cache", text)
    address = sourcing.address(sources, source)
    entry = _dynamic(network, f"ipv{family}", family, sources)
    return entry | {"netmask": _mask(address.prefix, family, network.id), "ip_address": address.address}


def _dynamic(network: NetworkDHCP, kind: str, family: int, sources: Sources) -> dict[str, Any]:
    return {
        "type": kind,
        "id": network.id,
        "link": network.link,
        "routes": [_route(route, family, sources) for route in network.routes],
    }


def _route(route: Route, family: int, sources: Sources) -> dict[str, Any]:
    return {
        "network": route.network,
        "netmask": _mask(route.prefix or 0, family, route.network),
        "gateway": _gateway(route.gateway, sources),
        "services": services.render(route.services, sources),
    }


def _gateway(gateway: Gateway, sources: Sources) -> str:
    source = pools.of_gateway(gateway)
    if source is None:
        return gateway.string or ""
    return sourcing.address(sources, source, "failed to fetch pool from cache").gateway


def _mask(prefix: int | None, family: int, where: str) -> str:
    try:
        return netmask.of(prefix, family)
    except ValueError as error:
        raise report.refuse(report.TEMPLATE_INVALID, str(error), f"{where}: {error}") from None
