"""Reads YAML files as ``kubectl`` reads them, and remembers on which line each field stands.

Apart from the checks. Scalars are resolved as the Go library behind ``kubectl`` does it (YAML 1.1 without its
sexagesimal numbers and dates), because ``on: yes`` or a MAC address of digits alone must mean here what it means there.
"""

from __future__ import annotations

import dataclasses
import math
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from capm3_api.model import Raw

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TRUE = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_INT = re.compile(r"[-+]?(0[bB][01]+|0[oO]?[0-7]+|0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)\Z", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z", re.ASCII)
_NUMERIC = frozenset("+-.0123456789")
_STRING = "tag:yaml.org,2002:str"
_NO_OBJECT = "is no object: a map with apiVersion and kind is expected"
_MOST_AGAIN = 100_000
_RESOLVER = yaml.resolver.Resolver()


class Unreadable(Exception):
    """A file that can't be opened or is no YAML; the text says where and why."""


@dataclasses.dataclass(frozen=True)
class Document:
    """One object of a file.

    Args:
        file: name as given, ``-`` for standard input.
        index: place of the document in its file, from 0.
        line: first line, from 1.
        raw: the object; anything that is no map is wrapped as empty with a note in `problem`.
        lines: line of each JSON path.
        problem: why there is no object here.
        repeated: paths of keys that stand twice in one map; the last one counts.
    """

    file: str
    index: int
    line: int
    raw: Raw
    lines: dict[str, int] = dataclasses.field(default_factory=dict)
    problem: str = ""
    repeated: tuple[str, ...] = ()

    def line_of(self, path: str) -> int:
        """The line of the field, or of the nearest thing around it."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = re.sub(r"(\.[^.\[\]]*|\[[^\]]*\]|^[^.\[]+)\Z", "", path)
        return self.line


def read(names: Iterable[str], stdin: Any = None) -> Iterator[Document]:
    """The documents of all files in order; the items of a ``List`` count as documents of their own.

    Args:
        names: files, or folders for the YAML and JSON files in them, as with kubectl; ``-`` is standard input.

    Raises:
        Unreadable: at the first file that can't be read.
    """
    for name in names:
        for file in _files(name):
            yield from of_text(file, text_of(file, stdin))


def _files(name: str) -> list[str]:
    folder = pathlib.Path(name)
    if name == "-" or not folder.is_dir():
        return [name]
    found = sorted(str(file) for file in folder.iterdir() if file.suffix in (".yaml", ".yml", ".json"))
    if not found:
        raise Unreadable(f"{name}: is a folder without a .yaml, .yml or .json file")
    return found


def text_of(name: str, stdin: Any = None) -> str:
    """The text of one file; ``-`` is standard input.

    Raises:
        Unreadable: with the reason.
    """
    try:
        return (stdin or sys.stdin).read() if name == "-" else pathlib.Path(name).read_text(encoding="utf-8")
    except OSError as problem:
        raise Unreadable(f"{name}: {problem.strerror or problem}") from problem
    except UnicodeDecodeError as problem:
        raise Unreadable(f"{name}: is not UTF-8 text (byte {problem.start})") from problem


def of_text(name: str, text: str) -> Iterator[Document]:
    """The documents of one text that was read from the file `name`.

    Raises:
        Unreadable: it is no YAML.
    """
    try:
        roots = list(yaml.compose_all(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        where = f":{mark.line + 1}" if mark else ""
        hint = " (a tab, perhaps: YAML wants blanks)" if "cannot start any token" in (problem.problem or "") else ""
        raise Unreadable(f"{name}{where}: is no valid YAML: {problem.problem or problem.context}{hint}") from problem
    except yaml.YAMLError as problem:
        raise Unreadable(f"{name}: is no valid YAML: {problem}") from problem
    for index, root in enumerate(roots):
        if root is not None and not _is_null(root):
            yield from _documents(name, index, root)


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and scalar(node) is None


@dataclasses.dataclass
class _Notes:
    """What is noted while one object is read: the line of each path, repeated keys, values that were seen before."""

    lines: dict[str, int] = dataclasses.field(default_factory=dict)
    repeated: list[str] = dataclasses.field(default_factory=list)
    seen: set[int] = dataclasses.field(default_factory=set)
    again: int = 0

    def visit(self, node: yaml.Node) -> None:
        """Raises `RecursionError` at aliases of aliases, which are small in a file and endless in memory."""
        self.again += id(node) in self.seen
        self.seen.add(id(node))
        if self.again > _MOST_AGAIN:
            raise RecursionError


def _documents(name: str, index: int, root: yaml.Node) -> Iterator[Document]:
    document = _document(name, index, root)
    kind = document.raw.get("kind")
    items = _items(root) if isinstance(kind, str) and kind.endswith("List") else None
    if items is None:
        yield document
        return
    for item in items:
        inner = _document(name, index, item)
        yield dataclasses.replace(inner, problem="is no object") if inner.problem == _NO_OBJECT else inner


def _items(root: yaml.Node) -> list[yaml.Node] | None:
    """The items of a list object; nothing when it has none."""
    found = [value for key, value in root.value if key.value == "items"] if isinstance(root, yaml.MappingNode) else []
    return list(found[-1].value) if found and isinstance(found[-1], yaml.SequenceNode) else None


def _document(name: str, index: int, root: yaml.Node) -> Document:
    notes, line = _Notes(), root.start_mark.line + 1
    try:
        value = _value(root, "", notes, ())
    except RecursionError:
        return Document(name, index, line, {}, problem="is nested too deeply, contains itself or has endless aliases")
    if not isinstance(value, dict):
        return Document(name, index, line, {}, problem=_NO_OBJECT)
    return Document(name, index, line, value, notes.lines, repeated=tuple(notes.repeated))


def _value(node: yaml.Node, path: str, notes: _Notes, around: tuple[int, ...]) -> Any:
    notes.visit(node)
    if id(node) in around:
        raise RecursionError
    around = (*around, id(node))
    if path:
        notes.lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, f"{path}[{place}]", notes, around) for place, item in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return scalar(node)
    result: Raw = {}
    for key_node, value_node in node.value:
        key = key_node.value if isinstance(key_node, yaml.ScalarNode) else "?"
        if key == "<<" and key_node.style not in ("'", '"'):
            result = {**_merged(value_node, path, notes, around), **result}
            continue
        inner = f"{path}.{key}" if path else key
        if key in result and inner in notes.lines:
            notes.repeated.append(inner)
        notes.lines[inner] = key_node.start_mark.line + 1
        result[key] = _value(value_node, inner, notes, around)
    return result


def _merged(node: yaml.Node, path: str, notes: _Notes, around: tuple[int, ...]) -> Raw:
    """The maps behind a merge key; their lines stay those of the place they are written at."""
    parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
    result: Raw = {}
    for part in reversed(parts):
        inner = dataclasses.replace(notes, lines={})
        value = _value(part, path, inner, around)
        notes.again = inner.again
        result.update(value if isinstance(value, dict) else {})
    return result


def scalar(node: Any) -> Any:
    """A scalar as JSON value."""
    text: str = node.value
    if node.style in ("'", '"', "|", ">") or node.tag == "tag:yaml.org,2002:binary":
        return text
    implicit: Any = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    if node.tag == _STRING and implicit != _STRING:
        return text  # only an explicit tag makes a string of what would be something else
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    return _number(text)


def _number(text: str) -> Any:
    """A number, or the text itself: underscores do not count, and what no float can hold stays a text."""
    digits = text.replace("_", "")
    if text[:1] not in _NUMERIC:
        return text
    if _INT.match(digits):
        octal = re.fullmatch(r"[-+]?0[0-7]+", digits)
        found = int(digits, 8) if octal else int(digits, 0)
        return found if -(2**63) <= found < 2**64 else float(found)
    if _FLOAT.match(digits):
        number = float(digits)
        whole = "e" not in digits.lower() and "." not in digits
        return text if math.isinf(number) else int(number) if whole else number
    return text
