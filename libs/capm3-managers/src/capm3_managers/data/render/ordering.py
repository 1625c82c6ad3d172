"""The order of keys in a rendered document: natural, so that ``a9`` comes before ``a10``.

Apart from the emitter, because the order is a wire contract of its own: the Go program's secrets have it, and a secret
whose bytes changed with the implementation would look like a change to whoever compares them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable


def natural(keys: Iterable[str]) -> list[str]:
    """The keys sorted: signs, then digit runs by their number, then letters by code point; a prefix comes first."""
    return sorted(keys, key=functools.cmp_to_key(_compare))


def _compare(left: str, right: str) -> int:
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
    if at is None:
        return len(left) - len(right)
    a, b = left[at], right[at]
    letters = (a.isalpha(), b.isalpha())
    if all(letters):
        return ord(a) - ord(b)
    if any(letters):
        return 1 if letters[0] else -1
    return _by_number(left, right, at)


def _by_number(left: str, right: str, at: int) -> int:
    """Compares from the first difference on, which no letter is part of, by the numbers that stand there."""
    start = 1 if "0" in (left[at], right[at]) and _follows_digits(left, at) else 0
    (one, end), (other, other_end) = _number(left, at, start), _number(right, at, start)
    if one != other:
        return -1 if one < other else 1
    if end != other_end:
        return end - other_end
    return ord(left[at]) - ord(right[at])


def _follows_digits(text: str, at: int) -> bool:
    """Whether the digits just before `at` hold one that is not zero, so that a zero at `at` counts."""
    for char in reversed(text[:at]):
        if not char.isdecimal():
            return False
        if char != "0":
            return True
    return False


def _number(text: str, at: int, start: int) -> tuple[int, int]:
    """The number whose digits begin at `at`, and where it ends; `start` stands before its first digit."""
    value = start
    while at < len(text) and text[at].isdecimal():
        value = value * 10 + int(text[at])
        at += 1
    return value, at
