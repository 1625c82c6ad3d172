"""The ranges of a pool as arithmetic: which addresses it has, in which order, and what goes with each.

Apart from allocation, which chooses among them: here nothing is known of claims. No range is ever walked to find one
address, since an IPv6 range does not end (behaviour facts on IPAM, 3.4 and trap 5).
"""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Mapping
from typing import Any

from capm3_api.model import Raw

IP = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclasses.dataclass(frozen=True)
class Range:
    """One entry of ``spec.pools``; the first and last address that it can give out.

    Args:
        bounded: the user gave an end; without, `last` is the last address of the family.
        prefix, gateway, dns: what an address of the range carries.
    """

    first: IP
    last: IP
    bounded: bool
    prefix: int | None
    gateway: str
    dns: tuple[str, ...]

    @property
    def size(self) -> int:
        return int(self.last) - int(self.first) + 1

    def __contains__(self, address: IP) -> bool:
        return address.version == self.first.version and int(self.first) <= int(address) <= int(self.last)

    def at(self, index: int) -> IP:
        """The address at an index below `size`."""
        return type(self.first)(int(self.first) + index)


@dataclasses.dataclass(frozen=True)
class Ranges:
    """Args:
    usable: in the order of the spec.
    problems: entries that say nothing usable, each with its field path and what is wrong.
    """

    usable: tuple[Range, ...]
    problems: tuple[str, ...] = ()

    def holding(self, address: IP) -> Range | None:
        """The first range that has the address."""
        return next((item for item in self.usable if address in item), None)


def parse(text: Any) -> IP | None:
    """An address in any spelling; an IPv4 address written as an IPv6 one is the IPv4 address. ``None``: it is none."""
    if not isinstance(text, str) or "%" in text:
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def of(pool: Raw) -> Ranges:
    """The ranges of a raw IPPool."""
    spec: Mapping[str, Any] = pool.get("spec") or {}
    usable: list[Range] = []
    problems: list[str] = []
    for number, entry in enumerate(spec.get("pools") or []):
        try:
            usable.append(_range(entry if isinstance(entry, dict) else {}, spec))
        except ValueError as error:
            problems.append(f"spec.pools[{number}]{error}")
    return Ranges(tuple(usable), tuple(problems))


def _range(entry: Mapping[str, Any], spec: Mapping[str, Any]) -> Range:
    start, end = _field(entry, "start"), _field(entry, "end")
    base, network = _subnet(entry.get("subnet"))
    if start is None and base is None:
        raise ValueError(": needs start or subnet")
    first = start if start is not None else _next(base)
    bounded = end is not None or network is not None
    last = end
    if network is not None:
        limit = network.broadcast_address
        if last is None or (last.version == limit.version and int(last) > int(limit)):
            last = limit
        if first.version != network.version or int(first) < int(network.network_address):
            raise ValueError(".start: is not in the subnet")
    if last is None:
        last = type(first)(2**first.max_prefixlen - 1)
    if last.version != first.version or int(last) < int(first):
        raise ValueError(": holds no address: its end is before its start")
    return Range(first, last, bounded, *_extras(entry, spec))


def _extras(entry: Mapping[str, Any], spec: Mapping[str, Any]) -> tuple[int | None, str, tuple[str, ...]]:
    """Prefix, gateway and DNS servers: those of the entry where it has them, else those of the pool."""
    prefix = entry.get("prefix") or spec.get("prefix") or None
    gateway = entry.get("gateway") or spec.get("gateway") or ""
    dns = entry.get("dnsServers") or spec.get("dnsServers") or []
    return prefix, str(gateway), tuple(str(item) for item in dns)


def _field(entry: Mapping[str, Any], name: str) -> IP | None:
    if not entry.get(name):
        return None
    address = parse(entry[name])
    if address is None:
        raise ValueError(f".{name}: is not an IP address")
    return address


def _subnet(text: Any) -> tuple[IP | None, Network | None]:
    """The address as it is written in front of the slash, and the network."""
    if not text:
        return None, None
    try:
        written = ipaddress.ip_interface(str(text))
    except ValueError:
        raise ValueError(".subnet: is not a network in CIDR notation") from None
    return written.ip, written.network


def _next(base: IP | None) -> IP:
    """The first address behind the one in the subnet's notation."""
    assert base is not None
    try:
        return base + 1
    except ipaddress.AddressValueError:
        raise ValueError(".subnet: holds no address") from None
