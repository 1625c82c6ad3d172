"""The HTTP session under sushy's connector: every request within the deadline, repeated only where that is safe.

sushy repeats any request after a connection error, actions too. A power action whose answer got lost must not be
repeated blindly, so the repeating is done here for reads only; the drivers repeat actions after reading the state again.
It also takes care that nothing of the environment (proxies, netrc, CA variables) changes how a BMC is spoken to, that
redirects keep the method and never leave the BMC, and that answers are bounded.
"""

from __future__ import annotations

import json
import time
import urllib.parse
from typing import Any

import requests
import requests.adapters
import urllib3
from urllib3 import exceptions as pool

from capm3_hwdrivers import errors
from capm3_hwdrivers.deadline import Clock, Deadline, Limits
from capm3_hwdrivers.redfish import quirks

MAX_BODY = 16 * 1024 * 1024
_REDIRECTS = 5
_CONNECTION_TRIES = 4
_DEFAULT_PAUSE = 0.5
_LONGEST_PAUSE = 10.0


class Stopped(requests.RequestException):
    """Ends a request with a driver's error. Not one of the exceptions after which sushy repeats by itself."""

    def __init__(self, failure: errors.DriverError) -> None:
        super().__init__(failure.message)
        self.failure = failure


class _Fresh:
    """A pool whose connections serve one request: many BMCs close them after that without saying so, and a request on
    a closed one looks like a lost answer. (What is kept is the TLS set-up.)
    """

    def _put_conn(self, conn: Any) -> None:
        if conn is not None:
            conn.close()
        super()._put_conn(conn)  # type: ignore[misc]


class _HttpPool(_Fresh, urllib3.HTTPConnectionPool):
    pass


class _HttpsPool(_Fresh, urllib3.HTTPSConnectionPool):
    pass


class _Adapter(requests.adapters.HTTPAdapter):
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}


class Session(requests.Session):
    """Args:
    base: the BMC's base URL; requests elsewhere are refused, for they would carry its credentials.
    """

    def __init__(self, base: str, limits: Limits, clock: Clock | None = None) -> None:
        super().__init__()
        self.trust_env = False
        for scheme in ("http://", "https://"):
            self.mount(scheme, _Adapter())
        self._base = urllib.parse.urlsplit(base)
        self._limits = limits
        self._clock = clock or Clock()
        self.deadline = Deadline.after(limits.total, self._clock)
        self.retry_after: float | None = None

    def request(self, method: Any, url: Any, *args: Any, **kwargs: Any) -> requests.Response:
        """One request as sushy asks for it; reads are repeated while the BMC is busy or the connection breaks."""
        tries = 0
        while True:
            tries += 1
            try:
                response = self._follow(str(method), str(url), kwargs)
            except errors.DriverError as failure:
                if not (self._may_repeat(method, failure) and tries < _CONNECTION_TRIES and self._wait(None, tries)):
                    raise Stopped(failure) from failure
                continue
            self.retry_after = quirks.retry_after(response.headers.get("Retry-After"), time.time())
            why = quirks.busy(response.status_code, _json(response))
            if not (why and method == "GET" and self._wait(self.retry_after, tries)):
                return _normal(response)

    def _may_repeat(self, method: str, failure: errors.DriverError) -> bool:
        """A broken or refused connection is tried again; one that timed out took long enough already."""
        timed_out = isinstance(failure.__cause__, requests.exceptions.ConnectTimeout)
        return method == "GET" and isinstance(failure, errors.Unreachable) and not timed_out

    def _wait(self, wished: float | None, tries: int) -> bool:
        seconds = wished if wished is not None else min(_DEFAULT_PAUSE * 2 ** (tries - 1), _LONGEST_PAUSE)
        return self.deadline.pause(max(seconds, 0.05))

    def _follow(self, method: str, url: str, kwargs: dict[str, Any]) -> requests.Response:
        for _ in range(_REDIRECTS):
            response = self._once(method, url, kwargs)
            target = response.headers.get("Location", "")
            keeps = response.status_code in (307, 308) or (method == "GET" and response.status_code in (301, 302))
            if not (keeps and target):
                return response
            url = urllib.parse.urljoin(url, target)
        raise errors.Failed(f"{method} {url}: more than {_REDIRECTS} redirects", transient=False)

    def _once(self, method: str, url: str, kwargs: dict[str, Any]) -> requests.Response:
        self._check_origin(method, url)
        what = f"{method} {url}"
        limits = (self.deadline.limit(self._limits.connect, what), self.deadline.limit(self._limits.read, what))
        wanted = {**kwargs, "timeout": limits, "allow_redirects": False, "stream": True}
        try:
            response = super().request(method, url, **wanted)
            self._read(response, what)
        except (requests.RequestException, pool.HTTPError, OSError) as error:
            raise _failure(error, what) from error
        return response

    def _check_origin(self, method: str, url: str) -> None:
        there = urllib.parse.urlsplit(url)
        same_host = there.hostname == self._base.hostname
        upgraded = self._base.scheme == "http" and there.scheme == "https"
        if not (same_host and (upgraded or (there.netloc == self._base.netloc and there.scheme == self._base.scheme))):
            raise errors.Failed(
                f"{method} {url}: the BMC at {self._base.geturl()} points elsewhere; not followed, since the request"
                " would carry its credentials",
                transient=False,
            )

    def _read(self, response: requests.Response, what: str) -> None:
        """The whole body, piece by piece, so that a trickle can't outlast the deadline."""
        pieces: list[bytes] = []
        size = 0
        while piece := response.raw.read1(65536, decode_content=True):
            pieces.append(piece)
            size += len(piece)
            if size > MAX_BODY:
                response.close()
                raise errors.Failed(
                    f"{what}: the answer is larger than {MAX_BODY // 1024 // 1024} MiB", transient=False
                )
            self.deadline.limit(1.0, what)
        response._content = b"".join(pieces)
        response._content_consumed = True  # type: ignore[attr-defined]
        response.close()


