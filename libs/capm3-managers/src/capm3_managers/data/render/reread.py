"""What becomes of a document that is written as JSON and read back as YAML, as the Go program does before it writes YAML.

Apart from the emitter, because this changes values, not their looks: the next line character folds as a line break does
within quotes, integers beyond 64 bits become floats, and some characters are refused. Checked against that library
with random documents, some of which are kept as the tests' data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_REFUSED = re.compile("[\x7f-\x84\x86-\x9f\ufffe\uffff]")
_NEXT_LINE = "\x85"
_FOLDED = re.compile(f" *{_NEXT_LINE}[ {_NEXT_LINE}]*")


class Unwritable(ValueError):
    """A text holds a character that YAML forbids, or forbids there; the message is the Go program's."""


def reread(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document after the detour.

    Raises:
        Unwritable: see there.
    """
    clean: dict[str, Any] = _clean(document)
    lines = 0
    for text, is_key in _texts(clean):
        lines += text.count(_NEXT_LINE)
        if is_key and _NEXT_LINE in text:
            raise Unwritable(f"yaml: line {lines}: did not find expected ',' or '}}'")
    return clean if not lines else _mapped(clean)


def _clean(value: Any) -> Any:
    """Values of JSON, as a JSON reader of the Go program has them."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {_text(key): _clean(inner) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [_clean(inner) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return float(value)
    return value


def _text(text: str) -> str:
    """The text with lone surrogates replaced."""
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if _REFUSED.search(clean):
        raise Unwritable("yaml: control characters are not allowed")
    return clean


def _texts(value: Any) -> Iterator[tuple[str, bool]]:
    """Every text in the order in which JSON has them, and whether it is a key."""
    if isinstance(value, str):
        yield value, False
    elif isinstance(value, dict):
        for key in sorted(value):
            yield key, True
            yield from _texts(value[key])
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _mapped(value: Any) -> Any:
    """With folded texts; no key needs it."""
    if isinstance(value, str):
        return _FOLDED.sub(lambda match: "\n" * (match[0].count(_NEXT_LINE) - 1) or " ", value)
    if isinstance(value, dict):
        return {key: _mapped(inner) for key, inner in value.items()}
    return [_mapped(inner) for inner in value] if isinstance(value, list) else value
