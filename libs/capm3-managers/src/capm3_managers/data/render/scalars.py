"""Writes one text in the style that keeps it whole: plain, quoted or as a literal block.

Apart from collections: which style a text needs depends on its characters alone, and how long ones are folded on the
column only. Rules of libyaml as the Go program's library has them (behaviour facts on CAPM3, 5.4.2).
"""

from __future__ import annotations

import dataclasses
import re

from capm3_managers.data.render import resolution
from capm3_managers.data.render.output import BREAKS, Output

WIDTH = 80
"""Longer lines are folded at the next single space."""

_PRINTABLE = re.compile("[\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*")
_ALWAYS_SIGNS = "#,[]{}&*!|>'\"%@`"
_ESCAPES = {
    "\0": "0",
    "\a": "a",
    "\b": "b",
    "\t": "t",
    "\n": "n",
    "\v": "v",
    "\f": "f",
    "\r": "r",
    "\x1b": "e",
    '"': '"',
    "\\": "\\",
    "\x85": "N",
    "\xa0": "_",
    "\u2028": "L",
    "\u2029": "P",
}


@dataclasses.dataclass(frozen=True)
class Allowed:
    """The styles that keep a text as it is."""

    plain: bool
    single: bool
    block: bool


def has_break(text: str) -> bool:
    """Whether the text spans lines."""
    return any(char in text for char in ("\r", "\x85", *BREAKS))


def write(out: Output, text: str, indent: int, *, simple_key: bool = False) -> None:
    """Writes the text.

    Args:
        indent: column of the lines after the first.
        simple_key: it is a key in front of its colon: in one line, and never a block.
    """
    allowed = styles(text)
    fold = not simple_key
    if "\n" in text and allowed.block and not simple_key:
        _literal(out, text, indent)
    elif "\n" not in text and resolution.is_text(text) and allowed.plain:
        _plain(out, text, indent, fold=fold)
    elif "\n" not in text and resolution.is_text(text) and allowed.single:
        _single(out, text, indent, fold=fold)
    else:
        _double(out, text, indent, fold=fold)


def styles(text: str) -> Allowed:
    """Which styles can show the text."""
    special = not _PRINTABLE.fullmatch(text)
    broken = has_break(text)
    breaks = re.escape(BREAKS)
    if special or re.search(f" [{breaks}]", text):
        return Allowed(plain=False, single=False, block=False)
    edges = text[:1] in (" ", *BREAKS) or text[-1:] in (" ", *BREAKS)
    break_space = bool(re.search(f"[{breaks}] ", text))
    plain = not (edges or break_space or broken or _has_signs(text))
    return Allowed(plain=plain, single=not break_space, block=not text.endswith(" "))


def _has_signs(text: str) -> bool:
    """Whether a plain form would be read as something of YAML's own."""
    if text.startswith(("---", "...")) or text[:1] in tuple(_ALWAYS_SIGNS):
        return True
    if re.match(r"[?:-]([ \t]|$)", text):
        return True
    return bool(re.search(r":([ \t]|$)|[ \t\n\r\x85\u2028\u2029]#", text))


def _plain(out: Output, text: str, indent: int, *, fold: bool) -> None:
    out.space()
    _folded(out, text, indent, fold=fold)
    out.wrote()


def _single(out: Output, text: str, indent: int, *, fold: bool) -> None:
    out.sign("'", spaced=True)
    _folded(out, text, indent, fold=fold, doubled="'")
    out.sign("'", spaced=False)
    out.wrote()


def _folded(out: Output, text: str, indent: int, *, fold: bool, doubled: str = "") -> None:
    """The characters of a plain or single-quoted text; a single space beyond the width becomes a line break.

    Args:
        doubled: a character that is written twice.
    """
    after_break = spaces = False
    for at, char in enumerate(text):
        if char == " ":
            inner = 0 < at < len(text) - 1 and text[at + 1] != " "
            if fold and not spaces and out.column > WIDTH and inner:
                out.indent(indent)
            else:
                out.put(char)
            spaces = True
        elif char in BREAKS:
            out.line_break(char)
            out.indention = after_break = True
        else:
            if after_break:
                out.indent(indent)
            out.put(char * 2 if char == doubled else char)
            out.indention = spaces = after_break = False


def _double(out: Output, text: str, indent: int, *, fold: bool) -> None:
    out.sign('"', spaced=True)
    spaces = False
    marked = text.startswith(
        "\ufeff"
    )  # libyaml asks for a byte order mark at the start of the text, whatever the place
    for at, char in enumerate(text):
        if marked:
            out.put(_escape(char))
        elif char == " ":
            if fold and not spaces and out.column > WIDTH and 0 < at < len(text) - 1:
                out.indent(indent)
                out.put("\\" if text[at + 1] == " " else "")
            else:
                out.put(char)
            spaces = True
        else:
            out.put(_escaped(char))
            spaces = False
    out.sign('"', spaced=False)
    out.wrote()


def _escaped(char: str) -> str:
    if char not in '"\\\n\u2028\u2029' and _PRINTABLE.fullmatch(char):
        return char
    return _escape(char)


def _escape(char: str) -> str:
    if char in _ESCAPES:
        return "\\" + _ESCAPES[char]
    code = ord(char)
    return f"\\x{code:02X}" if code <= 0xFF else f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _literal(out: Output, text: str, indent: int) -> None:
    out.sign("|", spaced=True)
    if text[0] in (" ", *BREAKS):
        out.sign("2", spaced=False)
    if text[-1] not in BREAKS:
        out.sign("-", spaced=False)
    elif len(text) == 1 or text[-2] in BREAKS:
        out.sign("+", spaced=False)
    out.line_break()
    out.whitespace = out.indention = after_break = True
    for char in text:
        if char in BREAKS:
            out.line_break(char)
            out.indention = after_break = True
        else:
            if after_break:
                out.indent(indent)
            out.put(char)
            out.indention = after_break = False
