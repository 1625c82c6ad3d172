"""The JSONPath of printer columns: fields, indexes, ``[*]`` and ``[?(@.type=="Ready")]`` filters.

Apart from tables, because it is a small language of its own. Anything else of JSONPath finds nothing.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

_TOKEN = re.compile(
    r"""
    \.(?P<field>(?:\\.|[^.\[\]\\])+)            # .name, with \. for a dot inside
    | \['(?P<quoted>[^']+)'\]                  # ['name']
    | \[(?P<index>-?\d+)\]
    | \[(?P<all>\*)\]
    | \[\?\(@\.(?P<key>[^=!\s]+)\s*(?P<op>==|!=)\s*(?P<quote>["'])(?P<value>.*?)(?P=quote)\)\]
    """,
    re.VERBOSE,
)

_Step = Callable[[Any], Iterable[Any]]


def find(path: str, obj: Any) -> list[Any]:
    """Everything that the path leads to, in order; empty for a path that leads nowhere."""
    found = [obj]
    for step in _steps(path):
        found = [item for value in found for item in step(value)]
    return found


@functools.lru_cache(maxsize=512)
def _steps(path: str) -> tuple[_Step, ...]:
    text = path.strip().removeprefix("{").removesuffix("}")
    steps: list[_Step] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return (lambda value: (),)
        steps.append(_step(match))
        position = match.end()
    return tuple(steps)


def _step(match: re.Match[str]) -> _Step:
    if match["index"] is not None:
        number = int(match["index"])
        return lambda value: [value[number]] if isinstance(value, list) and -len(value) <= number < len(value) else []
    if match["all"]:
        return _all
    if match["key"] is not None:
        path, value, equal = "." + match["key"], match["value"], match["op"] == "=="
        return lambda items: [item for item in _all(items) if (_text(find(path, item)) == value) is equal]
    name = match["quoted"] or re.sub(r"\\(.)", r"\1", match["field"])
    return lambda value: [value[name]] if isinstance(value, dict) and name in value else []


def _all(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return list(value.values()) if isinstance(value, dict) else []


def _text(found: list[Any]) -> str:
    if not found:
        return ""
    return str(found[0]).lower() if isinstance(found[0], bool) else str(found[0])
