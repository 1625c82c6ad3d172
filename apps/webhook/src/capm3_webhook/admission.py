"""Turns one AdmissionReview into its answer: decode, default or judge, and say it in controller-runtime's form.

Apart from HTTP, so that it is a pure function of the review. Only a review that cannot be read, an unknown operation
and a denial differ from "allowed". Source: behaviour facts on CAPM3 3.1 and the recorded review protocol.
"""

from __future__ import annotations

import base64
from typing import Any

import orjson
from capm3_api import defaults, meta, schema_types, schemas
from capm3_api.model import Raw
from capm3_api.validation import errors, rules

from capm3_webhook import jsonpatch
from capm3_webhook.paths import Webhook

API_VERSION = "admission.k8s.io/v1"
ALLOWED: Raw = {"metadata": {}, "code": 200}


class BadRequest(Exception):
    """A review that cannot be answered with more than what is wrong with it."""


def answer(webhook: Webhook, review: Raw) -> Raw:
    """The AdmissionReview with the response; never raises on a review of any shape.

    Args:
        webhook: which one was called.
        review: the decoded body, a JSON object.
    """
    request = review.get("request")
    request = request if isinstance(request, dict) else {}
    try:
        response = _respond(webhook, request)
    except BadRequest as problem:
        response = denial(400, str(problem))
    return wrap(response, _text(request.get("uid")), _text(review.get("apiVersion")) or API_VERSION)


def wrap(response: Raw, uid: str = "", api_version: str = API_VERSION) -> Raw:
    """A response as a whole review."""
    return {"kind": "AdmissionReview", "apiVersion": api_version, "response": {"uid": uid, **response}}


def denial(code: int, message: str) -> Raw:
    """A refusal that is not about fields."""
    return {"allowed": False, "status": {"metadata": {}, "message": message, "code": code}}


def subject(webhook: Webhook, review: Any) -> str:
    """Kind, namespace and name of what a review is about, for messages; safe on any shape."""
    request = review.get("request") if isinstance(review, dict) else None
    request = request if isinstance(request, dict) else {}
    parts = [_text(request.get("namespace")), _text(request.get("name"))]
    return f"{webhook.kind.kind} {'/'.join(part for part in parts if part) or '(without a name)'}"


def answer_uid(review: Any) -> str:
    """The uid that the answer to a review must carry; safe on any shape."""
    request = review.get("request") if isinstance(review, dict) else None
    return _text(request.get("uid")) if isinstance(request, dict) else ""


def _respond(webhook: Webhook, request: Raw) -> Raw:
    operation = _text(request.get("operation"))
    if operation == "CONNECT":
        return {"allowed": True, "status": ALLOWED}
    if operation == "DELETE":
        if not webhook.mutating:
            _decoded(webhook, request.get("oldObject"))
        return {"allowed": True, "status": ALLOWED}
    if operation not in ("CREATE", "UPDATE"):
        raise BadRequest(f"unknown operation {errors.quote(operation)}")
    new = _decoded(webhook, request.get("object"))
    if webhook.mutating:
        return _mutated(new)
    old = _decoded(webhook, request.get("oldObject")) if operation == "UPDATE" else None
    return _judged(webhook, request, new, old)


def _decoded(webhook: Webhook, value: Any) -> Raw:
    """The object, if it is one of the webhook's kind and version whose values have the right types."""
    if value is None:
        raise BadRequest("there is no content to decode")
    if not isinstance(value, dict):
        raise BadRequest(f"the object of a review must be a JSON object of kind {webhook.kind.kind}")
    api_version, kind = _text(value.get("apiVersion")), _text(value.get("kind"))
    if (api_version, kind) != (webhook.kind.api_version, webhook.kind.kind):
        wanted = f"*{webhook.kind.version}.{webhook.kind.kind}"
        raise BadRequest(f"unable to decode {api_version}, Kind={kind} into {wanted}")
    wrong = schema_types.wrong_object(schemas.of(api_version, kind), value)
    if wrong:
        raise BadRequest("; ".join(error.text() for error in wrong[:20]))
    return value


def _mutated(obj: Raw) -> Raw:
    operations = jsonpatch.diff(obj, defaults.default(obj))
    response: Raw = {"allowed": True, "status": ALLOWED}
    if operations:
        response["patch"] = base64.b64encode(orjson.dumps(operations)).decode()
        response["patchType"] = "JSONPatch"
    return response


def _judged(webhook: Webhook, request: Raw, new: Raw, old: Raw | None) -> Raw:
    wrong = rules.validate(new, old, dry_run=request.get("dryRun") is True)
    response: Raw = {"allowed": not wrong, "status": ALLOWED}
    if wrong:
        name = meta.key_of(new).name or _text(request.get("name"))
        response["status"] = errors.invalid_status(webhook.kind.group, webhook.kind.kind, name, wrong)
    told = rules.warnings(new, old)
    if told:
        response["warnings"] = told
    return response


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
