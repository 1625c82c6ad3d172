"""Whether Go's ``url.ParseRequestURI`` accepts a text: what ``format: uri`` and the image rules mean by a URL.

Apart from the rules, because Python's `urllib.parse` accepts nearly anything and the two sides must not drift.
"""

from __future__ import annotations

import ipaddress
import re

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*\Z", re.ASCII)
_USERINFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*\Z", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>\"%\x80-\U0010ffff]*\Z")
_PORT = re.compile(r"(:[0-9]*)?\Z", re.ASCII)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})", re.ASCII)
_ASCII_ESCAPE = re.compile(r"%(?!25)[0-7][0-9A-Fa-f]", re.ASCII)


def is_request_uri(text: str, *, strict: bool = True) -> bool:
    """An absolute URI or an absolute path, well formed; fragments are not split off.

    Args:
        strict: refuse a host with colons but no brackets (``http://2001:db8::1/``), as programs built with Go 1.26 do
            for http and https.
    """
    if not text or any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        return False
    if text == "*":
        return True
    scheme, rest = _split_scheme(text)
    if scheme is None:
        return False
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        return bool(scheme)
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        colons = not (strict and scheme.lower() in ("http", "https"))
        return _is_authority(authority, colons) and not _BAD_ESCAPE.search(slash + path)
    return not _BAD_ESCAPE.search(rest)


def scheme_of(text: str) -> str:
    """The scheme in lower case; ``""`` when there is none."""
    return (_split_scheme(text)[0] or "").lower()


def host_of(text: str) -> str:
    """The authority without user information and port; ``""`` when there is none."""
    _, rest = _split_scheme(text)
    if not rest.startswith("//"):
        return ""
    host = re.split(r"[/?]", rest[2:], maxsplit=1)[0].rpartition("@")[2]
    return host.partition("]")[0] + "]" if host.startswith("[") else host.rpartition(":")[0] or host


def _split_scheme(text: str) -> tuple[str | None, str]:
    """Scheme and rest; no scheme is ``""``, a text that starts with a colon gives ``None``."""
    head, colon, rest = text.partition(":")
    if not colon:
        return "", text
    if not head:
        return None, text
    return (head, rest) if _SCHEME.match(head) else ("", text)


def _is_authority(text: str, colons: bool) -> bool:
    """Whether it is well formed; `colons`: a host without brackets may have several."""
    user, at, host = text.rpartition("@")
    if at and (not _USERINFO.match(user) or _BAD_ESCAPE.search(user)):
        return False
    return _is_host(host, colons)


def _is_host(host: str, colons: bool) -> bool:
    if "[" in host:
        return host.startswith("[") and _is_literal(host)
    name, colon, port = host.rpartition(":")
    if colon and (not _PORT.match(colon + port) or (":" in name and not colons)):
        return False
    return _is_name(name if colon else host)


def _is_literal(host: str) -> bool:
    inner, bracket, port = host[1:].rpartition("]")
    if not bracket or not _PORT.match(port):
        return False
    address, percent, zone = inner.partition("%25")
    if percent and (not zone or "[" in zone or not _HOST.match(zone)):
        return False
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return False
    return not _BAD_ESCAPE.search(inner)


def _is_name(name: str) -> bool:
    return bool(_HOST.match(name)) and not _BAD_ESCAPE.search(name) and not _ASCII_ESCAPE.search(name)
