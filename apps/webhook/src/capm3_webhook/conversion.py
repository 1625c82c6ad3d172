"""Turns one ConversionReview into its answer: every object in order, or a failure that names the object.

Apart from HTTP, so that it is a pure function of the review. The whole review fails with its first bad object, as the
protocol wants it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from capm3_api import conversion, kinds, meta, schema_types
from capm3_api.model import Raw

API_VERSION = "apiextensions.k8s.io/v1"
_KINDS = {kind.kind for kind in kinds.OURS}
_VERSIONS = ("v1beta1", "v1beta2")

Bug = Callable[[str, BaseException], None]


class Unconvertible(Exception):
    """An object that can't be converted; the text says why and names it."""


def answer(review: Raw, on_bug: Bug) -> Raw:
    """The ConversionReview with the response; never raises.

    Args:
        review: the decoded body, with a ``request`` that is an object.
        on_bug: told of the object and the exception when the conversion has a bug.
    """
    request = review["request"]
    objects = request.get("objects")
    try:
        converted = _all(objects, _text(request.get("desiredAPIVersion")), on_bug)
    except Unconvertible as problem:
        response = failure(str(problem))
    else:
        response = {"convertedObjects": converted or None, "result": {"metadata": {}, "status": "Success"}}
    return wrap(response, _text(request.get("uid")), _text(review.get("apiVersion")) or API_VERSION)


def wrap(response: Raw, uid: str = "", api_version: str = API_VERSION) -> Raw:
    """A response as a whole review."""
    return {"kind": "ConversionReview", "apiVersion": api_version, "response": {"uid": uid, **response}}


def failure(message: str) -> Raw:
    """The response of a review that failed."""
    return {"convertedObjects": None, "result": {"metadata": {}, "status": "Failure", "message": message}}


def _all(objects: Any, wanted: str, on_bug: Bug) -> list[Raw]:
    if objects is None:
        return []
    if not isinstance(objects, list):
        raise Unconvertible("request.objects must be a list")
    return [_one(obj, wanted, on_bug) for obj in objects]


def _one(obj: Any, wanted: str, on_bug: Bug) -> Raw:
    if not isinstance(obj, dict):
        raise Unconvertible("an entry of request.objects is not a JSON object")
    named = _checked(obj, wanted)
    try:
        converted: Raw = conversion.convert(obj, to=wanted.rpartition("/")[2])
    except conversion.ConversionError as problem:
        raise Unconvertible(str(problem)) from problem
    except Exception as bug:
        on_bug(named, bug)
        raise Unconvertible(f"{named}: internal error occurred during conversion ({type(bug).__name__})") from bug
    return converted


def _checked(obj: Raw, wanted: str) -> str:
    """What the object is called in messages; raises when it is no object that can be converted to `wanted`."""
    kind, api_version = _text(obj.get("kind")), _text(obj.get("apiVersion"))
    named = f"{kind} {meta.key_of(obj)}"
    wrong = schema_types.wrong(schema_types.OBJECT_META, obj.get("metadata"), "metadata")
    group, _, version = api_version.rpartition("/")
    if wrong:
        raise Unconvertible(f"{named}: {wrong[0].text()}")
    if not kind:
        raise Unconvertible(
            f"Object 'Kind' is missing in an object of {api_version or 'no apiVersion'}{named.rstrip('/')}"
        )
    if group != kinds.INFRASTRUCTURE or kind not in _KINDS or version not in _VERSIONS:
        raise Unconvertible(f'{named}: no kind "{kind}" is registered for version "{api_version}"')
    if wanted not in [f"{kinds.INFRASTRUCTURE}/{name}" for name in _VERSIONS]:
        raise Unconvertible(f'{named}: no kind "{kind}" is registered for version "{wanted}"')
    if api_version == wanted:
        raise Unconvertible(f"{named}: conversion is not allowed between same type *{version}.{kind}")
    return named


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
