"""The scale subresource: a ``Scale`` object read from, and written through to, the fields that a CRD names for it.

Apart from the plain verbs, because its body is of another kind than the resource (``kubectl scale`` asks for it).
"""

from __future__ import annotations

from typing import Any

from capm3_api.model import Raw
from capm3_managers import diff
from capm3_managers.testing import patches, world_errors
from capm3_managers.testing.world_types import Request, metadata_of

from capm3_testbed.embedded import jsonpath
from capm3_testbed.embedded.api import Api
from capm3_testbed.embedded.messages import HttpRequest, HttpResponse, answer, unsupported_media
from capm3_testbed.embedded.registry import Served
from capm3_testbed.embedded.routes import Target

VERBS = ("get", "patch", "update")
_KEPT = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def serve(api: Api, served: Served, target: Target, request: HttpRequest) -> HttpResponse:
    """GET, PUT or PATCH of ``.../scale``."""
    if request.method == "GET":
        obj = api.world.get(served.kind, target.key)
        if obj is None:
            raise world_errors.not_found(served.kind, target.name)
        return answer(shown(obj, served.scale))
    todo = Request(
        "patch",
        served.kind,
        target.key,
        dry_run=request.query.get("dryRun") == "All",
        user=request.user,
        body=request.json(),
    )

    def change(old: Raw) -> Raw:
        return _written(old, _changed(shown(old, served.scale), request), served.scale)

    return answer(shown(api.world.pipeline.change(todo, change), served.scale))


def shown(obj: Raw, paths: Raw) -> Raw:
    """The ``Scale`` of an object.

    Args:
        paths: the CRD's ``subresources.scale``.
    """
    metadata = {name: value for name, value in metadata_of(obj).items() if name in _KEPT}
    status: Raw = {"replicas": _number(obj, paths.get("statusReplicasPath"))}
    selector = jsonpath.find(paths.get("labelSelectorPath") or ".", obj) if paths.get("labelSelectorPath") else []
    if selector:
        status["selector"] = selector[0]
    spec = {"replicas": _number(obj, paths.get("specReplicasPath"))}
    return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status}


def _number(obj: Raw, path: str | None) -> int:
    found = jsonpath.find(path, obj) if path else []
    return int(found[0]) if found and isinstance(found[0], int) else 0


def _changed(scale: Raw, request: HttpRequest) -> Raw:
    content = request.headers.get("content-type", "").split(";")[0].strip()
    if request.method == "PUT":
        return request.object()
    if content == "application/merge-patch+json":
        found: Raw = diff.apply(scale, request.object())
        return found
    if content == "application/json-patch+json":
        return patches.apply(scale, request.json())
    raise unsupported_media("the scale subresource takes merge patches and JSON patches")


def _written(old: Raw, scale: Raw, paths: Raw) -> Raw:
    """The object with the replicas of the ``Scale``; a resourceVersion in it is a precondition."""
    replicas: Any = (scale.get("spec") or {}).get("replicas", 0)
    patch: Raw = {}
    here = patch
    *parents, last = paths["specReplicasPath"].lstrip(".").split(".")
    for name in parents:
        here = here.setdefault(name, {})
    here[last] = replicas
    version = metadata_of(scale).get("resourceVersion")
    result: Raw = diff.apply(old, {**patch, "metadata": {"resourceVersion": version}} if version else patch)
    return result
