"""One HTTP call to an API server: rate limit, credentials, time-outs, metrics, and every failure as an `ApiError`.

Apart from the client, which knows paths and verbs; this knows sockets. A call that the server never answered, one that
was refused and one that found nothing are kept apart here, for all callers.
"""

from __future__ import annotations

import dataclasses
import logging
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol
from urllib.parse import urlencode

import orjson
import urllib3
from capm3_api.model import Raw
from capm3_managers.ports import ApiError

from capm3_controller.kube import answers
from capm3_controller.kube import endpoint as endpoints
from capm3_controller.kube.endpoint import Endpoint
from capm3_controller.kube.ratelimit import UNLIMITED, TokenBucket
from capm3_controller.kube.stream import Stream

log = logging.getLogger(__name__)

_KEEP_ALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 60_000))
_RENEW_PAUSE = 10.0
_BUSY_TRIES = 3


Permit = Callable[[], float]


@dataclasses.dataclass(frozen=True)
class Timeouts:
    """The limits of a connection.

    Args:
        connect: seconds.
        read: seconds without a byte of the answer.
        busy: seconds; the longest ``Retry-After`` of a GET that is waited for.
        kept: how many idle connections are kept.
    """

    connect: float = 5.0
    read: float = 30.0
    busy: float = 0.0
    kept: int = 100


