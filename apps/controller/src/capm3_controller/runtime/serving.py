"""A small HTTP(S) server for probes and metrics, on Go's address form.

Apart from what it serves, because two ports do the same thing with other handlers. The standard library's server is
enough: the callers are the kubelet and a scraper.
"""

from __future__ import annotations

import dataclasses
import http.server
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from typing import Any

log = logging.getLogger(__name__)
_REQUEST_SECONDS = 10.0


@dataclasses.dataclass(frozen=True)
class Reply:
    status: int
    body: bytes
    content_type: str = "text/plain; charset=utf-8"


@dataclasses.dataclass(frozen=True)
class Request:
    """Args:
    headers: names in lower case.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str] = dataclasses.field(repr=False)
    body: bytes = b""


Handler = Callable[[Request], Reply]


class AddressError(Exception):
    """An address that can't be listened on; the message says which and why."""


def address_of(text: str, flag: str) -> tuple[str, int]:
    """Go's form: ``:9440``, ``127.0.0.1:9440``, ``[::1]:9440``."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise AddressError(f"{flag}: {text!r} is not HOST:PORT or :PORT")
    return host.strip("[]"), int(port)


class Server:
    """Listens from construction on, answers after `start`."""

    def __init__(self, text: str, flag: str, handler: Handler, tls: ssl.SSLContext | None = None) -> None:
        host, port = address_of(text, flag)
        self._tls = tls
        try:
            self._server = _server_class(host)((host, port), _handler_class(handler))
        except OSError as error:
            raise AddressError(f"{flag}: can't listen on {text}: {error.strerror or error}") from None
        self._server.tls = tls
        self._started = False

    @property
    def port(self) -> int:
        """The real one, also when 0 was asked for."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        self._started = True
        threading.Thread(target=self._server.serve_forever, name=f"http-{self.port}", daemon=True).start()

    def stop(self) -> None:
        if self._started:
            self._server.shutdown()
        self._server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    tls: ssl.SSLContext | None = None

    def finish_request(self, request: Any, client_address: Any) -> None:
        """In the connection's own thread: a client that never finishes its handshake blocks nobody else."""
        request.settimeout(_REQUEST_SECONDS)
        if self.tls is not None:
            try:
                request = self.tls.wrap_socket(request, server_side=True)
            except (OSError, ssl.SSLError):
                return
        super().finish_request(request, client_address)
        if self.tls is not None:
            self.shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.debug("A request of a probe or scraper broke off", exc_info=True)


class _Server6(_Server):
    address_family = socket.AF_INET6

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


def _server_class(host: str) -> type[_Server]:
    """All addresses of both families for an empty host, as Go does, where the system has IPv6."""
    if ":" in host:
        return _Server6
    if host or not socket.has_dualstack_ipv6():
        return _Server
    return _Server6


def _handler_class(handler: Handler) -> type[http.server.BaseHTTPRequestHandler]:
    class Handling(http.server.BaseHTTPRequestHandler):
        server_version = "capm3"
        sys_version = ""
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            length = min(int(self.headers.get("Content-Length") or 0), 65536)
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = handler(Request(self.command, path, query, headers, self.rfile.read(length) if length else b""))
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)

        do_HEAD = do_GET
        do_PUT = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handling
