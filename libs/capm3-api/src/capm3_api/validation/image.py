"""The rules for an image and a custom deploy method: one set for machines and machine templates.

Apart from the kinds, because two hand-written copies of these drifted apart in the Go program (field reports B11 to
B13). Source: behaviour facts on CAPM3 1.14. Rules with an id go beyond the Go program; on update they are held only
against what changed, so that no stored object is locked by them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from capm3_api.validation import errors, gourl
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import Change, at, mapping, text

CHECKSUM_RULE = "checksum-form"
URL_RULE = "image-url-host"

_DIGITS = {"md5": 32, "sha256": 64, "sha512": 128}
_NEEDS_HOST = frozenset({"http", "https", "ftp", "oci"})


def is_oci(url: str) -> bool:
    """Whether the image lies in an OCI registry."""
    return url.lower().startswith("oci://")


def check(change: Change, *spec: str) -> list[FieldError]:
    """The image of the machine spec at `spec` (a path of keys)."""
    if text(at(change.new, *spec, "customDeploy", "method")):
        return []
    path = ".".join((*spec, "image"))
    image = at(change.new, *spec, "image")
    url = text(at(image, "url"))
    if not url and at(image, "checksum") is None:
        return [errors.required(path, "either image or customDeploy is required")]
    found = _url(url, path, fresh=change.touched(*spec, "image", "url"))
    if is_oci(url):
        return found + _oci(mapping(image), path)
    if text(at(image, "diskFormat")) == "live-iso":
        return found
    fresh = change.touched(*spec, "image", "checksum") or change.touched(*spec, "image", "checksumType")
    return found + _checksum(mapping(image), path, fresh=fresh)


def _url(url: str, path: str, *, fresh: bool) -> list[FieldError]:
    if not url:
        return [errors.required(f"{path}.url", "cannot be empty")]
    if not gourl.is_request_uri(url, strict=False):
        return [errors.invalid(f"{path}.url", url, "not a valid URL")]
    if fresh and not gourl.is_request_uri(url):
        return [errors.invalid(f"{path}.url", url, "not a valid URL: put an IPv6 address in brackets", rule=URL_RULE)]
    scheme = gourl.scheme_of(url)
    if fresh and scheme in _NEEDS_HOST and not gourl.host_of(url):
        return [errors.invalid(f"{path}.url", url, f"names no host: write {scheme}://<host>/...", rule=URL_RULE)]
    return []


def _oci(image: Mapping[str, Any], path: str) -> list[FieldError]:
    return [
        errors.forbidden(f"{path}.{name}", "must be empty for OCI images")
        for name in ("checksum", "checksumType")
        if text(image.get(name))
    ]


def _checksum(image: Mapping[str, Any], path: str, *, fresh: bool) -> list[FieldError]:
    checksum = text(image.get("checksum"))
    where = f"{path}.checksum"
    if not checksum:
        return [errors.required(where, "cannot be empty")]
    if checksum.startswith(("http://", "https://")):
        return (
            [] if gourl.is_request_uri(checksum, strict=False) else [errors.invalid(where, checksum, "not a valid URL")]
        )
    problem = _digest_problem(checksum, text(image.get("checksumType"))) if fresh else ""
    return [errors.invalid(where, checksum, problem, rule=CHECKSUM_RULE)] if problem else []


def _digest_problem(checksum: str, kind: str) -> str:
    """Why a text is no checksum: it must be a URL or the hex digits of a digest of the named type."""
    if checksum != checksum.strip():
        return "has blanks at its start or end: remove them"
    if checksum.lower().startswith(("http://", "https://", "file://")):
        return "" if gourl.is_request_uri(checksum) else "not a valid URL"
    if not re.fullmatch(r"[0-9A-Fa-f]+", checksum, re.ASCII):
        return "must be an http or https URL of a checksum file, or the digest in hexadecimal digits"
    allowed = [_DIGITS[kind]] if kind in _DIGITS else sorted(_DIGITS.values())
    if len(checksum) in allowed:
        return ""
    shown = " or ".join(str(count) for count in allowed)
    return f"has {len(checksum)} hexadecimal digits; {f'{kind} has' if kind in _DIGITS else 'a digest has'} {shown}"
