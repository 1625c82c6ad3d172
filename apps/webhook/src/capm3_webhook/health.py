"""/healthz, /readyz and /metrics over plain HTTP, on a port of their own as in the Go program.

Apart from the webhooks: probes must work when TLS does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from capm3_webhook.metrics import Metrics

Check = Callable[[], str]
"""The reason why something is not well; ``""`` when it is."""


def build(live: Mapping[str, Check], ready: Mapping[str, Check], metrics: Metrics) -> Starlette:
    """The application; the checks are called on each request."""

    async def metrics_text(_request: Request) -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    routes = [
        Route("/healthz", _endpoint("healthz", live)),
        Route("/readyz", _endpoint("readyz", ready)),
        Route("/metrics", metrics_text),
    ]
    return Starlette(routes=routes)


def _endpoint(name: str, checks: Mapping[str, Check]) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        found = {check: run() for check, run in checks.items()}
        lines = [f"[-]{check} failed: {why}" if why else f"[+]{check} ok" for check, why in found.items()]
        if any(found.values()):
            return PlainTextResponse("\n".join([*lines, f"{name} check failed", ""]), 500)
        shown = "\n".join([*lines, f"{name} check passed", ""]) if "verbose" in request.query_params else "ok"
        return PlainTextResponse(shown)

    return endpoint
