"""Durations as Go writes and reads them: ``1h30m0s``, ``1.5s``, ``-90s``.

Apart from conversion, because flags of the programs have the same form. Whole nanoseconds; only
the digits after the point go through a float, as in Go.
"""

from __future__ import annotations

import re

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_MOST = 2**63


class DurationError(ValueError):
    """The text is not a duration."""


def parse(text: str) -> int:
    """Nanoseconds of a Go duration.

    Raises:
        DurationError: with the text quoted, as Go words it.
    """
    error = DurationError(f'time: invalid duration "{text}"')
    sign, rest = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    total = 0
    position = 0
    while position < len(rest):
        match = _PART.match(rest, position)
        if match is None or not (match[1] or match[2]):
            raise error
        unit = _UNITS[match[3]]
        total += int(match[1] or "0") * unit
        total += _fraction(match[2] or "", unit)
        position = match.end()
    if not rest or total > _MOST or (total == _MOST and sign > 0):
        raise error
    return sign * total


def _fraction(digits: str, unit: int) -> int:
    """Nanoseconds of the digits after the point, with the rounding of Go's: a float of as many digits as fit 63 bits."""
    value = count = 0
    for digit in digits:
        longer = value * 10 + int(digit)
        if value > (_MOST - 1) // 10 or longer > _MOST:
            break
        value, count = longer, count + 1
    return int(float(value) * (unit / 10.0**count))


def seconds(text: str) -> int:
    """Whole seconds of a Go duration, cut towards zero. Raises `DurationError`."""
    nanoseconds = parse(text)
    whole = abs(nanoseconds) // _UNITS["s"]
    return whole if nanoseconds >= 0 else -whole


def text_of(whole_seconds: int) -> str:
    """The text that Go prints for so many seconds: ``600`` -> ``10m0s``."""
    sign = "-" if whole_seconds < 0 else ""
    minutes, rest = divmod(abs(whole_seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{sign}{hours}h{minutes}m{rest}s"
    return f"{sign}{minutes}m{rest}s" if minutes else f"{sign}{rest}s"
