"""OpenAPI v3 (and an index for v2) of what is served: enough for kubectl's field validation and ``explain``.

Apart from discovery. Custom kinds carry the schema of their CRD, core kinds only say that they are objects.
"""

from __future__ import annotations

import hashlib

import orjson
from capm3_api.model import Raw

from capm3_testbed.embedded import discovery
from capm3_testbed.embedded.api import Api
from capm3_testbed.embedded.messages import HttpRequest, HttpResponse, answer
from capm3_testbed.embedded.registry import Served

_PATCHES = ("application/json-patch+json", "application/merge-patch+json")
_OPTIONS = ("dryRun", "fieldManager", "fieldValidation")


def serve(api: Api, request: HttpRequest) -> HttpResponse | None:
    """Answers an OpenAPI path; ``None`` for every other path."""
    parts = [part for part in request.path.split("/") if part]
    if parts[:2] == ["openapi", "v2"]:
        return _v2(api, request)
    if parts[:2] != ["openapi", "v3"]:
        return None
    if len(parts) == 2:
        return answer({"paths": {f"{_path(*gv)}": {"serverRelativeURL": _url(api, *gv)} for gv in _all(api)}})
    wanted = "/".join(parts[2:])
    found = next((gv for gv in _all(api) if _path(*gv) == wanted), None)
    return answer(_document(api, *found)) if found else None


def _all(api: Api) -> list[tuple[str, str]]:
    return sorted({(served.kind.group, served.kind.version) for served in api.registry.all()})


def _path(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _url(api: Api, group: str, version: str) -> str:
    digest = hashlib.sha256(orjson.dumps(_document(api, group, version))).hexdigest()
    return f"/openapi/v3/{_path(group, version)}?hash={digest.upper()}"


def _document(api: Api, group: str, version: str) -> Raw:
    paths: Raw = {}
    schemas: Raw = {}
    for served in api.registry.all():
        if (served.kind.group, served.kind.version) == (group, version):
            schemas[_name(served)] = _schema(served)
            paths.update(_paths(served))
    info = {"title": "capm3-testbed embedded API", "version": discovery.VERSION["gitVersion"]}
    return {"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": schemas}}


def _v2(api: Api, request: HttpRequest) -> HttpResponse:
    """Definitions only; a client that insists on protobuf gets an empty document, and goes on without."""
    accept = request.headers.get("accept", "")
    if "json" not in accept and "protobuf" in accept:
        return HttpResponse(content_type="application/com.github.proto-openapi.spec.v2.v1.0+protobuf")
    info = {"title": "capm3-testbed embedded API", "version": discovery.VERSION["gitVersion"]}
    definitions = {_name(served): _schema(served) for served in api.registry.all()}
    return answer({"swagger": "2.0", "info": info, "paths": {}, "definitions": definitions})


def _name(served: Served) -> str:
    kind = served.kind
    reverse = ".".join(reversed((kind.group or "core.api.k8s.io").split(".")))
    return f"{reverse}.{kind.version}.{kind.kind}"


def _group_version_kind(served: Served) -> Raw:
    return {"group": served.kind.group, "version": served.kind.version, "kind": served.kind.kind}


def _schema(served: Served) -> Raw:
    base: Raw = served.schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {**base, "x-kubernetes-group-version-kind": [_group_version_kind(served)]}


def _paths(served: Served) -> Raw:
    kind = served.kind
    root = f"/{_path(kind.group, kind.version)}"
    inside = f"{root}/namespaces/{{namespace}}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
    found = {
        inside: {"get": _operation(served, "list"), "post": _operation(served, "post")},
        f"{inside}/{{name}}": {
            "get": _operation(served, "get"),
            "put": _operation(served, "put"),
            "patch": _operation(served, "patch"),
            "delete": _operation(served, "delete"),
        },
    }
    if kind.namespaced:
        found[f"{root}/{kind.plural}"] = {"get": _operation(served, "list")}
    return found


def _operation(served: Served, action: str) -> Raw:
    reference = {"schema": {"$ref": f"#/components/schemas/{_name(served)}"}}
    operation: Raw = {
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": _group_version_kind(served),
        "responses": {"200": {"description": "OK", "content": {"application/json": reference}}},
    }
    if action in ("post", "put", "patch"):
        names = _OPTIONS
        operation["parameters"] = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in names]
        kinds = _PATCHES if action == "patch" else ("application/json",)
        operation["requestBody"] = {"content": dict.fromkeys(kinds, reference), "required": True}
    return operation
