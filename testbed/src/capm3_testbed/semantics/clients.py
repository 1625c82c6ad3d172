"""The suite's clients: one for any server over HTTPS, one for a `World` in this process.

Apart from the controller's client, so that the suite does not lean on what it may one day have to judge.
"""

from __future__ import annotations

import json
import ssl
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence

import urllib3
from capm3_api.meta import Key, Kind, key_of
from capm3_api.model import Raw
from capm3_managers import diff
from capm3_managers.ports import ALL_NAMESPACES, ApiError
from capm3_managers.testing import patches, selectors
from capm3_managers.testing.world import World
from capm3_managers.testing.world_errors import Cause, StatusError
from capm3_managers.testing.world_types import Request

from capm3_testbed.kubeconfig import Access
from capm3_testbed.semantics.cases import Answer, Ask, Page

_QUIET_SECONDS = 8.0
_MERGE = "application/merge-patch+json"
_JSON_PATCH = "application/json-patch+json"


class HttpClient:
    """Speaks to any API server.

    Args:
        kinds: those that objects handed to `create` and `update` may have.
    """

    def __init__(self, access: Access, kinds: tuple[Kind, ...]) -> None:
        context = ssl.create_default_context(cadata=access.ca.decode())
        self._pool = urllib3.PoolManager(ssl_context=context, headers={"Authorization": f"Bearer {access.token}"})
        self._server = access.server
        self._kinds = {(kind.api_version, kind.kind): kind for kind in kinds}

    def create(self, obj: Raw, *, dry_run: bool = False, validation: str = "") -> Raw:
        kind = self._kind(obj)
        query = {"dryRun": "All"} if dry_run else {}
        if validation:
            query["fieldValidation"] = validation
        return self._ask("POST", _path(kind, Key(key_of(obj).namespace, "")), query, obj)

    def get(self, kind: Kind, key: Key) -> Raw | None:
        try:
            return self._ask("GET", _path(kind, key))
        except ApiError as error:
            if error.is_not_found:
                return None
            raise

    def list(self, kind: Kind, namespace: str, query: Mapping[str, str] | None = None) -> Page:
        found = self._ask("GET", _path(kind, Key(namespace, "")), query)
        metadata = found["metadata"]
        return Page(tuple(found["items"]), metadata["resourceVersion"], metadata.get("continue") or "")

    def update(self, obj: Raw, *, subresource: str = "") -> Raw:
        return self._ask("PUT", _path(self._kind(obj), key_of(obj), subresource), body=obj)

    def patch(self, kind: Kind, key: Key, patch: Raw, *, subresource: str = "", dry_run: bool = False) -> Raw:
        query = {"dryRun": "All"} if dry_run else {}
        return self._ask("PATCH", _path(kind, key, subresource), query, patch, _MERGE)

    def json_patch(self, kind: Kind, key: Key, patch: Sequence[Raw]) -> Raw:
        return self._ask("PATCH", _path(kind, key), None, patch, _JSON_PATCH)

    def delete(self, kind: Kind, key: Key, *, uid: str = "", propagation: str = "") -> None:
        options: Raw = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if uid:
            options["preconditions"] = {"uid": uid}
        if propagation:
            options["propagationPolicy"] = propagation
        self._ask("DELETE", _path(kind, key), None, options)

    def watch(self, kind: Kind, namespace: str, since: str, query: Mapping[str, str] | None = None) -> Iterator[Raw]:
        full = {**(query or {}), "watch": "1"} | ({"resourceVersion": since} if since else {})
        url = f"{self._server}{_path(kind, Key(namespace, ''))}?{urllib.parse.urlencode(full)}"
        timeout = urllib3.Timeout(connect=5, read=_QUIET_SECONDS)
        response = self._pool.request("GET", url, preload_content=False, timeout=timeout, retries=False)
        try:
            if response.status != 200:
                raise _error(response.status, response.read())
            for line in _lines(response):
                yield json.loads(line)
        finally:
            response.close()

    def http(self, ask: Ask) -> Answer:
        headers = {**self._pool.headers, "Content-Type": ask.content, "Accept": ask.accept}
        data = None if ask.body is None else json.dumps(ask.body).encode()
        response = self._pool.request(
            ask.method, self._server + ask.path, body=data, headers=headers, timeout=30.0, retries=False
        )
        found = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status, found, json.loads(response.data))

    def forget(self, kind: Kind, namespace: str) -> str:
        """Version 1 is older than any watch cache of a server that did not start from nothing just now."""
        return "1"

    def _kind(self, obj: Raw) -> Kind:
        return self._kinds[(obj["apiVersion"], obj["kind"])]

    def _ask(
        self, method: str, path: str, query: Mapping[str, str] | None = None, body: object = None, content: str = ""
    ) -> Raw:
        url = f"{self._server}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        headers = {"Content-Type": content or "application/json", "Authorization": self._pool.headers["Authorization"]}
        data = None if body is None else json.dumps(body).encode()
        response = self._pool.request(method, url, body=data, headers=headers, timeout=30.0, retries=False)
        if response.status >= 400:
            raise _error(response.status, response.data)
        answer: Raw = json.loads(response.data)
        return answer


