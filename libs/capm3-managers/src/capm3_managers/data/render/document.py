"""Turns a document made of plain data into the bytes that the Go program would write: YAML, block style.

Apart from what is in the documents: here is only how a value looks as text. Nothing is ever pasted into YAML, so no
value can become structure. The layout is checked byte by byte against the recorded rendering vectors (behaviour facts
on CAPM3, 5.4.2).
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Mapping, Sequence
from typing import Any

from capm3_managers.data.render import ordering, reread, scalars
from capm3_managers.data.render.output import Output

LONGEST_SIMPLE_KEY = 128
"""Bytes; a longer key, or one with a line break, is written behind a question mark."""

Unwritable = reread.Unwritable


def dump(document: Mapping[str, Any]) -> str:
    """The document as text; it ends with a line break.

    Args:
        document: JSON values: mappings with text keys, lists, texts, numbers, booleans, ``None``.

    Raises:
        Unwritable: see there.
    """
    out = Output()
    _value(out, reread.reread(document), -2)
    out.indent(0)
    return out.text()


def _value(out: Output, value: Any, indent: int, *, in_mapping: bool = False) -> None:
    """One value below a collection that stands at `indent`.

    Args:
        in_mapping: it is the value of a key; a list then stands as deep as the key, unless the key has a question mark.
    """
    if isinstance(value, Mapping) and value:
        _mapping(out, value, indent + 2)
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        _sequence(out, value, indent if in_mapping and not out.indention else indent + 2)
    elif isinstance(value, str):
        scalars.write(out, value, indent + 2)
    else:
        out.space()
        out.put(_word(value))
        out.wrote()


def _mapping(out: Output, mapping: Mapping[str, Any], indent: int) -> None:
    for text in ordering.natural(mapping):
        out.indent(indent)
        if len(text.encode()) <= LONGEST_SIMPLE_KEY and not scalars.has_break(text):
            scalars.write(out, text, indent + 2, simple_key=True)
            out.sign(":", spaced=False)
        else:
            out.sign("?", spaced=True, indention=True)
            scalars.write(out, text, indent + 2)
            out.indent(indent)
            out.sign(":", spaced=True, indention=True)
        _value(out, mapping[text], indent, in_mapping=True)


def _sequence(out: Output, items: Sequence[Any], indent: int) -> None:
    for item in items:
        out.indent(indent)
        out.sign("-", spaced=True, indention=True)
        _value(out, item, indent)


def _word(value: Any) -> str:
    """Everything that is neither a text nor a filled collection."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, int):
        return str(value)
    return "{}" if isinstance(value, Mapping) else "[]"


def number(value: float) -> str:
    """A float in its shortest form, with an exponent below 1e-4 and from 1e6 on; one without a fraction is an integer.

    JSON has one kind of number only, and the Go program reads back its own JSON before it writes YAML.
    """
    if math.isnan(value) or math.isinf(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    if value.is_integer() and abs(value) < 2**63:
        return str(int(value))
    exact = decimal.Decimal(repr(value)).normalize()
    power = exact.adjusted()
    if -4 <= power < 6:
        return format(exact, "f")
    digits = "".join(map(str, exact.as_tuple().digits))
    fraction = "." + digits[1:] if len(digits) > 1 else ""
    return f"{'-' if value < 0 else ''}{digits[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02d}"
