"""String formats and patterns of CRD schemas, read as the API server's Go code reads them.

Apart from the other checks, because it is about two dialects: Go's regular expressions and the list of formats that a
CRD may use (any other name is ignored).
"""

from __future__ import annotations

import base64
import binascii
import datetime
import functools
import ipaddress
import re
from collections.abc import Callable

from capm3_api.validation import gourl

_UUID = r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?%s[0-9a-f]{3}-?%s[0-9a-f]{3}-?[0-9a-f]{12}\Z"
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A Go (RE2) pattern for Python: ``$`` and ``\\z`` mean the very end of the text, classes are ASCII."""
    parts: list[str] = []
    in_class = False
    tokens = re.findall(r"\\.|.", pattern, re.DOTALL)
    for part in tokens:
        if part == "[":
            in_class = True
        elif part == "]":
            in_class = False
        if not in_class and part in ("$", r"\z"):
            part = r"\Z"
        parts.append(part)
    return re.compile("".join(parts), re.ASCII)


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text; a pattern that Python cannot read is not held against it."""
    try:
        return compiled(pattern).search(text) is not None
    except re.error:
        return True


def is_of(name: str, text: str) -> bool:
    """Whether the text has the format; unknown formats are ignored."""
    check = _FORMATS.get(name.replace("-", ""))
    return check is None or check(text)


def _accepts(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except (ValueError, binascii.Error):
            return False
        return True

    return check


def _pattern(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.search(pattern, text, re.ASCII) is not None


def _date_time(text: str) -> None:
    if not re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d([.,]\d+)?([Zz]|[+-]\d\d:?\d\d)?\Z", text, re.ASCII):
        raise ValueError(text)
    datetime.date.fromisoformat(text[:10])
    datetime.time.fromisoformat(text[11:19])


def _cidr(text: str) -> None:
    if "/" not in text or not text.rpartition("/")[2].isdigit():
        raise ValueError(text)
    ipaddress.ip_interface(text)


_DURATION = r"^(\d+(\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s|m|h|d|w|[a-z]+)?((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*\Z"

_FORMATS: dict[str, Callable[[str], bool]] = {
    "uri": gourl.is_request_uri,
    "ipv4": _accepts(ipaddress.IPv4Address),
    "ipv6": _accepts(ipaddress.IPv6Address),
    "cidr": _accepts(_cidr),
    "mac": _pattern(r"^([0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5,19}|[0-9A-Fa-f]{4}(\.[0-9A-Fa-f]{4}){2,9})\Z"),
    "uuid": _pattern(_UUID % ("[0-9a-f]", "[0-9a-f]")),
    "uuid3": _pattern(_UUID % ("3", "[0-9a-f]")),
    "uuid4": _pattern(_UUID % ("4", "[89ab]")),
    "uuid5": _pattern(_UUID % ("5", "[89ab]")),
    "byte": _accepts(lambda text: base64.b64decode(text, validate=True)),
    "date": _accepts(datetime.date.fromisoformat),
    "datetime": _accepts(_date_time),
    "duration": _pattern(_DURATION),
    "email": _pattern(r"^[^@\s]+@[^@\s]+\Z"),
    "hexcolor": _pattern(r"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})\Z"),
    "hostname": _pattern(r"^(?=.{1,255}\Z)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9-]{1,63})*\Z"),
    "k8sshortname": _pattern(rf"^(?=.{{1,63}}\Z){_LABEL}\Z"),
    "k8slongname": _pattern(rf"^(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*\Z"),
}
