"""Faults that a test injects into `World`: refusals, lost answers, exceptions of the transport.

Apart from the server, so that its own logic stays free of test switches but for two calls.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable

from capm3_api.meta import Key, Kind

from capm3_managers.ports import ApiError

_REASONS = {
    0: "Unreachable",
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}

FOREVER = -1


@dataclasses.dataclass
class Fault:
    """Args:
    verb: ``get``, ``list``, ``create``, ``update``, ``patch``, ``delete`` or ``*``.
    plural: the resource, ``*`` for all.
    status: HTTP status of the refusal; 0 is "no answer".
    exception: raised instead of an `ApiError` of that status.
    times: how many requests it hits; `FOREVER` for all.
    name: only the object of this name.
    after: the request is carried out, and only its answer is lost.
    when: hits a request only when this says so (a seeded random draw, say).
    """

    verb: str
    plural: str
    status: int = 500
    exception: BaseException | None = None
    times: int = 1
    name: str | None = None
    after: bool = False
    when: Callable[[], bool] | None = None
    reason: str = ""

    def matches(self, verb: str, kind: Kind, key: Key) -> bool:
        """Whether it is meant for this request; asks `when` last, so that a draw is made only for requests it is for."""
        if self.times == 0 or self.verb not in ("*", verb) or self.plural not in ("*", kind.plural):
            return False
        if self.name is not None and self.name != key.name:
            return False
        return self.when is None or self.when()

    def error(self) -> BaseException:
        if self.exception is not None:
            return self.exception
        reason = self.reason or _REASONS.get(self.status, "InternalError")
        return ApiError(self.status, reason, "fault injected by the test")


class Faults:
    """The faults waiting to happen, first injected first."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> None:
        with self._lock:
            self._waiting.append(fault)

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()

    def strike(self, verb: str, kind: Kind, key: Key, *, after: bool = False) -> None:
        """Raises what the first matching fault says."""
        with self._lock:
            found = next((f for f in self._waiting if f.after is after and f.matches(verb, kind, key)), None)
            if found is None:
                return
            if found.times > 0:
                found.times -= 1
            if found.times == 0:
                self._waiting.remove(found)
        raise found.error()
