"""Ranges of a pool: which addresses, in which order, and choosing among them without ever walking an endless one."""

from __future__ import annotations

import ipaddress
import random
from typing import Any

import pytest
from capm3_api.testing import builders
from capm3_managers.ippool import allocate, ranges, serve
from capm3_managers.ippool.allocate import Given, Refused, Stock
from hypothesis import given, settings
from hypothesis import strategies as st


def pool(*entries: dict[str, Any], **spec: Any) -> dict[str, Any]:
    base = builders.ip_pool("p")
    return {**base, "spec": {"namePrefix": "p", "pools": list(entries), **spec}}


def stock(raw: dict[str, Any], *taken: str, shuffled: bool = False) -> Stock:
    used = {ipaddress.ip_address(text): "IPClaim other" for text in taken}
    return Stock(ranges.of(raw), allocate.reservations(raw), used, shuffled=shuffled)


def chosen(found: Given | Refused) -> str:
    return str(found.address) if isinstance(found, Given) else found.message


def choose(of: Stock, name: str = "c", **annotations: str) -> str:
    claim = builders.ip_claim(name, pool="p", metadata={"annotations": annotations})
    return chosen(allocate.choose(of, claim, random.Random(1)))


@pytest.mark.parametrize(
    ("entry", "first", "last"),
    [
        ({"start": "192.0.2.10", "end": "192.0.2.12"}, "192.0.2.10", "192.0.2.12"),
        ({"subnet": "192.0.2.0/24"}, "192.0.2.1", "192.0.2.255"),
        ({"subnet": "192.0.2.5/24"}, "192.0.2.6", "192.0.2.255"),
        ({"start": "192.0.2.200", "subnet": "192.0.2.0/24"}, "192.0.2.200", "192.0.2.255"),
        ({"subnet": "192.0.2.0/24", "end": "192.0.2.9"}, "192.0.2.1", "192.0.2.9"),
        ({"start": "192.0.2.9", "end": "192.0.3.9", "subnet": "192.0.2.0/24"}, "192.0.2.9", "192.0.2.255"),
        ({"start": "192.0.2.10"}, "192.0.2.10", "255.255.255.255"),
        ({"start": "2001:DB8::0a"}, "2001:db8::a", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ],
)
def test_a_range_begins_and_ends_where_the_spec_says(entry: dict[str, str], first: str, last: str) -> None:
    found = ranges.of(pool(entry)).usable[0]
    assert (str(found.first), str(found.last)) == (first, last)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({}, "spec.pools[0]: needs start or subnet"),
        ({"end": "192.0.2.9"}, "spec.pools[0]: needs start or subnet"),
        ({"start": "192.0.2.300"}, "spec.pools[0].start: is not an IP address"),
        ({"start": "192.0.2.9", "end": "x"}, "spec.pools[0].end: is not an IP address"),
        ({"subnet": "192.0.2.0/33"}, "spec.pools[0].subnet: is not a network in CIDR notation"),
        ({"start": "192.0.2.9", "end": "192.0.2.8"}, "spec.pools[0]: holds no address: its end is before its start"),
        ({"start": "192.0.2.9", "end": "::1"}, "spec.pools[0]: holds no address: its end is before its start"),
        ({"start": "192.0.3.9", "subnet": "192.0.4.0/24"}, "spec.pools[0].start: is not in the subnet"),
        ({"subnet": "255.255.255.255/32"}, "spec.pools[0].subnet: holds no address"),
    ],
)
def test_an_entry_that_says_nothing_usable_is_named_and_left_out(entry: dict[str, str], problem: str) -> None:
    raw = pool(entry, {"start": "198.51.100.1", "end": "198.51.100.1"})
    assert ranges.of(raw).problems == (problem,)
    assert choose(stock(raw)) == "198.51.100.1"
    assert choose(stock(raw, "198.51.100.1")) == f"Exhausted IP Pools ({problem})"


def test_the_entry_wins_over_the_pool_for_prefix_gateway_and_dns() -> None:
    raw = pool(
        {"start": "192.0.2.1", "prefix": 26, "gateway": "192.0.2.62", "dnsServers": ["192.0.2.53"]},
        {"start": "198.51.100.1", "prefix": 0},
        prefix=24,
        gateway="192.0.2.254",
        dnsServers=["192.0.2.54"],
    )
    one, two = ranges.of(raw).usable
    assert (one.prefix, one.gateway, one.dns) == (26, "192.0.2.62", ("192.0.2.53",))
    assert (two.prefix, two.gateway, two.dns) == (24, "192.0.2.254", ("192.0.2.54",))