def _failure(error: Exception, what: str) -> errors.DriverError:
    """A connection's exception as a driver's error; the order matters, since requests' classes overlap."""
    text = _brief(error)
    if isinstance(error, requests.exceptions.SSLError) or "CERTIFICATE_VERIFY_FAILED" in str(error):
        if "CERTIFICATE_VERIFY_FAILED" in str(error) or "doesn't match" in str(error):
            return errors.TlsVerificationFailed(
                f"{what}: the BMC's certificate is not trusted ({text}); give its CA, renew the certificate,"
                " or set disableCertificateVerification"
            )
        return errors.Unreachable(f"{what}: no TLS connection ({text})")
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return errors.Unreachable(f"{what}: no connection in time; is the address right and the BMC on the network?")
    if isinstance(error, (requests.exceptions.Timeout, pool.ReadTimeoutError, TimeoutError)):
        return errors.Timeout(f"{what}: connected, but no answer in time; the BMC may hang")
    if "Read timed out" in str(error):
        return errors.Timeout(f"{what}: connected, but no answer in time; the BMC may hang")
    if isinstance(error, requests.exceptions.ConnectionError | pool.ProtocolError | OSError):
        return errors.Unreachable(f"{what}: {text}")
    return errors.Failed(f"{what}: {text}")


def _brief(error: BaseException) -> str:
    """The innermost reason of a chain of wrapped exceptions."""
    here: BaseException = error
    for _ in range(8):
        inner = getattr(here, "reason", None) or here.__cause__ or (here.args[0] if here.args else None)
        if not isinstance(inner, BaseException):
            break
        here = inner
    return str(here).partition(" (_ssl.c")[0] or type(here).__name__


def _json(response: requests.Response) -> Any:
    try:
        return json.loads(response.content or b"null")
    except ValueError:
        return None


def _normal(response: requests.Response) -> requests.Response:
    """An error answer whose body sushy can read: some BMCs send a list, a text or HTML."""
    if response.status_code >= 400:
        found = quirks.messages(_json(response))
        extended = [{"MessageId": one.id, "Message": one.text, "MessageArgs": list(one.arguments)} for one in found]
        error = {"code": found[0].id if found else "", "message": found[0].text if found else response.reason or ""}
        response._content = json.dumps({"error": {**error, "@Message.ExtendedInfo": extended}}).encode()
    return response
