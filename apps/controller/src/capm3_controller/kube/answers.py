"""What an answer, or the lack of one, means: JSON of a success, an `ApiError` of everything else.

Apart from the transport, because it is judged without a socket, and because an ``ERROR`` event inside a watch is read by
the same rule as an HTTP status.
"""

from __future__ import annotations

import orjson
import urllib3
from capm3_api.model import Raw
from capm3_managers.ports import ApiError

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    503: "ServiceUnavailable",
    504: "Timeout",
}


def decode(what: str, data: bytes) -> Raw:
    try:
        answer = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise ApiError(0, "BadAnswer", f"{what}: the answer is not JSON") from None
    if not isinstance(answer, dict):
        raise ApiError(0, "BadAnswer", f"{what}: the answer is not a JSON object")
    return answer


def refusal(status: int, answer: Raw, what: str) -> ApiError:
    """The error of a ``Status`` object; what it leaves out follows from the HTTP status."""
    fallback = _REASONS.get(status, "InternalError" if status >= 500 else f"HTTP{status}")
    reason = str(answer.get("reason") or fallback)
    message = str(answer.get("message") or f"the server answered {status}")
    return ApiError(status, reason, f"{what}: {message}")


def no_answer(what: str, error: Exception) -> ApiError:
    if isinstance(error, urllib3.exceptions.SSLError):
        return ApiError(0, "TlsFailed", f"{what}: {_text(error)}")
    if isinstance(error, urllib3.exceptions.TimeoutError) and not isinstance(
        error, urllib3.exceptions.NewConnectionError
    ):
        kind = "connect" if isinstance(error, urllib3.exceptions.ConnectTimeoutError) else "answer"
        return ApiError(0, "Timeout", f"{what}: no {kind} in time")
    return ApiError(0, "ConnectionFailed", f"{what}: {_text(error)}")


def _text(error: BaseException) -> str:
    """The innermost cause in one line: urllib3 wraps, and its wrappers print pool objects."""
    seen: BaseException = error
    for _ in range(5):
        inner = getattr(seen, "original_error", None) or seen.__cause__ or seen.__context__
        inner = inner or next((arg for arg in seen.args if isinstance(arg, BaseException)), None)
        if inner is None or inner is seen:
            break
        seen = inner
    text = str(seen) or type(seen).__name__
    return text if len(text) < 200 else text[:200]
