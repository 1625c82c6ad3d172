"""From an HTTP request to the part that answers it: who asks, which path, which verb, and refusals as Status bodies.

Apart from the listener and from the verbs: the one place where an exception becomes an answer.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from capm3_managers.ports import ApiError
from capm3_managers.testing import world_errors

from capm3_testbed.embedded import discovery, openapi, reading, reviews, scale, watching, writing
from capm3_testbed.embedded.api import Api
from capm3_testbed.embedded.messages import HttpRequest, HttpResponse, answer, refusal
from capm3_testbed.embedded.registry import Served
from capm3_testbed.embedded.routes import Target, parse

_LOG = logging.getLogger(__name__)
_HEALTH = ("/healthz", "/livez", "/readyz")


class AnswerLost(Exception):
    """The connection is to end without an answer: a fault that a test asked for."""


class Dispatcher:
    """Args:
    users: token -> user name.
    """

    def __init__(self, api: Api, users: Mapping[str, str]) -> None:
        self._api = api
        self._users = users

    def __call__(self, request: HttpRequest) -> HttpResponse:
        target = parse(request.path)
        served = self._api.registry.find(target.group, target.version, target.plural) if target else None
        try:
            return self._answer(request, target, served)
        except ApiError as error:
            if error.status == 0:
                raise AnswerLost from error
            return refusal(error, _details(error, target, served))
        except Exception:
            _LOG.exception("%s %s", request.method, request.path)
            return refusal(ApiError(500, "InternalError", "Internal error occurred: see the testbed's log"))

    def _answer(self, request: HttpRequest, target: Target | None, served: Served | None) -> HttpResponse:
        if request.path.startswith(_HEALTH):
            return HttpResponse(body=b"ok", content_type="text/plain")
        if request.path != "/version":
            request.user = self._user(request)
        if target is not None and served is not None:
            self._api.requests[(_verb(request, target), target.plural)] += 1
            response = self._resource(request, target, served)
            if served.deprecation:
                response.warnings = (served.deprecation, *response.warnings)
            return response
        found = self._question(request)
        if found is None:
            raise world_errors.no_such_path()
        return found

    def _question(self, request: HttpRequest) -> HttpResponse | None:
        """Everything that is no resource: discovery, OpenAPI, reviews."""
        if request.method == "GET" and request.path == "/":
            return answer({"paths": ["/api", "/apis", "/healthz", "/openapi/v2", "/openapi/v3", "/version"]})
        if request.method == "GET":
            return discovery.serve(self._api, request) or openapi.serve(self._api, request)
        return reviews.serve(request, self._users)

    def _user(self, request: HttpRequest) -> str:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        user = self._users.get(token.strip()) if scheme.lower() == "bearer" else None
        if user is None:
            raise ApiError(401, "Unauthorized", "Unauthorized")
        return user

    def _resource(self, request: HttpRequest, target: Target, served: Served) -> HttpResponse:
        if target.subresource == "scale" and served.scale and request.method in ("GET", "PUT", "PATCH"):
            return scale.serve(self._api, served, target, request)
        if target.subresource not in ("", "status") or (target.subresource and not served.status):
            raise world_errors.no_such_path()
        verb = _verb(request, target)
        if verb == "watch":
            return watching.watch(self._api, served, target, request)
        if target.name and served.kind.namespaced and not target.namespace:
            raise world_errors.no_such_path()
        act = _VERBS.get(verb)
        if act is None or (target.subresource and verb in ("delete", "deletecollection")):
            raise ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        return act(self._api, served, target, request)


_VERBS = {
    "get": reading.get,
    "list": reading.collection,
    "create": writing.create,
    "update": writing.update,
    "patch": writing.patch,
    "delete": writing.delete,
    "deletecollection": writing.delete_collection,
}


def _verb(request: HttpRequest, target: Target) -> str:
    """The API verb of a request."""
    if request.method in ("GET", "HEAD"):
        if request.flag("watch"):
            return "watch"
        return "get" if target.name else "list"
    if request.method == "DELETE":
        return "delete" if target.name else "deletecollection"
    if not target.name and request.method in ("PUT", "PATCH"):
        return ""
    return {"POST": "create", "PUT": "update", "PATCH": "patch"}.get(request.method, "")


def _details(error: ApiError, target: Target | None, served: Served | None) -> dict[str, object]:
    """``Status.details``: what was asked for. An invalid object is named by its kind, everything else by its resource."""
    if target is None or served is None:
        return {}
    found: dict[str, object] = {"group": target.group}
    found["kind"] = served.kind.kind if error.reason == "Invalid" else target.plural
    found["name"] = target.name or getattr(error, "name", "")
    return {key: value for key, value in found.items() if value}
