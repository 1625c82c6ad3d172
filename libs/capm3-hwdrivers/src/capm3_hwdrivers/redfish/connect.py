"""Speaks to one BMC's Redfish service: JSON in, JSON out, with this library's errors.

sushy's connector and authentication do the protocol (sessions, ETags, encodings); around them stand the deadline, the
checks on what a body must be, and the translation of sushy's exceptions.
"""

from __future__ import annotations

import re
from typing import Any

import sushy.auth
import sushy.connector
import sushy.exceptions

from capm3_hwdrivers import errors
from capm3_hwdrivers.address import Address
from capm3_hwdrivers.deadline import Clock, Deadline, Limits
from capm3_hwdrivers.model import Access
from capm3_hwdrivers.redfish import quirks
from capm3_hwdrivers.redfish.session import Session, Stopped

Body = dict[str, Any]
ROOT = "/redfish/v1/"


class Auth(sushy.auth.SessionOrBasicAuth):  # type: ignore[misc]
    """A session where the service offers them, else basic authentication.

    sushy's own tries basic after a refused session too; a wrong password would then count twice, and BMCs lock accounts.
    """

    def __init__(self, username: str, password: str) -> None:
        super().__init__(username, password)
        # Bytes, since requests would encode text as Latin-1 and fail on other letters.
        self.basic_auth = sushy.auth.BasicAuth(username.encode(), password.encode())

    def _do_authenticate(self) -> None:
        if not self._root_resource.sessions:
            self._fallback_to_basic_authentication()
            return
        try:
            sushy.auth.SessionAuth._do_authenticate(self)
        except (sushy.exceptions.AccessError, sushy.exceptions.ConnectionError):
            raise
        except sushy.exceptions.SushyError:
            self._fallback_to_basic_authentication()


class Root:
    """The service root, as sushy's authentication wants it."""

    def __init__(self, body: Body, connector: Any) -> None:
        self._connector = connector
        self.systems = quirks.link(body, "Systems") or f"{ROOT}Systems"
        self.managers = quirks.link(body, "Managers")
        self.sessions = quirks.link(body, "Links", "Sessions")

    def create_session(self, username: str, password: str) -> tuple[str, str]:
        """The token and the session's path."""
        self._connector._session.auth = None
        self._connector._session.headers.pop("X-Auth-Token", None)
        self._connector._sessions_uri = self.sessions
        answer = self._connector.post(self.sessions, data={"UserName": username, "Password": password})
        token = answer.headers.get("X-Auth-Token")
        if not token:
            raise sushy.exceptions.MissingXAuthToken(method="POST", url=self.sessions, response=answer)
        return token, answer.headers.get("Location") or ""


