"""Calls a webhook application without sockets, and a running server with them.

Apart from the tests, because the comparison with recordings needs it too. Both calls are as small as they can be: what
is under test is the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import http.client
import pathlib
import ssl
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from starlette.types import ASGIApp

from capm3_webhook import certs, server
from capm3_webhook.settings import Settings

Answer = tuple[int, Mapping[str, str], bytes]
"""HTTP status, headers in lower case, body."""

JSON = {"content-type": "application/json"}


def call(
    app: ASGIApp, path: str, body: bytes | Sequence[bytes], *, method: str = "POST", headers: Mapping[str, str] = JSON
) -> Answer:
    """One request to the application itself; a sequence is a body that comes in parts."""
    parts = [body] if isinstance(body, bytes) else list(body)
    return asyncio.run(_call(app, path, parts, method, headers))


async def _call(app: ASGIApp, path: str, parts: list[bytes], method: str, headers: Mapping[str, str]) -> Answer:
    pending = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    pending.append({"type": "http.request", "body": b"", "more_body": False})
    sent: list[Any] = []

    async def receive() -> Any:
        return pending.pop(0) if pending else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope: Any = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "https",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 9443),
    }
    await app(scope, receive, send)
    start = next(message for message in sent if message["type"] == "http.response.start")
    content = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    return int(start["status"]), {name.decode(): value.decode() for name, value in start["headers"]}, content


@contextlib.contextmanager
def running(folder: pathlib.Path, **settings: Any) -> Iterator[tuple[server.Running, ssl.SSLContext]]:
    """A server on free ports of this machine with a fresh certificate in `folder`, ready to answer."""
    now = datetime.datetime.now(datetime.UTC)
    authority = certs.authority(now)
    certs.write_pair(authority, folder, ["127.0.0.1", "localhost"], now)
    wanted = {"host": "127.0.0.1", "port": 0, "health_address": "127.0.0.1:0", "cert_dir": folder, **settings}
    with server.serve(Settings(**wanted)) as made:
        if not made.wait_ready(10):
            raise AssertionError(f"the server did not become ready: {made.not_ready()}")
        yield made, ssl.create_default_context(cadata=authority.pem.decode())


def post(port: int, context: ssl.SSLContext, path: str, body: bytes, headers: Mapping[str, str] = JSON) -> Answer:
    """One request over TLS."""
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=30)
    with contextlib.closing(connection):
        connection.request("POST", path, body, dict(headers))
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return response.status, found, response.read()
