"""HTTP requests and answers as the API server's parts see them, and the Status bodies of refusals.

Apart from the listener, so that everything behind it can be tested without a socket.
"""

from __future__ import annotations

import dataclasses
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import yaml
from capm3_api.model import Raw
from capm3_managers.ports import ApiError
from capm3_managers.testing import world_errors

from capm3_testbed.embedded import protobuf

JSON = "application/json"


@dataclasses.dataclass
class HttpRequest:
    """Args:
    path: decoded, without the query.
    headers: names in lower case.
    user: name of whoever the token belongs to, ``""`` when nobody.
    connected: whether the client still listens; asked by long streams.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""
    user: str = ""
    connected: Any = lambda: True

    def flag(self, name: str) -> bool:
        """A boolean query parameter as Kubernetes reads it."""
        return self.query.get(name, "").lower() in ("1", "true")

    def json(self) -> Any:
        """The body: JSON, YAML, or protobuf of a few kinds.

        Raises:
            ApiError: 400, it is none of them.
        """
        if self.headers.get("content-type", "").startswith(protobuf.CONTENT_TYPE):
            return protobuf.decode(self.body)
        try:
            if "yaml" in self.headers.get("content-type", ""):
                return yaml.safe_load(self.body)
            return orjson.loads(self.body)
        except (ValueError, yaml.YAMLError) as error:
            raise world_errors.bad_request(f"the request body can't be read: {type(error).__name__}") from None

    def object(self) -> Raw:
        """The body as a JSON object."""
        found = self.json()
        if not isinstance(found, dict):
            raise world_errors.bad_request("the request body must be an object")
        return found


@dataclasses.dataclass
class HttpResponse:
    """Args:
    stream: chunks sent as they come; the connection ends with them.
    """

    status: int = 200
    body: bytes = b""
    content_type: str = JSON
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    stream: Iterator[bytes] | None = None


def query_of(text: str) -> dict[str, str]:
    """Query parameters; of one given twice the first counts."""
    found: dict[str, str] = {}
    for name, value in urllib.parse.parse_qsl(text, keep_blank_values=True):
        found.setdefault(name, value)
    return found


def answer(value: Any, status: int = 200, content_type: str = JSON) -> HttpResponse:
    return HttpResponse(status, orjson.dumps(value), content_type)


def status_body(error: ApiError, details: Raw | None = None) -> Raw:
    """The ``Status`` object of a refusal.

    Args:
        details: name, group and kind of what was asked for.
    """
    code = error.status or 500
    body: Raw = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": error.message,
        "reason": error.reason,
        "code": code,
    }
    found = dict(details or {})
    causes = getattr(error, "causes", ())
    if causes:
        found["causes"] = [{"reason": c.reason, "message": c.message, "field": c.field} for c in causes]
    if found and code not in (400, 415):
        body["details"] = found
    return body


def success(details: Raw) -> Raw:
    """The ``Status`` object of a delete that left nothing."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def refusal(error: ApiError, details: Raw | None = None) -> HttpResponse:
    response = answer(status_body(error, details), error.status or 500)
    if error.status == 429:
        response.headers["Retry-After"] = "1"
    return response


def unsupported_media(text: str) -> ApiError:
    return world_errors.StatusError(415, "UnsupportedMediaType", text)
