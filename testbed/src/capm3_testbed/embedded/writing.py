"""POST, PUT, PATCH and DELETE: HTTP options into requests of the world's pipeline.

Apart from reading, because these have options, bodies in several forms and answers that differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_managers import diff
from capm3_managers.ports import ApiError
from capm3_managers.testing import patches, world_errors
from capm3_managers.testing.world_types import Request, metadata_of

from capm3_testbed.embedded import reading, strategic, tables
from capm3_testbed.embedded.api import Api
from capm3_testbed.embedded.messages import HttpRequest, HttpResponse, answer, success, unsupported_media
from capm3_testbed.embedded.registry import Served
from capm3_testbed.embedded.routes import Target

_MERGE = "application/merge-patch+json"
_JSON_PATCH = "application/json-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_APPLY = "application/apply-patch"


def create(api: Api, served: Served, target: Target, request: HttpRequest) -> HttpResponse:
    if target.name or target.subresource:
        raise world_errors.no_such_path()
    obj = _placed(served, target, request.object())
    _check_namespace(api, target)
    todo = _request("create", served, meta.key_of(obj), request, body=obj)
    return _done(api.world.pipeline.create(todo, obj), served, request, todo, 201)


def update(api: Api, served: Served, target: Target, request: HttpRequest) -> HttpResponse:
    obj = _placed(served, target, request.object())
    if metadata_of(obj).get("name") != target.name:
        text = f"the name of the object ({metadata_of(obj).get('name')}) does not match the name on the URL ({target.name})"
        raise world_errors.bad_request(text)
    todo = _request("update", served, target.key, request, subresource=target.subresource, body=obj)
    return _done(api.world.pipeline.change(todo, lambda old: obj), served, request, todo)


def patch(api: Api, served: Served, target: Target, request: HttpRequest) -> HttpResponse:
    content = request.headers.get("content-type", "").split(";")[0].strip()
    body = request.json() if not content.startswith(_APPLY) else None
    change = _change(content, body, served)
    todo = _request("patch", served, target.key, request, subresource=target.subresource, body=body)
    return _done(api.world.pipeline.change(todo, change), served, request, todo)


def delete(api: Api, served: Served, target: Target, request: HttpRequest) -> HttpResponse:
    """Deletes one object: the object while finalizers hold it, else a ``Status``."""
    options = _delete_options(request)
    old = api.world.get(served.kind, target.key, version=api.world.version)
    todo = _delete_request(served, target.key, request, options)
    left = _delete(api, todo, options)
    if left is not None:
        return _done(left, served, request, todo)
    details = {"name": target.name, "group": served.kind.group, "kind": served.kind.plural}
    details["uid"] = meta.uid_of(old or {})
    return _warned(answer(success(details)), todo)


def delete_collection(api: Api, served: Served, target: Target, request: HttpRequest) -> HttpResponse:
    """Deletes everything that the selectors choose; answers the list of it."""
    options = _delete_options(request)
    chosen = api.world.list(
        served.kind,
        reading.namespace(served, target),
        labels=request.query.get("labelSelector"),
        fields=request.query.get("fieldSelector"),
    )
    for obj in chosen:
        try:
            _delete(api, _delete_request(served, meta.key_of(obj), request, options), options)
        except ApiError as error:
            if not error.is_not_found:
                raise
    as_form = tables.form(request.headers.get("accept", ""))
    metadata = {"resourceVersion": str(api.world.version)}
    return answer(tables.shown_list(chosen, served, as_form, request.query, metadata))


def _change(content: str, body: Any, served: Served) -> Callable[[Raw], Raw]:
    """The function that a patch is.

    Raises:
        ApiError: 415, a form that is not taken for this resource; 400, the body does not have that form.
    """
    if content.startswith(_APPLY):
        raise unsupported_media("server-side apply is not available on the embedded API server: use client-side apply")
    if content == _JSON_PATCH:
        if not isinstance(body, list) or not all(isinstance(operation, dict) for operation in body):
            raise world_errors.bad_request("a JSON patch must be a list of operations")
        return lambda old: patches.apply(old, body)
    if content == _MERGE or (content == _STRATEGIC and not served.custom):
        if not isinstance(body, dict):
            raise world_errors.bad_request("a merge patch must be an object")
        if content == _MERGE:
            return lambda old: _merged(old, body)
        return lambda old: strategic.apply(old, body)
    accepted = [_JSON_PATCH, _MERGE] + ([] if served.custom else [_STRATEGIC])
    text = f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
    raise unsupported_media(text)


def _merged(old: Raw, body: Raw) -> Raw:
    result: Raw = diff.apply(old, body)
    return result


def _placed(served: Served, target: Target, obj: Raw) -> Raw:
    """The object with the kind and namespace of the path, if it names no other."""
    kind = served.kind
    if served.custom and not (obj.get("kind") and obj.get("apiVersion")):
        text = f"the object provided is unrecognized (must be of type {kind.kind}): Object 'Kind' or 'apiVersion' is missing"
        raise world_errors.bad_request(text)
    metadata = dict(metadata_of(obj))
    space = metadata.get("namespace") or ""
    if kind.namespaced and space not in ("", target.namespace):
        text = f"the namespace of the provided object does not match the namespace sent on the request ({target.namespace})"
        raise world_errors.bad_request(text)
    if kind.namespaced:
        metadata["namespace"] = target.namespace
    else:
        metadata.pop("namespace", None)
    return {"apiVersion": kind.api_version, "kind": kind.kind, **obj, "metadata": metadata}


def _check_namespace(api: Api, target: Target) -> None:
    if target.namespace and api.world.get(kinds.NAMESPACE, Key("", target.namespace)) is None:
        raise world_errors.not_found(kinds.NAMESPACE, target.namespace)


def _request(
    verb: str, served: Served, key: Key, request: HttpRequest, *, subresource: str = "", body: Any = None
) -> Request:
    return Request(
        verb,
        served.kind,
        key,
        subresource,
        dry_run=request.query.get("dryRun") == "All",
        field_validation=request.query.get("fieldValidation") or "Warn",
        user=request.user,
        body=body,
    )


def _delete_options(request: HttpRequest) -> Raw:
    """``DeleteOptions`` of the body and the query; the body wins."""
    options: Raw = {}
    if "propagationPolicy" in request.query:
        options["propagationPolicy"] = request.query["propagationPolicy"]
    if request.query.get("dryRun"):
        options["dryRun"] = [request.query["dryRun"]]
    if request.body:
        options.update(request.object())
    if options.get("orphanDependents") and "propagationPolicy" not in options:
        options["propagationPolicy"] = "Orphan"
    return options


def _delete_request(served: Served, key: Key, request: HttpRequest, options: Raw) -> Request:
    todo = _request("delete", served, key, request)
    todo.dry_run = "All" in (options.get("dryRun") or [])
    return todo


def _delete(api: Api, todo: Request, options: Raw) -> Raw | None:
    conditions = options.get("preconditions") or {}
    return api.world.pipeline.delete(
        todo,
        uid=conditions.get("uid") or "",
        version=conditions.get("resourceVersion") or "",
        propagation=options.get("propagationPolicy") or "Background",
    )


def _done(obj: Raw, served: Served, request: HttpRequest, todo: Request, status: int = 200) -> HttpResponse:
    form = tables.form(request.headers.get("accept", ""))
    return _warned(answer(tables.shown(obj, served, form, request.query), status), todo)


def _warned(response: HttpResponse, todo: Request) -> HttpResponse:
    response.warnings = tuple(todo.warnings)
    return response
