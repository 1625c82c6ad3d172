"""Log lines as Kubernetes components write them: text in klog's form or JSON, by verbosity, with key-value facts.

The parts log through the standard library (`extra={"facts": {...}, "v": n}`); only here is decided what that looks like.
Facts are written as they are, so nobody may pass a secret; bodies of requests are never logged at any verbosity.
"""

from __future__ import annotations

import datetime
import fnmatch
import io
import logging
import os
import sys
from collections.abc import Mapping
from typing import Any, TextIO

import orjson

_LETTERS = {logging.CRITICAL: "F", logging.ERROR: "E", logging.WARNING: "W"}
_QUIET = ("urllib3", "kubernetes", "asyncio", "sushy", "stevedore")


def setup(
    format_: str = "text", verbosity: int = 0, vmodule: Mapping[str, int] | None = None, stream: TextIO | None = None
) -> Verbosity:
    """Replaces the root logger's handlers.

    Args:
        format_: ``text`` or ``json``.
        vmodule: verbosity by file name pattern, without ``.py``.
    """
    filter_ = Verbosity(verbosity, vmodule or {})
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if format_ == "json" else TextFormatter())
    handler.addFilter(filter_)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.DEBUG)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.ERROR)
    return filter_


class Verbosity(logging.Filter):
    """Lets a line pass whose ``v`` is not above the level; it may be changed while running."""

    def __init__(self, level: int, vmodule: Mapping[str, int]) -> None:
        super().__init__()
        self.level = level
        self._vmodule = dict(vmodule)

    def filter(self, record: logging.LogRecord) -> bool:
        v = level_of(record)
        if v <= self.level:
            return True
        return any(v <= level for name, level in self._vmodule.items() if fnmatch.fnmatch(record.module, name))


def level_of(record: logging.LogRecord) -> int:
    """The klog verbosity of a record; DEBUG counts as 4 unless it says so itself."""
    v = getattr(record, "v", None)
    if isinstance(v, int):
        return v
    return 4 if record.levelno < logging.INFO else 0


class TextFormatter(logging.Formatter):
    """``I1130 14:48:02.000001       1 loop.py:80] "Reconciled" controller="metal3machine"``."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
        letter = _LETTERS.get(record.levelno, "I")
        head = f"{letter}{when:%m%d %H:%M:%S.%f} {os.getpid():>7} {record.filename}:{record.lineno}] "
        out = io.StringIO()
        out.write(head + _quoted(record.getMessage()))
        for name, value in _facts(record).items():
            out.write(f" {name}={_text(value)}")
        if record.exc_info:
            out.write("\n" + self.formatException(record.exc_info))
        return out.getvalue()


class JsonFormatter(logging.Formatter):
    """One object a line with ``ts`` (milliseconds), ``caller``, ``msg``, ``v`` and the facts, as component-base."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "ts": round(record.created * 1000, 3),
            "caller": f"{record.module}/{record.filename}:{record.lineno}",
            "msg": record.getMessage(),
        }
        if record.levelno >= logging.ERROR:
            line["level"] = "error"
        elif record.levelno >= logging.WARNING:
            line["level"] = "warning"
        else:
            line["v"] = level_of(record)
        line.update(_facts(record))
        if record.exc_info:
            line["stacktrace"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


def _facts(record: logging.LogRecord) -> Mapping[str, Any]:
    facts = getattr(record, "facts", None)
    return facts if isinstance(facts, Mapping) else {}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return _quoted(str(value))


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()
