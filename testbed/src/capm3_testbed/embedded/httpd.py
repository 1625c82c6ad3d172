"""The HTTPS listener: a thread for each connection, streams in chunks, an end within a second.

Apart from the API, which sees `HttpRequest`s. Threads, since admission and conversion webhooks block, and a watch is
then a plain loop. Built on the standard library's server; what it adds is TLS in the connection's own thread (a slow
handshake stops nobody), knowing when a watching client has gone, and closing every connection at the end.
"""

from __future__ import annotations

import contextlib
import logging
import select
import socket
import socketserver
import ssl
import threading
import urllib.parse
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from capm3_testbed.embedded.messages import HttpRequest, HttpResponse, query_of

_LOG = logging.getLogger(__name__)
_HANDSHAKE_SECONDS = 10.0
_IDLE_SECONDS = 300.0
_BODY_LIMIT = 16 * 1024 * 1024

Application = Callable[[HttpRequest], HttpResponse]


class Listener:
    """Args:
    application: answers a request; called in many threads.
    tls: server context, ``None`` for plain HTTP.
    """

    def __init__(self, application: Application, tls: ssl.SSLContext | None, host: str, port: int) -> None:
        self._server = _Server((host, port), _Handler, bind_and_activate=True)
        self._server.application = application
        self._server.tls = tls
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 0.9) -> None:
        """Refuses new connections, ends the open ones and waits for their threads, at most `timeout` seconds."""
        self._server.shutdown()
        self._server.server_close()
        self._server.end_connections(timeout)
        self._thread.join(timeout)


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    application: Application
    tls: ssl.SSLContext | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._open: dict[threading.Thread, socket.socket] = {}
        self._open_lock = threading.Lock()
        super().__init__(*args, **kwargs)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        thread = threading.current_thread()
        with self._open_lock:
            self._open[thread] = request
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._open_lock:
                self._open.pop(thread, None)

    def secured(self, connection: socket.socket) -> None:
        """Tells that this thread's connection goes on as another socket object: the TLS one."""
        with self._open_lock:
            self._open[threading.current_thread()] = connection

    def end_connections(self, timeout: float) -> None:
        with self._open_lock:
            waiting = dict(self._open)
        for connection in waiting.values():
            # The plain socket's shutdown, also for TLS: it only wakes the connection's thread, which does the rest.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
        for thread in waiting:
            thread.join(timeout / max(len(waiting), 1))

    def handle_error(self, request: Any, client_address: Any) -> None:
        _LOG.debug("connection ended", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _IDLE_SECONDS
    wbufsize = -1
    server: _Server
    connection: Any

    def setup(self) -> None:
        self._raw = self.request
        if self.server.tls is not None:
            self._raw.settimeout(_HANDSHAKE_SECONDS)
            self.request = self.server.tls.wrap_socket(self._raw, server_side=True)
            self.server.secured(self.request)
        super().setup()

    def finish(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            super().finish()
        if self.request is not self._raw:
            with contextlib.suppress(OSError):
                self.request.close()

    def log_message(self, format: str, *args: Any) -> None:
        _LOG.debug(format, *args)

    def version_string(self) -> str:
        return "capm3-testbed"

    def _serve(self) -> None:
        request = self._request()
        if request is None:
            return
        response = self.server.application(request)
        try:
            if response.stream is None:
                self._send(response)
            else:
                self._stream(response)
        finally:
            if response.stream is not None and hasattr(response.stream, "close"):
                response.stream.close()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _serve

    def _request(self) -> HttpRequest | None:
        parts = urllib.parse.urlsplit(self.path)
        try:
            body = self._body()
        except ValueError:
            self._refused(400)
            return None
        if body is None:
            self._refused(413)
            return None
        return HttpRequest(
            method=self.command,
            path=urllib.parse.unquote(parts.path),
            query=query_of(parts.query),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
            connected=self._connected,
        )

    def _refused(self, status: int) -> None:
        """Ends a connection whose next request can't be found any more."""
        self.close_connection = True
        self.send_error(status)

    def _body(self) -> bytes | None:
        """The request's body, ``None`` when it is too large."""
        if "chunked" in (self.headers.get("Transfer-Encoding") or "").lower():
            return self._chunks()
        length = int(self.headers.get("Content-Length") or 0)
        if length < 0:
            raise ValueError(length)
        return self.rfile.read(length) if length <= _BODY_LIMIT else None

    def _chunks(self) -> bytes | None:
        found = b""
        while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
            found += self.rfile.read(size)
            self.rfile.readline()
            if len(found) > _BODY_LIMIT:
                return None
        self.rfile.readline()
        return found

    def _head(self, response: HttpResponse) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", response.content_type)
        for name, value in response.headers.items():
            self.send_header(name, value)
        for warning in response.warnings:
            text = warning.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
            self.send_header("Warning", f'299 - "{text.encode("ascii", "replace").decode()}"')

    def _send(self, response: HttpResponse) -> None:
        self._head(response)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)
        self.wfile.flush()

    def _stream(self, response: HttpResponse) -> None:
        self._head(response)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        for chunk in response.stream or ():
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _connected(self) -> bool:
        """Whether the client still listens. It sends nothing while it watches, so something to read is its farewell."""
        try:
            poll = select.poll()
            poll.register(self.request, select.POLLIN)
            return not poll.poll(0)
        except (OSError, ValueError):
            return False
