"""Hands out indexes: the lowest free one for each new claim, in a fixed order, up to the limit of the schema.

Apart from the steps, because it is pure arithmetic on sets and the one part whose mistakes would give two machines the
same data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from capm3_api.model import Raw

from capm3_managers import hosts

LIMIT = 512
"""Entries that ``status.indexes`` may have; a claim beyond it is refused with a reason."""


def listed(template: Raw) -> list[Raw]:
    """The entries of ``status.indexes``; others than objects are left out."""
    found = hosts.part(template, "status").get("indexes")
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def free(used: Iterable[int]) -> Iterator[int]:
    """The indexes that are free, lowest first."""
    taken = set(used)
    index = 0
    while True:
        if index not in taken:
            yield index
        index += 1


def assign(claims: Sequence[str], used: Iterable[int]) -> dict[str, int]:
    """An index for each claim, in the order given; those for which no room is left are missing from the result."""
    taken = set(used)
    room = max(0, LIMIT - len(taken))
    return dict(zip(claims[:room], free(taken), strict=False))
