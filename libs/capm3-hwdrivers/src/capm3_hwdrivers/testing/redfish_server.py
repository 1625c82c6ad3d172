"""A small conformant Redfish server on a loopback port, in this process, with faults of the line.

Apart from `emulator`, because sushy-tools can't be told to hang, reset connections or answer 503, has no sessions and
no ETags, and can't play the vendors' deviations of `redfish_machine.Profile`.
"""

from __future__ import annotations

import base64
import dataclasses
import http.server
import json
import re
import socket
import ssl
import struct
import threading
import types
from typing import Any, Self

from capm3_hwdrivers.testing.redfish_hardware import SYSTEM, Body
from capm3_hwdrivers.testing.redfish_machine import SESSIONS, Machine, Profile, Refused

_TOKEN = "test-token"


@dataclasses.dataclass(frozen=True)
class Fault:
    """Something that goes wrong with the next matching requests.

    Args:
        kind: ``hang`` (no answer), ``trickle`` (a byte now and then), ``rst`` (the connection breaks before anything is
            done), ``rst-after`` (after it is done), ``answer`` (another answer, nothing is done), ``answer-after``.
        path: a pattern found in the path.
        after_post: only once something was posted.
    """

    kind: str
    method: str = ""
    path: str = ""
    times: int = 1
    status: int = 503
    code: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    after_post: bool = False


class RedfishServer:
    """Use it with ``with``.

    Attributes:
        machine: the server behind it.
        requests: (method, path) of every request, oldest first.
    """

    def __init__(
        self,
        profile: Profile | None = None,
        faults: tuple[Fault, ...] = (),
        *,
        username: str = "admin",
        password: str = "password",
        certificate: str = "",
    ) -> None:
        self.profile = profile or Profile()
        self.machine = Machine(self.profile)
        self.requests: list[tuple[str, str]] = []
        self.logins = 0
        self.sessions: set[str] = set()
        self.posted = False
        self.stopping = threading.Event()
        self._faults = list(faults)
        self._left = [fault.times for fault in faults]
        self._login = (username, password)
        self._lock = threading.RLock()
        handler = type("Handler", (_Handler,), {"peer": self})
        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._tls = bool(certificate)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._http.server_address[1]}"

    @property
    def address(self) -> str:
        return f"redfish-virtualmedia+{self.url}{SYSTEM}"

    def set_password(self, password: str) -> None:
        """Another password; open sessions end."""
        self._login = (self._login[0], password)
        self.sessions.clear()

    def fault(self, method: str, path: str) -> Fault | None:
        """The fault this request meets, used up once."""
        with self._lock:
            for index, fault in enumerate(self._faults):
                fits = fault.method in ("", method) and re.search(fault.path, path)
                if fits and self._left[index] and (self.posted or not fault.after_post):
                    self._left[index] -= 1
                    return fault
        return None

    def serve(self, method: str, path: str, body: Any, headers: Any) -> tuple[int, Body, dict[str, str]]:
        """Status, body and headers of the answer."""
        with self._lock:
            try:
                return self._serve(method, path, body, headers)
            except Refused as refused:
                return refused.status, refused.body, {}

    def _serve(self, method: str, path: str, body: Any, headers: Any) -> tuple[int, Body, dict[str, str]]:
        if path.rstrip("/") == "/redfish/v1":
            return 200, self.machine.get(path), {}
        if path == SESSIONS and method == "POST":
            return self._open(body)
        self._authorise(headers)
        if method == "DELETE" and path.startswith(SESSIONS):
            self.sessions.discard(headers.get("X-Auth-Token"))
            return 204, {}, {}
        if method == "GET":
            tags = {} if self.profile.etag is None or path.rstrip("/") != SYSTEM else {"ETag": self.profile.etag}
            return 200, self.machine.get(path), tags
        self.posted = True
        if method == "POST":
            return 200, self.machine.post(path, body), {}
        return 200, self.machine.patch(path, body or {}, headers.get("If-Match")), {}

    def _open(self, body: Any) -> tuple[int, Body, dict[str, str]]:
        if not self.profile.sessions:
            raise Refused(404)
        self.logins += 1
        if (body.get("UserName"), body.get("Password")) != self._login:
            raise Refused(401, "Base.1.12.InsufficientPrivilege")
        token = f"{_TOKEN}-{self.logins}"
        self.sessions.add(token)
        return 201, {"Id": "1"}, {"X-Auth-Token": token, "Location": f"{SESSIONS}/{self.logins}"}

    def _authorise(self, headers: Any) -> None:
        if headers.get("X-Auth-Token") in self.sessions:
            return
        given = headers.get("Authorization") or ""
        if given.startswith("Basic "):
            self.logins += 1
            wanted = base64.b64encode(":".join(self._login).encode()).decode()
            if self.profile.basic and given == f"Basic {wanted}":
                return
        raise Refused(401, "Base.1.12.NoValidSession")


class _Handler(http.server.BaseHTTPRequestHandler):
    peer: RedfishServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._handle("GET")

    def do_POST(self) -> None:
        self._handle("POST")

    def do_PATCH(self) -> None:
        self._handle("PATCH")

    def do_DELETE(self) -> None:
        self._handle("DELETE")

    def log_message(self, format: str, *args: Any) -> None:
        return

    def _handle(self, method: str) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        data = self.rfile.read(length)
        body = json.loads(data) if data else None
        self.peer.requests.append((method, self.path))
        fault = self.peer.fault(method, self.path)
        if fault is not None and fault.kind in ("hang", "trickle", "rst", "answer"):
            self._suffer(fault)
            return
        status, answer, headers = self.peer.serve(method, self.path, body, self.headers)
        if fault is not None:
            self._suffer(fault)
            return
        self._answer(status, json.dumps(answer), headers)

    def _suffer(self, fault: Fault) -> None:
        self.close_connection = True
        if fault.kind == "hang":
            self.peer.stopping.wait()
        elif fault.kind == "trickle":
            self._trickle()
        elif fault.kind.startswith("rst"):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        else:
            body = fault.body if fault.body is not None else json.dumps(Refused(fault.status, fault.code).body)
            self._answer(fault.status, body, dict(fault.headers))

    def _trickle(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        while not self.peer.stopping.wait(0.1):
            try:
                self.wfile.write(b" ")
                self.wfile.flush()
            except OSError:
                return

    def _answer(self, status: int, body: str, headers: dict[str, str]) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