def _path(kind: Kind, key: Key, subresource: str = "") -> str:
    parts = ["apis", kind.group, kind.version] if kind.group else ["api", kind.version]
    if kind.namespaced and key.namespace:
        parts += ["namespaces", key.namespace]
    parts += [part for part in (kind.plural, key.name, subresource) if part]
    return "/" + "/".join(parts)


def _error(status: int, body: bytes) -> ApiError:
    """The refusal in a ``Status`` body."""
    try:
        found = json.loads(body)
    except ValueError:
        return ApiError(status, "Unknown", body[:200].decode(errors="replace"))
    causes = [
        Cause(cause.get("reason", ""), cause.get("field", ""), cause.get("message", ""))
        for cause in (found.get("details") or {}).get("causes") or []
    ]
    return StatusError(status, found.get("reason", ""), found.get("message", ""), causes)


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """Whole lines of a stream, until it ends or stays quiet."""
    rest = b""
    try:
        for chunk in response.stream(65536, decode_content=True):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
    except (urllib3.exceptions.ReadTimeoutError, urllib3.exceptions.ProtocolError):
        return


class WorldClient:
    """Speaks to a `World` without HTTP; pages are not cut, watches only tell what happened already."""

    def __init__(self, world: World) -> None:
        self._world = world

    def create(self, obj: Raw, *, dry_run: bool = False, validation: str = "") -> Raw:
        request = Request("create", self._world.kind_of(obj), key_of(obj), dry_run=dry_run, field_validation=validation)
        return self._world.pipeline.create(request, obj)

    def get(self, kind: Kind, key: Key) -> Raw | None:
        return self._world.get(kind, key)

    def list(self, kind: Kind, namespace: str, query: Mapping[str, str] | None = None) -> Page:
        query = query or {}
        version = self._world.version
        items = self._world.list(
            kind,
            namespace or ALL_NAMESPACES,
            labels=query.get("labelSelector"),
            fields=query.get("fieldSelector"),
            version=version,
        )
        return Page(tuple(items), str(version))

    def update(self, obj: Raw, *, subresource: str = "") -> Raw:
        return self._world.update(obj, subresource=subresource)

    def patch(self, kind: Kind, key: Key, patch: Raw, *, subresource: str = "", dry_run: bool = False) -> Raw:
        request = Request("patch", kind, key, subresource, dry_run=dry_run)
        return self._world.pipeline.change(request, lambda old: diff.apply(old, patch))

    def json_patch(self, kind: Kind, key: Key, patch: Sequence[Raw]) -> Raw:
        return self._world.pipeline.change(Request("patch", kind, key), lambda old: patches.apply(old, patch))

    def delete(self, kind: Kind, key: Key, *, uid: str = "", propagation: str = "") -> None:
        self._world.delete(kind, key, uid=uid, propagation=propagation or "Background")

    def watch(self, kind: Kind, namespace: str, since: str, query: Mapping[str, str] | None = None) -> Iterator[Raw]:
        query = query or {}
        chosen = selectors.both(query.get("labelSelector"), query.get("fieldSelector"))
        if not since:
            for obj in self._world.list(kind, namespace):
                yield {"type": "ADDED", "object": obj}
            return
        try:
            events = self._world.watch(kind, since)
        except ApiError as error:
            yield {"type": "ERROR", "object": {"code": error.status, "reason": error.reason}}
            return
        for event in events:
            seen = event.seen(chosen) if event.key.namespace == namespace else None
            if seen is not None:
                yield {"type": seen[0], "object": seen[1]}

    def http(self, ask: Ask) -> Answer:
        raise NotImplementedError("a World has no HTTP")

    def forget(self, kind: Kind, namespace: str) -> str:
        version = str(self._world.version - 1)
        self._world.forget(kind)
        return version
