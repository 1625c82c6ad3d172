"""GET of one object and of lists: selectors, paging with ``continue``, exact versions.

Apart from watches, which go on.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses

import orjson
from capm3_api.meta import Key, key_of
from capm3_api.model import Raw
from capm3_managers.ports import ALL_NAMESPACES, ApiError
from capm3_managers.testing import world_errors

from capm3_testbed.embedded import tables
from capm3_testbed.embedded.api import Api
from capm3_testbed.embedded.messages import HttpRequest, HttpResponse, answer
from capm3_testbed.embedded.registry import Served
from capm3_testbed.embedded.routes import Target


def get(api: Api, served: Served, target: Target, request: HttpRequest) -> HttpResponse:
    obj = api.world.get(served.kind, target.key)
    if obj is None:
        raise world_errors.not_found(served.kind, target.name)
    return answer(tables.shown(obj, served, tables.form(request.headers.get("accept", "")), request.query))


def collection(api: Api, served: Served, target: Target, request: HttpRequest) -> HttpResponse:
    """A list, or a page of one."""
    api.world.strike("list", served.kind, target.key)
    page = _page(api, request)
    items = api.world.list(
        served.kind,
        namespace(served, target),
        labels=request.query.get("labelSelector"),
        fields=request.query.get("fieldSelector"),
        version=page.version,
    )
    if page.after is not None:
        items = [obj for obj in items if key_of(obj) > page.after]
    metadata: Raw = {"resourceVersion": str(page.version)}
    if page.limit and len(items) > page.limit:
        metadata["remainingItemCount"] = len(items) - page.limit
        items = items[: page.limit]
        metadata["continue"] = _token(page.version, key_of(items[-1]))
    as_form = tables.form(request.headers.get("accept", ""))
    return answer(tables.shown_list(items, served, as_form, request.query, metadata))


def namespace(served: Served, target: Target) -> str:
    """The namespace to list, as `World.list` takes it."""
    return target.namespace if served.kind.namespaced and target.namespace else ALL_NAMESPACES


@dataclasses.dataclass(frozen=True)
class _Page:
    version: int
    limit: int
    after: Key | None = None


def _page(api: Api, request: HttpRequest) -> _Page:
    """Which page of which version is asked for."""
    limit = _number(request, "limit")
    token = request.query.get("continue")
    if token:
        version, after = _read_token(token)
        return _Page(version, limit, after)
    if request.query.get("resourceVersionMatch") == "Exact":
        return _Page(_number(request, "resourceVersion"), limit)
    now = api.world.version
    wanted = _number(request, "resourceVersion")
    if wanted > now:
        raise ApiError(504, "Timeout", f"Too large resource version: {wanted}, current: {now}")
    return _Page(now, limit)


def _number(request: HttpRequest, name: str) -> int:
    text = request.query.get(name) or "0"
    if not text.isdigit():
        raise world_errors.bad_request(f"invalid {name} {text!r}: must be a number")
    return int(text)


def _token(version: int, after: Key) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([version, after.namespace, after.name])).decode().rstrip("=")


def _read_token(text: str) -> tuple[int, Key]:
    try:
        version, space, name = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return int(version), Key(str(space), str(name))
    except (ValueError, TypeError, binascii.Error):
        raise world_errors.bad_request("continue key is not valid") from None