class Client:
    """One BMC. Not for several threads at once.

    Attributes:
        acted: something was changed since; a resource may be missing for a moment after that.
    memory: paths that were found once, by what they are for; check them before use.
    """

    def __init__(self, address: Address, access: Access, limits: Limits, clock: Clock | None = None) -> None:
        self.address = address
        self.acted = False
        self._access = access
        self._limits = limits
        self._clock = clock or Clock()
        verify: bool | str = access.verify_certificate
        if verify and access.ca_file:
            verify = access.ca_file
        self._connector = sushy.connector.Connector(address.base, verify=verify)
        self._session = Session(address.base, limits, self._clock)
        self._session.headers["Connection"] = "close"
        self._connector._session = self._session
        self._auth: Auth | None = None
        self._root: Root | None = None
        self._seen: set[str] = set()
        self._etags: dict[str, str] = {}
        self.memory: dict[str, str] = {}

    @property
    def deadline(self) -> Deadline:
        return self._session.deadline

    def begin(self) -> None:
        """Starts the time budget of an operation."""
        self._session.deadline = Deadline.after(self._limits.total, self._clock)

    @property
    def root(self) -> Root:
        """The service root; connects and logs in at first use."""
        if self._root is None:
            body = self._call("GET", ROOT)
            root = Root(body, self._connector)
            auth = Auth(self._access.username, self._access.password.get_secret_value())
            auth.set_context(root, self._connector)
            self._translated(auth.authenticate, f"POST {root.sessions or ROOT}")
            self._auth, self._root = auth, root
        return self._root

    def close(self) -> None:
        """Gives the session back; a BMC has few. Never raises."""
        if self._auth is not None:
            self._session.deadline = Deadline.after(min(5.0, self._limits.total), self._clock)
            try:
                self._auth.close()
            except (sushy.exceptions.SushyError, errors.DriverError):
                pass
        self._connector.close()
        self._auth = self._root = None

    def get(self, path: str) -> Body:
        """A resource. One that was seen before and is gone right after a change is asked for again."""
        _ = self.root
        while True:
            try:
                body = self._call("GET", path)
                self._seen.add(path)
                return body
            except errors.Failed as failure:
                again = failure.status == 404 and self.acted and path in self._seen
                self._seen.discard(path)
                if not (again and self.deadline.pause(1.0)):
                    raise

    def find(self, path: str) -> Body | None:
        """A resource, ``None`` when the BMC does not have or not serve it."""
        try:
            return self.get(path)
        except errors.NotSupported:
            return None
        except errors.Failed as failure:
            if failure.status in (404, 405, 501):
                return None
            raise

    def post(self, path: str, body: Body) -> Body:
        """An action. Never repeated here: read the state again before asking twice."""
        _ = self.root
        return self._change("POST", path, body)

    def patch(self, path: str, body: Body, etag: str = "") -> Body:
        """A change of properties, with the entity tag where the resource has one."""
        _ = self.root
        try:
            return self._change("PATCH", path, body, etag=etag)
        except errors.Failed as failure:
            if failure.status != 428:
                raise
            self._etags.pop(path, None)
            return self._change("PATCH", path, body, etag=self.etag(path))

    def etag(self, path: str) -> str:
        """The entity tag of a resource as last read: exactly as in the header, else as in the body, ``""`` for none."""
        if path not in self._etags:
            self.get(path)
        return self._etags[path]

    def _change(self, method: str, path: str, body: Body, etag: str = "") -> Body:
        self._etags.clear()
        answer = self._call(method, path, body, etag=etag)
        self.acted = True
        return answer

    def _call(self, method: str, path: str, body: Body | None = None, etag: str = "") -> Body:
        call = getattr(self._connector, method.lower())
        extra: dict[str, Any] = {"etag": etag} if method == "PATCH" and etag else {}
        answer = self._translated(lambda: call(path, data=body, **extra), f"{method} {self.address.base}{path}")
        found = _body(answer)
        if method == "GET":
            self._etags[path] = str(answer.headers.get("ETag") or found.get("@odata.etag") or "")
        elif quirks.error_only_in_messages(found):
            raise _failed(
                f"{method} {self.address.base}{path}", answer.status_code, self._clean(quirks.messages(found))
            )
        return found

    def _translated(self, call: Any, what: str) -> Any:
        try:
            return call()
        except sushy.exceptions.SushyError as error:
            raise self._translate(error, what) from None

    def _translate(self, error: Any, what: str) -> errors.DriverError:
        if isinstance(error, sushy.exceptions.ConnectionError):
            cause = error.__context__
            return cause.failure if isinstance(cause, Stopped) else errors.Unreachable(f"{what}: {error}")
        status = int(getattr(error, "status_code", 0) or 0)
        body = {"error": getattr(error, "body", None) or {}}
        why = quirks.busy(status, body)
        if why:
            return errors.Busy(f"{what}: {why}; will be tried again", retry_after=self._session.retry_after)
        if isinstance(error, sushy.exceptions.AccessError):
            return _refused(what, status, self._access.username)
        return _failed(what, status, self._clean(quirks.messages(body)))

    def _clean(self, found: tuple[quirks.Message, ...]) -> tuple[quirks.Message, ...]:
        """Messages without the password, which some BMCs repeat."""
        secret = self._access.password.get_secret_value()
        if not secret:
            return found
        return tuple(
            quirks.Message(
                one.id, one.text.replace(secret, "***"), tuple(item.replace(secret, "***") for item in one.arguments)
            )
            for one in found
        )


def _refused(what: str, status: int, username: str) -> errors.CredentialsRefused:
    if status == 403:
        return errors.CredentialsRefused(
            f"{what}: the BMC knows user {username!r} but denies it this (403); give the account the right, or another account"
        )
    return errors.CredentialsRefused(
        f"{what}: the BMC refuses user {username!r} ({status}); correct the Secret, or unlock the account on the BMC"
    )


def _failed(what: str, status: int, found: tuple[quirks.Message, ...]) -> errors.DriverError:
    text = "; ".join(
        dict.fromkeys(re.sub(r"\s+", " ", one.text).strip() or one.id for one in found if one.text or one.id)
    )
    if status in (405, 501):
        return errors.NotSupported(f"{what}: the BMC does not support this ({status}) {text}".rstrip())
    codes = tuple(one.id for one in found if one.id)
    arguments = tuple(item for one in found for item in one.arguments)
    return errors.Failed(
        f"{what}: the BMC answered {status} {text}".rstrip()[:1000],
        status=status,
        codes=codes,
        arguments=arguments,
        transient=status >= 500 or status in (0, 404, 408, 409, 412),
    )


def _body(answer: Any) -> Body:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
