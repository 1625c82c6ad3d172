"""The HTTP side of the webhooks: paths, bodies with a limit, deadlines, and an answer whatever happens.

Apart from the reviews, which are pure functions. Work on a review is done in a small pool of threads, so that a list of
500 objects does not hold up the health checks.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import orjson
from capm3_api.model import Raw
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from capm3_webhook import admission, conversion, paths
from capm3_webhook.metrics import Metrics
from capm3_webhook.paths import Webhook
from capm3_webhook.settings import Settings

log = logging.getLogger("capm3_webhook")

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
_CONVERSION_SHARE = 3
"""A list of 500 objects may take that many times the deadline of one review, as it does in the API server."""

_DRAIN_LIMIT = 1024 * 1024 * 1024


class TooLarge(Exception):
    """A body over the limit; it was read to its end so that the client gets its answer."""


class Handlers:
    """The endpoints of one server with what they share: settings, metrics, threads."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.settings = settings
        self.metrics = metrics
        self.idle = asyncio.Event()
        self.idle.set()
        self._active = 0
        self._threads = concurrent.futures.ThreadPoolExecutor(settings.concurrency, thread_name_prefix="review")

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        """Keeps `idle` unset while a request is answered."""
        self._active += 1
        self.idle.clear()
        try:
            yield
        finally:
            self._active -= 1
            if not self._active:
                self.idle.set()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def admission(self, webhook: Webhook) -> Callable[[Request], Any]:
        """The endpoint of one admission webhook."""

        async def endpoint(request: Request) -> Response:
            started = time.perf_counter()
            with self._counted(), self.metrics.in_flight.labels(webhook.path).track_inprogress():
                try:
                    async with asyncio.timeout(self.settings.deadline_seconds):
                        answer = await self._admission(webhook, request)
                except TimeoutError:
                    answer = admission.wrap(
                        admission.denial(504, _late(f"a review of {webhook.kind.kind}", self.settings.deadline_seconds))
                    )
                except ClientDisconnect:
                    answer = admission.wrap(admission.denial(400, "the request ended before its body did"))
            self.metrics.latency.labels(webhook.path).observe(time.perf_counter() - started)
            self.metrics.requests.labels(webhook.path, "200").inc()
            return _json(answer)

        return endpoint

    async def _admission(self, webhook: Webhook, request: Request) -> Raw:
        content_type = request.headers.get("content-type", "")
        try:
            body = await _body(request, self.settings.body_limit)
        except TooLarge:
            text = f"request entity is too large; limit is {self.settings.body_limit} bytes"
            return admission.wrap(admission.denial(413, text))
        if not body:
            return admission.wrap(admission.denial(400, "request body is empty"))
        if content_type.partition(";")[0].strip().lower() != "application/json":
            return admission.wrap(admission.denial(400, f"contentType={content_type}, expected application/json"))
        answer: Raw = await self._in_thread(self._review, webhook, body)
        return answer

    def _review(self, webhook: Webhook, body: bytes) -> Raw:
        """Runs in a thread; a bug here is an answer too."""
        review: Any = None
        try:
            review = orjson.loads(body)
            if not isinstance(review, dict):
                return admission.wrap(admission.denial(400, "the body must be a JSON object of kind AdmissionReview"))
            return admission.answer(webhook, review)
        except orjson.JSONDecodeError as problem:
            return admission.wrap(admission.denial(400, f"couldn't get version/kind; json parse error: {problem.msg}"))
        except Exception as bug:
            self.metrics.panics.inc()
            named = admission.subject(webhook, review)
            _log_bug(f"review of {named}", bug)
            uid = admission.answer_uid(review)
            return admission.wrap(admission.denial(500, f"panic: {type(bug).__name__} in the review of {named}"), uid)

    async def convert(self, request: Request) -> Response:
        """The endpoint of the conversion webhook; the content type is not looked at, as in the Go program."""
        with self._counted():
            code, answer = await self._converted(request)
        return _json(answer, code)

    async def _converted(self, request: Request) -> tuple[int, Raw]:
        seconds = self.settings.deadline_seconds * _CONVERSION_SHARE
        try:
            async with asyncio.timeout(seconds):
                body = await _body(request, self.settings.conversion_body_limit)
                code, answer = await self._in_thread(self._conversion, body)
        except TimeoutError:
            code, answer = 200, conversion.wrap(conversion.failure(_late("the conversion", seconds)))
        except ClientDisconnect:
            code, answer = 400, conversion.wrap(conversion.failure("the request ended before its body did"))
        except TooLarge:
            text = f"request entity is too large; limit is {self.settings.conversion_body_limit} bytes"
            code, answer = 413, conversion.wrap(conversion.failure(text))
        return code, answer

    def _conversion(self, body: bytes) -> tuple[int, Raw]:
        """Runs in a thread; HTTP status and review."""
        try:
            review = orjson.loads(body)
        except orjson.JSONDecodeError as problem:
            return 400, conversion.wrap(conversion.failure(f"json parse error: {problem.msg}"))
        if not isinstance(review, dict) or not isinstance(review.get("request"), dict):
            return 400, conversion.wrap(conversion.failure("the body must be a ConversionReview with a request"))
        try:
            return 200, conversion.answer(review, self._conversion_bug)
        except Exception as bug:
            self._conversion_bug("a whole review", bug)
            failed = conversion.failure(f"internal error occurred during conversion ({type(bug).__name__})")
            return 200, conversion.wrap(failed, admission.answer_uid(review))

    def _conversion_bug(self, named: str, bug: BaseException) -> None:
        self.metrics.conversion_panics.inc()
        _log_bug(f"conversion of {named}", bug)

    async def _in_thread(self, work: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)


def build(settings: Settings, metrics: Metrics | None = None) -> Starlette:
    """The webhook application: every admission path and ``/convert``; all else is 404 in plain text."""
    handlers = Handlers(settings, metrics or Metrics())
    routes = [Route(hook.path, handlers.admission(hook), methods=_METHODS) for hook in paths.ALL]
    routes.append(Route(paths.CONVERT, handlers.convert, methods=_METHODS))
    app = Starlette(routes=routes, exception_handlers={404: _not_found})
    app.state.handlers = handlers
    return app


def _late(what: str, seconds: float) -> str:
    return f"{what} was not finished within {seconds:g} s; try again"


async def _not_found(_request: Request, _error: Exception) -> Response:
    return PlainTextResponse("404 page not found\n", 404)


def _json(answer: Raw, code: int = 200) -> Response:
    return Response(orjson.dumps(answer), code, media_type="application/json")


async def _body(request: Request, limit: int) -> bytes:
    """The body; one over the limit is read to its end but not kept."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            parts.clear()
            if size > _DRAIN_LIMIT:
                break
        else:
            parts.append(part)
    if size > limit:
        raise TooLarge
    return b"".join(parts)


def _log_bug(what: str, bug: BaseException) -> None:
    """Type and places of the exception; not its text, which may hold values of the object."""
    places = "".join(traceback.format_tb(bug.__traceback__)[-8:])
    log.error("bug in the %s: %s\n%s", what, type(bug).__name__, places)
