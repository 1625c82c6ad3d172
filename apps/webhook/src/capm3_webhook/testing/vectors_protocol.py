"""Compares the review protocols with recorded answers of the Go program: agreed, registered or differing.

Apart from the comparison of the rules in `capm3_api.testing`, because it needs the HTTP application. A row of
`DIFFERENCES` explains what may differ, by the kind of answer and not by the case.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from capm3_api.model import Raw
from starlette.types import ASGIApp

from capm3_webhook import app, paths
from capm3_webhook.settings import Settings
from capm3_webhook.testing import client

Row = tuple[str, str, str]
"""Case, verdict and detail."""


def compare(folder: pathlib.Path, *, prefix: str = "") -> list[Row]:
    """The records of ``review-protocol.json`` in a folder of admission or conversion recordings.

    Args:
        prefix: of the file's name, for a folder that holds both.
    """
    file = folder / f"{prefix}review-protocol.json"
    if not file.exists():
        return []
    application = app.build(Settings())
    records = json.loads(file.read_text(encoding="utf-8"))
    try:
        return [_compared(application, record) for record in records]
    finally:
        application.state.handlers.close()


def _compared(application: ASGIApp, record: Raw) -> Row:
    path = record.get("path", paths.CONVERT)
    body = record["request"]
    sent = json.dumps(body).encode() if isinstance(body, dict) else (body or "").encode()
    headers = {"content-type": record["contentType"]} if record.get("contentType") else {}
    method = record.get("method", "post").upper()
    status, _, content = client.call(application, path, sent, method=method, headers=headers)
    theirs = record["response"]
    name = f"review-protocol/{record['name']}"
    if theirs["httpStatus"] != status:
        return name, "differing", f"HTTP {status} instead of {theirs['httpStatus']}"
    ours: Any = json.loads(content) if content[:1] == b"{" else content.decode()
    reasons = sorted(set(_differences(theirs["body"], ours)))
    unknown = [reason for reason in reasons if reason.startswith("?")]
    if unknown:
        return name, "differing", "; ".join(unknown)
    return name, "registered" if reasons else "agreed", "; ".join(reasons)


def _differences(theirs: Any, ours: Any) -> Iterator[str]:
    """The reasons of all differences; one that no row explains starts with ``?``."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        left, right = _simplified(theirs), _simplified(ours)
        for key in sorted(left.keys() | right.keys()):
            if left.get(key) != right.get(key):
                yield _reason(key, left.get(key), right.get(key), theirs)
    elif theirs != ours:
        yield _reason("body", theirs, ours, {})


def _simplified(review: Raw) -> Raw:
    """The parts of a review that are compared, each under its own name; the patch by what it does."""
    response = review.get("response") or {}
    status = response.get("status") or response.get("result") or {}
    flat = {
        "form": (review.get("kind"), review.get("apiVersion")),
        "uid": response.get("uid"),
        "allowed": response.get("allowed"),
        "code": status.get("code"),
        "status": status.get("status"),
        "message": status.get("message"),
        "patched": "patch" in response,
        "objects": [_object(obj) for obj in response.get("convertedObjects") or []],
    }
    return {key: value for key, value in flat.items() if value not in (None, [])}


def _object(obj: Raw) -> Raw:
    return {key: value for key, value in obj.items() if not (key == "status" and value == {})}


def _reason(part: str, theirs: Any, ours: Any, review: Raw) -> str:
    for explained, holds in DIFFERENCES:
        if holds(part, theirs, ours, review):
            return explained
    return f"?{part}: theirs {theirs!r}, ours {ours!r}"


Holds = Callable[[str, Any, Any, Raw], bool]


def _whole_review(part: str, theirs: Any, ours: Any, _review: Raw) -> bool:
    return part == "form" and theirs == (None, None) and ours[0] is not None


def _body_with_reason(part: str, theirs: Any, ours: Any, _review: Raw) -> bool:
    return part == "body" and theirs == "" and isinstance(ours, dict) and _failed(ours)


def _failed(review: Raw) -> bool:
    return bool((review.get("response") or {}).get("result", {}).get("status") == "Failure")


def _own_words(part: str, theirs: Any, ours: Any, _review: Raw) -> bool:
    """Texts that name Go types or positions in Go sources, and failures that ours tells with the object's name."""
    return (
        part == "message"
        and bool(theirs and ours)
        and bool(
            re.search(r"json: cannot|time: invalid|scheme\.go|'Kind' is missing|not allowed between same type", theirs)
        )
    )


def _unknown_kept(part: str, theirs: Any, ours: Any, _review: Raw) -> bool:
    return part == "objects" and len(theirs) == len(ours) and all(map(_contains, ours, theirs))


def _contains(more: Any, less: Any) -> bool:
    if isinstance(more, dict) and isinstance(less, dict):
        return all(key in more and _contains(more[key], value) for key, value in less.items())
    return bool(more == less)


DIFFERENCES: tuple[tuple[str, Holds], ...] = (
    ("every answer is a whole review with kind and apiVersion", _whole_review),
    ("a body that is no ConversionReview is answered with a failed review and the reason", _body_with_reason),
    ("failures name the object and the JSON path instead of Go types and source positions", _own_words),
    ("unknown fields survive conversion", _unknown_kept),
)