def test_the_next_address_is_the_lowest_free_one_of_the_first_range_that_has_one() -> None:
    raw = pool({"start": "192.0.2.10", "end": "192.0.2.11"}, {"start": "192.0.2.20", "end": "192.0.2.21"})
    assert choose(stock(raw, "192.0.2.10")) == "192.0.2.11"
    assert choose(stock(raw, "192.0.2.10", "192.0.2.11")) == "192.0.2.20"
    everything = ("192.0.2.10", "192.0.2.11", "192.0.2.20", "192.0.2.21")
    assert choose(stock(raw, *everything)) == "Exhausted IP Pools"


def test_a_reservation_in_any_spelling_keeps_its_address_from_others() -> None:
    raw = pool({"start": "2001:db8::1"}, preAllocations={"mine": "2001:DB8:0:0::1"})
    assert choose(stock(raw)) == "2001:db8::2"
    assert choose(stock(raw), "mine") == "2001:db8::1"


@pytest.mark.parametrize(
    ("name", "asked", "expected"),
    [
        ("c", "192.0.2.12", "192.0.2.12"),
        ("c", "192.0.2.10", "Requested IP not available"),
        ("c", "192.0.2.15", "Requested IP not available"),
        ("c", "198.51.100.1", "Exhausted IP Pools"),
        ("c", "nonsense", 'Invalid ipAddress annotation "nonsense": not a valid IP address'),
        ("mine", "192.0.2.15", "192.0.2.15"),
        ("mine", "192.0.2.12", "PreAllocation and requested ip address are conflicting"),
        ("far", "", "Pre-allocated IP out of bounds"),
        ("held", "", "Pre-allocated IP 192.0.2.10 is in use by IPClaim other"),
    ],
)
def test_requested_and_reserved_addresses(name: str, asked: str, expected: str) -> None:
    reserved = {"mine": "192.0.2.15", "far": "203.0.113.1", "held": "192.0.2.10"}
    raw = pool({"start": "192.0.2.10", "end": "192.0.2.20"}, preAllocations=reserved)
    assert choose(stock(raw, "192.0.2.10"), name, **({"ipAddress": asked} if asked else {})) == expected


def test_a_requested_address_before_the_start_of_an_endless_range_is_refused_at_once() -> None:
    assert choose(stock(pool({"start": "2001:db8::1"})), ipAddress="2001:db7::1") == "Exhausted IP Pools"


@pytest.mark.parametrize(
    ("address", "name"),
    [("192.0.2.10", "p-192-0-2-10"), ("2001:db8:a::100", "p-2001-db8-a--100"), ("2001:db8::", "p-2001-db8")],
)
def test_the_name_of_an_address_comes_from_the_prefix_of_the_pool(address: str, name: str) -> None:
    assert serve.address_name(pool(), ipaddress.ip_address(address)) == name


families = st.sampled_from(["192.0.2.0", "2001:db8::"])


@settings(max_examples=150, deadline=None)
@given(families, st.integers(0, 20), st.integers(1, 12), st.sets(st.integers(0, 31)), st.booleans(), st.randoms())
def test_every_address_of_a_range_is_given_once_and_then_it_is_exhausted(
    family: str, start: int, size: int, used: set[int], shuffled: bool, rng: random.Random
) -> None:
    base = ipaddress.ip_address(family)
    raw = pool({"start": str(base + start), "end": str(base + start + size - 1)})
    of = stock(raw, *(str(base + offset) for offset in used), shuffled=shuffled)
    wanted = {base + offset for offset in range(start, start + size) if offset not in used}
    got = []
    while (found := of.next_free(rng)) is not None:
        got.append(found.address)
        of.take(found.address, "IPClaim x")
    assert len(got) == len(set(got)) and set(got) == wanted
    assert shuffled or got == sorted(got, key=int)


def test_the_random_strategy_draws_from_the_whole_range() -> None:
    raw = pool({"subnet": "2001:db8::/64"})
    drawn = {chosen(stock(raw, shuffled=True).next_free(random.Random(seed)) or Refused("")) for seed in range(20)}
    assert len(drawn) == 20
