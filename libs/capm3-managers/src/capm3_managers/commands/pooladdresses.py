"""The addresses that a rendering without cluster uses: given on the command line, from the files' pools, or made up.

Apart from `render`, because which of the three counts is a rule of its own: what the user gave, then the pool, and only
for a mere check an address from the ranges that are reserved for documentation.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping

from capm3_api import kinds
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_api.v1beta2.metal3datatemplate import Metal3DataTemplate

from capm3_managers.commands.site import Site, WrongUsage
from capm3_managers.data import pools, preview, report
from capm3_managers.data.objects import Objects
from capm3_managers.data.pools import Pool
from capm3_managers.data.render.sources import Address

FORM = "POOL=IP/PREFIX[,GATEWAY[,DNS...]]"
_MADE_UP = {
    4: Address("192.0.2.2", 24, "192.0.2.1", ("192.0.2.1",)),
    6: Address("2001:db8::2", 64, "2001:db8::1", ("2001:db8::1",)),
}


def parse(texts: Iterable[str]) -> dict[str, Address]:
    """The values of ``--address`` by the pool's name.

    Raises:
        WrongUsage: one is not of the form.
    """
    found: dict[str, Address] = {}
    for text in texts:
        name, _, rest = text.partition("=")
        first, *others = rest.split(",")
        if not name or "/" not in first:
            raise WrongUsage(f"--address: {text!r} is not of the form {FORM}")
        try:
            address = ipaddress.ip_interface(first)
            more = [str(ipaddress.ip_address(item)) if item else "" for item in others]
        except ValueError as problem:
            raise WrongUsage(f"--address: {text!r}: {problem}; the form is {FORM}") from None
        dns = tuple(item for item in more[1:] if item)
        found[name] = Address(str(address.ip), address.network.prefixlen, more[0] if more else "", dns)
    return found


def known(
    site: Site, wanted: Iterable[Pool], namespace: str, index: int, given: Mapping[str, Address]
) -> dict[str, Address]:
    """By the pool's name: what was given, else the address that the pool in the files would give out at that index."""
    found = {pool.name: preview.sample(_pool(site, pool, namespace), index) for pool in wanted if pool.is_metal3}
    return {**{name: address for name, address in found.items() if address is not None}, **given}


def wanted(template: Raw, around: Objects) -> tuple[Pool, ...]:
    """The template's pools; none when it can't be said, which rendering tells better."""
    try:
        return pools.wanted(Metal3DataTemplate.from_raw(template).spec, around)
    except report.Unrenderable:
        return ()


def made_up(template: Raw, around: Objects) -> dict[str, Address]:
    """An address for every pool, of the family of the place that uses it; for checks only."""
    networks = Metal3DataTemplate.from_raw(template).spec.network_data
    used = networks.networks.ipv6 if networks is not None and networks.networks is not None else []
    sources = [source for source in map(pools.of_network, used) if source is not None]
    six = {source.pool.name for source in sources if source.pool is not None}
    return {pool.name: _MADE_UP[6 if pool.name in six else 4] for pool in wanted(template, around)}


def _pool(site: Site, pool: Pool, namespace: str) -> Raw:
    return site.get(kinds.IP_POOL, Key(namespace, pool.name)) or {}
