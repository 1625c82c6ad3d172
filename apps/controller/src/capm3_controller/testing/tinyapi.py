"""A small API server over `World` for tests of the runtime: get, paged list, watch, create, patch, delete.

Small on purpose and apart from the testbed's embedded API: it records every request with its headers, and a test may
answer any request itself (`intercept`), which is what these tests are about.
"""

from __future__ import annotations

import dataclasses
import http.server
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote

from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.ports import ALL_NAMESPACES, ApiError
from capm3_managers.testing.world import World

from capm3_controller.kube import client, paths
from capm3_controller.kube.endpoint import Endpoint

_PATH = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>[^/]+)"
    r"(?:/namespaces/(?P<namespace>[^/]+))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<sub>[^/]+))?)?"
)


@dataclasses.dataclass(frozen=True)
class Seen:
    """One request as it came."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any

    @property
    def watches(self) -> bool:
        return "watch" in self.query


Answer = tuple[int, Raw]
Intercept = Callable[[Seen], Answer | None]


class TinyApi:
    """Listens on a free port from the start; `with` stops it.

    Attributes:
        intercept: answers a request instead of the world when it returns something.
        absent: plurals of kinds that are not installed.
        held: while it is cleared, writes wait for it before they are answered.
    """

    def __init__(self, world: World | None = None) -> None:
        self.world = world or World()
        self.seen: list[Seen] = []
        self.intercept: Intercept = lambda seen: None
        self.absent: set[str] = set()
        self.held = threading.Event()
        self.held.set()
        self.watching = 0
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self.world.listen(lambda event: self.poke())
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"api": self}))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self) -> TinyApi:
        return self

    def __exit__(self, *rest: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.url)

    def kubeconfig(self) -> Raw:
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "tiny",
            "clusters": [{"name": "tiny", "cluster": {"server": self.url}}],
            "users": [{"name": "tiny", "user": {"token": "tiny-token"}}],
            "contexts": [{"name": "tiny", "context": {"cluster": "tiny", "user": "tiny", "namespace": "capm3-system"}}],
        }

    def stop(self) -> None:
        self._stopping.set()
        self.held.set()
        self.poke()
        self._server.shutdown()
        self._server.server_close()

    def drop_watches(self) -> None:
        """Ends every running watch, as a server that restarts does."""
        self._stopping.set()
        self.poke()
        self.until(lambda: not self.watching)
        self._stopping.clear()

    def until(self, condition: Callable[[], Any], seconds: float = 10.0) -> None:
        """Waits for a condition that some request or write brings about."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError("the condition did not come true in time")
            with self._changed:
                self._changed.wait(0.01)

    def poke(self) -> None:
        """Wakes everything that waits; nobody asks the world while holding this lock."""
        with self._changed:
            self._changed.notify_all()

    def writes(self) -> list[Seen]:
        return [seen for seen in self.seen if seen.method != "GET" and "/leases" not in seen.path]


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up in the middle is what these tests are about."""


class _Handler(http.server.BaseHTTPRequestHandler):
    api: TinyApi
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.command, unquote(path), dict(parse_qsl(query)), headers, body)
        self.api.seen.append(seen)
        self.api.poke()
        if seen.method != "GET":
            self.api.held.wait()
        try:
            answer = self.api.intercept(seen) or self._answer(seen)
        except ApiError as error:
            answer = error.status, _status(error)
        if answer is not None:
            self._reply(*answer)

    do_POST = do_PATCH = do_DELETE = do_PUT = do_GET

    def _answer(self, seen: Seen) -> Answer | None:
        match = _PATH.fullmatch(seen.path)
        kind = _kind(match) if match else None
        if match is None or kind is None or kind.plural in self.api.absent:
            return 404, _status(ApiError(404, "NotFound", "the server could not find the requested resource"))
        key = Key(match["namespace"] or "", match["name"] or "")
        if not match["name"]:
            return self._collection(seen, kind, match["namespace"] or ALL_NAMESPACES)
        if seen.method == "GET":
            obj = self.api.world.get(kind, key)
            if obj is None:
                raise ApiError(404, "NotFound", f"{kind.plural} {key.name!r} not found")
            return 200, obj
        if seen.method == "DELETE":
            uid = (seen.body.get("preconditions") or {}).get("uid") or ""
            self.api.world.delete(kind, key, uid=uid)
            return 200, {"kind": "Status", "status": "Success"}
        return 200, self._patched(seen, kind, key, match["sub"] or "")

    def _patched(self, seen: Seen, kind: Kind, key: Key, subresource: str) -> Raw:
        content = seen.headers["content-type"]
        if content == client.MERGE_PATCH:
            return self.api.world.patch(kind, key, seen.body, subresource=subresource)
        if content == client.JSON_PATCH:
            return self.api.world.json_patch(kind, key, seen.body, subresource=subresource)
        raise ApiError(415, "UnsupportedMediaType", f"{content} is not supported here")

    def _collection(self, seen: Seen, kind: Kind, namespace: str) -> Answer | None:
        if seen.method == "POST":
            return 201, self.api.world.create(seen.body)
        if seen.watches:
            self._watch(seen, kind, namespace)
            return None
        items = self.api.world.list(kind, namespace, labels=seen.query.get("labelSelector"))
        start, limit = int(seen.query.get("continue") or 0), int(seen.query.get("limit") or 0)
        end = start + limit if limit else len(items)
        more = {"continue": str(end)} if end < len(items) else {}
        metadata = {"resourceVersion": str(self.api.world.version), **more}
        return 200, {"kind": f"{kind.kind}List", "metadata": metadata, "items": items[start:end]}

    def _watch(self, seen: Seen, kind: Kind, namespace: str) -> None:
        since = int(seen.query["resourceVersion"])
        events, since = self.api.world.changes(kind, since)
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.api.watching += 1
        try:
            deadline = time.monotonic() + float(seen.query["timeoutSeconds"])
            while not self.api._stopping.is_set() and time.monotonic() < deadline:
                for event in events:
                    if namespace in (ALL_NAMESPACES, event.key.namespace):
                        self._line({"type": event.type, "object": event.obj})
                events, since = self.api.world.changes(kind, since)
                if not events:
                    with self.api._changed:
                        self.api._changed.wait(0.02)
            self.wfile.write(b"0\r\n\r\n")
        finally:
            self.api.watching -= 1

    def _line(self, event: Raw) -> None:
        data = json.dumps(event).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _reply(self, status: int, body: Raw) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _kind(match: re.Match[str]) -> Kind | None:
    for kind in paths.KNOWN.values():
        if (kind.group, kind.plural) == (match["group"] or "", match["plural"]):
            return kind.at(match["version"])
    return None


def _status(error: ApiError) -> Raw:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": error.status,
        "reason": error.reason,
        "message": error.message,
    }
