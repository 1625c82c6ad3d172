"""Whether a YAML 1.1 reader would take a plain text for something else than a text.

Apart from the emitter, because these are rules of reading: they decide which texts must be quoted so that cloud-init and
its relatives read ``yes``, ``1_000``, ``12:30`` or ``2026-01-01`` as the text that the user gave. The rules are those of
the Go program's library (behaviour facts on CAPM3, 5.4.2; recorded in the rendering vectors ``meta-yaml-*``).
"""

from __future__ import annotations

import datetime
import math
import re

_BOOLEANS = ("y", "yes", "on", "true", "n", "no", "off", "false")
_WORDS = frozenset(
    [form for word in _BOOLEANS for form in (word, word.capitalize(), word.upper())]
    + ["", "~", "null", "Null", "NULL"]
    + [sign + form for sign in ("", "+", "-") for form in (".inf", ".Inf", ".INF")]
    + [".nan", ".NaN", ".NAN"]
)
_DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_POINT_FIRST = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+)?")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_DATE = r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2}):(?P<second>\d{1,2})(?:[.,]\d+)?"
_ZONE = r"(?:Z|[-+]\d{2}:\d{2})"
_TIMESTAMPS = (
    re.compile(f"{_DATE}[Tt]{_CLOCK}{_ZONE}", re.ASCII),
    re.compile(f"{_DATE} {_CLOCK}", re.ASCII),
    re.compile(_DATE, re.ASCII),
)
_BASES = {"0x": 16, "0b": 2, "0o": 8}


def is_text(value: str) -> bool:
    """Whether the plain form of `value` reads as the same text again."""
    if value in _WORDS:
        return False
    first = value[0]
    if first == ".":
        return not _POINT_FIRST.fullmatch(value)
    if first not in "+-0123456789":
        return True
    return not (_is_number(value.replace("_", "")) or _SEXAGESIMAL.fullmatch(value) or _is_timestamp(value))


def _is_number(value: str) -> bool:
    """One beyond the range of a float is a text."""
    return _is_integer(value) or bool(_DECIMAL.fullmatch(value) and math.isfinite(float(value)))


def _is_integer(value: str) -> bool:
    """An integer of 64 bits with a prefix of its base; decimal ones are floats too and need no look at their size."""
    sign, digits = (value[0], value[1:]) if value[:1] in ("+", "-") else ("", value)
    base = _BASES.get(digits[:2].lower())
    if base is None or not digits[2:].isascii() or not digits[2:].isalnum():
        return False
    try:
        number = int(digits[2:], base)
    except ValueError:
        return False
    return number < 2**64 if not sign else number < 2**63 + (sign == "-")


def _is_timestamp(value: str) -> bool:
    found = next((match for form in _TIMESTAMPS if (match := form.fullmatch(value))), None)
    if found is None:
        return False
    parts = [int(text) for text in found.groupdict().values()]
    hour, minute, second = parts[3:] or (0, 0, 0)
    try:
        datetime.datetime(parts[0], parts[1], parts[2], hour, minute, second, tzinfo=datetime.UTC)
    except ValueError:
        return False
    return True