@dataclasses.dataclass(frozen=True)
class Call:
    """One request.

    Args:
        read_timeout: instead of the transport's own.
        permit: asked right before the call is sent, after any waiting for the rate limit; raises when it may not be sent
            any more, and gives the read time-out.
        watch: a stream: never retried, never compressed.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Any = None
    content_type: str = "application/json"
    read_timeout: float | None = None
    permit: Permit | None = dataclasses.field(default=None, repr=False)
    watch: bool = False

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class RequestObserver(Protocol):
    """Counts requests; see `capm3_controller.runtime.metrics`."""

    def request(self, code: str, method: str, host: str) -> None: ...


class Transport:
    """A pool of connections to one API server; thread-safe.

    Args:
        limiter: shared by all calls, watches included, as in client-go.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        user_agent: str,
        limiter: TokenBucket = UNLIMITED,
        timeouts: Timeouts = Timeouts(),
        observer: RequestObserver | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._user_agent = user_agent
        self._limiter = limiter
        self._timeouts = timeouts
        self._observer = observer
        self._sleep = sleep
        self._lock = threading.Lock()
        self._pool: urllib3.ProxyManager | urllib3.HTTPConnectionPool
        self._renewed = -_RENEW_PAUSE
        self._use(endpoint)

    @property
    def endpoint(self) -> Endpoint:
        return self._endpoint

    def request(self, call: Call) -> Raw:
        """Sends the call and reads the whole JSON answer.

        Raises:
            ApiError: any answer but 2xx, or none.
        """
        response = self._send(call)
        try:
            data = response.read(decode_content=True)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise answers.no_answer(str(call), error) from None
        finally:
            response.release_conn()
        return answers.decode(str(call), data)

    def stream(self, call: Call) -> Stream:
        """Sends a call whose answer is a line of JSON after the other."""
        return Stream(str(call), self._send(call))

    def close(self) -> None:
        """Closes every idle connection; those in use close when their call ends."""
        if isinstance(self._pool, urllib3.ProxyManager):
            self._pool.clear()
        else:
            self._pool.close()

    def _send(self, call: Call) -> urllib3.BaseHTTPResponse:
        self._limiter.acquire()
        response = self._try(call)
        if response.status == 401 and self._renew():
            response.drain_conn()
            response = self._try(call)
        for _ in range(_BUSY_TRIES):
            pause = _asked_pause(call, response)
            if not 0 < pause <= self._timeouts.busy:
                break
            response.drain_conn()
            self._sleep(pause)
            response = self._try(call)
        if 200 <= response.status < 300:
            return response
        raise _refusal(call, response)

    def _try(self, call: Call) -> urllib3.BaseHTTPResponse:
        """One attempt; a second one when a GET met a connection that the server had closed meanwhile."""
        attempts = 2 if call.method == "GET" and not call.watch else 1
        while True:
            attempts -= 1
            try:
                response = self._open(call)
                self._count(str(response.status), call.method)
                return response
            except (urllib3.exceptions.HTTPError, OSError) as error:
                self._count("<error>", call.method)
                if attempts <= 0 or not isinstance(error, urllib3.exceptions.ProtocolError):
                    raise answers.no_answer(str(call), error) from None

    def _open(self, call: Call) -> urllib3.BaseHTTPResponse:
        endpoint, pool = self._endpoint, self._pool
        headers = {
            "User-Agent": self._user_agent,
            "Accept": "application/json",
            "Accept-Encoding": "identity" if call.watch else "gzip",
        }
        try:
            authorization = endpoint.authorization()
        except Exception as error:
            raise ApiError(0, "CredentialsFailed", f"{call}: credentials: {type(error).__name__}") from None
        if authorization:
            headers["Authorization"] = authorization
        body = None
        if call.body is not None:
            body = orjson.dumps(call.body)
            headers["Content-Type"] = call.content_type
        read = call.permit() if call.permit is not None else call.read_timeout or self._timeouts.read
        path = call.path + ("?" + urlencode(call.query) if call.query else "")
        return pool.request(
            call.method,
            self._prefix + path,
            body=body,
            headers=headers,
            preload_content=False,
            redirect=False,
            retries=False,
            timeout=urllib3.Timeout(connect=self._timeouts.connect, read=read),
        )

    def _renew(self) -> bool:
        """Loads the credentials again after a 401, at most every few seconds; whether a new try makes sense."""
        renew = self._endpoint.renew
        with self._lock:
            now = time.monotonic()
            if renew is None or now - self._renewed < _RENEW_PAUSE:
                return False
            self._renewed = now
            try:
                self._use(renew())
            except endpoints.EndpointError as error:
                log.warning("Credentials were refused and can't be loaded again: %s", error)
                return False
        return True

    def _use(self, endpoint: Endpoint) -> None:
        options: dict[str, Any] = {"maxsize": self._timeouts.kept, "socket_options": _socket_options()}
        if endpoint.ssl_context is not None:
            options["ssl_context"] = endpoint.ssl_context
            if not endpoint.ssl_context.check_hostname:
                options["cert_reqs"] = "CERT_NONE"
            if endpoint.server_name:
                options["server_hostname"] = endpoint.server_name
                options["assert_hostname"] = endpoint.server_name
        url = urllib3.util.parse_url(endpoint.url)
        self._host = url.netloc or ""
        if endpoint.proxy:
            self._pool = urllib3.ProxyManager(endpoint.proxy, **options)
            self._prefix = endpoint.url
        else:
            # the one pool that there is, asked directly: a manager would look for it anew for every request
            self._pool = urllib3.PoolManager(**options).connection_from_url(endpoint.url)
            self._prefix = url.path or ""
        self._endpoint = endpoint

    def _count(self, code: str, method: str) -> None:
        if self._observer is not None:
            self._observer.request(code, method, self._host)


def _asked_pause(call: Call, response: urllib3.BaseHTTPResponse) -> float:
    """How long a busy server asks to wait; 0 for a write, whose right to be made may end meanwhile."""
    if call.method != "GET" or call.watch or response.status not in (429, 503):
        return 0.0
    value = response.headers.get("Retry-After") or ""
    return float(value) if value.isdigit() else 0.0


def _socket_options() -> list[tuple[int, int, int]]:
    """Lets the kernel notice a peer that is gone without a word."""
    options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in _KEEP_ALIVE:
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


def _refusal(call: Call, response: urllib3.BaseHTTPResponse) -> ApiError:
    status = response.status
    try:
        data = response.read(decode_content=True)
        answer = orjson.loads(data)
    except (urllib3.exceptions.HTTPError, OSError, orjson.JSONDecodeError):
        answer = {}
    finally:
        response.release_conn()
    return answers.refusal(status, answer if isinstance(answer, dict) else {}, str(call))
