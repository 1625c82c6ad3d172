"""Chooses the address of a claim: reserved, asked for, next in order, or random.

Apart from ranges, which know no claims, and from the steps, which write down what was chosen. Pure: one choice changes
nothing but the set of taken addresses that the caller keeps.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from typing import Any

from capm3_api import meta
from capm3_api.model import Raw

from capm3_managers.ippool import flavours, ranges
from capm3_managers.ippool.ranges import IP, Range, Ranges

CONFLICT = "PreAllocation and requested ip address are conflicting"
NOT_AVAILABLE = "Requested IP not available"
OUT_OF_BOUNDS = "Pre-allocated IP out of bounds"


@dataclasses.dataclass(frozen=True)
class Given:
    """An address for a claim."""

    address: IP
    range: Range


@dataclasses.dataclass(frozen=True)
class Refused:
    """Why there is none; texts of the Go program where it has them.

    Args:
        exhausted: the pool has no free address.
    """

    message: str
    exhausted: bool = False


class Stock:
    """What a pool can give out, and what it gave out so far in a pass.

    Args:
        reserved: claim name -> its address.
        taken: address -> who has it, in words; ``""`` for one that is only reserved. Grows with `take`.
        shuffled: allocation strategy ``random``.
    """

    def __init__(
        self, found: Ranges, reserved: Mapping[str, IP], taken: Mapping[IP, str], *, shuffled: bool = False
    ) -> None:
        self.ranges = found
        self.reserved = reserved
        self.taken = {**dict.fromkeys(reserved.values(), ""), **taken}
        self.shuffled = shuffled
        self._next = [0] * len(found.usable)

    def take(self, address: IP, holder: str) -> None:
        self.taken[address] = holder

    def next_free(self, rng: random.Random) -> Given | None:
        """The first free address of the first range that has one; from a random place in it when shuffled."""
        for number, item in enumerate(self.ranges.usable):
            start = rng.randrange(item.size) if self.shuffled else self._next[number]
            for step in range(min(item.size, len(self.taken) + 1)):
                index = (start + step) % item.size
                address = item.at(index)
                if address not in self.taken:
                    self._next[number] = index
                    return Given(address, item)
        return None


def reservations(pool: Raw) -> dict[str, IP]:
    """``spec.preAllocations`` as addresses, so that no spelling escapes; values that are none are left out."""
    found = (pool.get("spec") or {}).get("preAllocations") or {}
    parsed = ((str(name), ranges.parse(text)) for name, text in found.items())
    return {name: address for name, address in parsed if address is not None}


def choose(stock: Stock, claim: Raw, rng: random.Random) -> Given | Refused:
    """The address for a claim."""
    annotations: Mapping[str, Any] = (claim.get("metadata") or {}).get("annotations") or {}
    text = annotations.get(flavours.REQUEST_ANNOTATION)
    asked = ranges.parse(text) if text else None
    if text and asked is None:
        return Refused(f'Invalid ipAddress annotation "{text}": not a valid IP address')
    reserved = stock.reserved.get(meta.key_of(claim).name)
    if reserved is not None:
        return _reserved(stock, reserved, asked)
    if asked is not None:
        return _asked(stock, asked)
    return stock.next_free(rng) or _exhausted(stock)


def _reserved(stock: Stock, reserved: IP, asked: IP | None) -> Given | Refused:
    if asked is not None and asked != reserved:
        return Refused(CONFLICT)
    item = stock.ranges.holding(reserved)
    if item is None:
        return Refused(OUT_OF_BOUNDS)
    holder = stock.taken.get(reserved)
    if holder:
        return Refused(f"Pre-allocated IP {reserved} is in use by {holder}")
    return Given(reserved, item)


def _asked(stock: Stock, asked: IP) -> Given | Refused:
    item = stock.ranges.holding(asked)
    if item is None:
        return _exhausted(stock)
    return Refused(NOT_AVAILABLE) if asked in stock.taken else Given(asked, item)


def _exhausted(stock: Stock) -> Refused:
    extra = f" ({'; '.join(stock.ranges.problems)})" if stock.ranges.problems else ""
    return Refused(flavours.EXHAUSTED + extra, exhausted=True)
