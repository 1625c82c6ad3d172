"""Runs the webhook and health applications on uvicorn, in a program of its own or in a thread of another.

Apart from the applications: here are sockets, certificate reload, readiness and an orderly stop.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Iterator

import uvicorn

from capm3_webhook import app, health, selfcall
from capm3_webhook.metrics import Metrics
from capm3_webhook.settings import Settings, SettingsError, split_address
from capm3_webhook.tls import Certificates

log = logging.getLogger("capm3_webhook")

_RETRY_SECONDS = 0.2
_FLUSH_SECONDS = 0.05


class _Uvicorn(uvicorn.Server):
    """uvicorn without its signal handlers: the program that runs it has its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Server:
    """One webhook server.

    Raises:
        SettingsError: when the certificates or an address can't be used; nothing is left open.
    """

    def __init__(self, settings: Settings, metrics: Metrics | None = None) -> None:
        self.settings = settings
        self.metrics = metrics or Metrics()
        self._not_ready = "the webhook server has not started"
        self.ready = threading.Event()
        self.certificates = Certificates(settings, self.metrics)
        self._app = app.build(settings, self.metrics)
        self._sockets = [_listen(settings.host, settings.port, "--webhook-port")]
        try:
            if settings.health_address:
                host, port = split_address(settings.health_address, "--health-addr")
                self._sockets.append(_listen(host, port, "--health-addr"))
        except SettingsError:
            self._sockets[0].close()
            raise

    @property
    def port(self) -> int:
        return int(self._sockets[0].getsockname()[1])

    @property
    def health_port(self) -> int:
        """Port of the health checks; 0 when they are off."""
        return int(self._sockets[1].getsockname()[1]) if len(self._sockets) > 1 else 0

    def not_ready(self) -> str:
        """Why the server can't answer reviews yet; ``""`` when a self-call over TLS has passed."""
        return self._not_ready

    async def run(self, stop: asyncio.Event) -> None:
        """Serves until `stop` is set, then lets requests under way end."""
        webhook = _Uvicorn(self._config(self._app, tls=True))
        servers = [webhook]
        if self.health_port:
            live, ready = {"webhook": lambda: ""}, {"webhook": self.not_ready}
            servers.append(_Uvicorn(self._config(health.build(live, ready, self.metrics), tls=False)))
        serving = [
            asyncio.create_task(server.serve(sockets=[listener]))
            for server, listener in zip(servers, self._sockets, strict=True)
        ]
        helpers = [asyncio.create_task(self._become_ready()), asyncio.create_task(self._watch_certificates())]
        try:
            await asyncio.wait([asyncio.create_task(stop.wait()), *serving], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._not_ready = "the webhook server is stopping"
            for task in helpers:
                task.cancel()
            for server in servers:
                server.should_exit = True
            await self._drain()
            for server in servers:
                server.force_exit = True
            await asyncio.gather(*serving, *helpers, return_exceptions=True)
            self._app.state.handlers.close()

    async def _drain(self) -> None:
        """Waits for the reviews under way; connections that are only kept open are not waited for."""
        handlers: app.Handlers = self._app.state.handlers
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.settings.drain_seconds):
                await handlers.idle.wait()
        # One turn of the loop for each answer to leave its buffer.
        await asyncio.sleep(_FLUSH_SECONDS)

    def _config(self, application: object, *, tls: bool) -> uvicorn.Config:
        factory = (lambda _config, _default: self.certificates.context) if tls else None
        return uvicorn.Config(
            application,  # type: ignore[arg-type]
            ssl_context_factory=factory,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=90,
            timeout_graceful_shutdown=max(1, round(self.settings.drain_seconds)),
        )

    async def _become_ready(self) -> None:
        while True:
            problem = await selfcall.check(self.port)
            if not problem:
                self._not_ready = ""
                self.ready.set()
                log.info("webhooks are ready", extra={"port": self.port})
                return
            self._not_ready = problem
            await asyncio.sleep(_RETRY_SECONDS)

    async def _watch_certificates(self) -> None:
        while True:
            await asyncio.sleep(self.settings.reload_seconds)
            problem = self.certificates.reload()
            if problem:
                log.error("kept the old certificate: %s", problem)


def _listen(host: str, port: int, flag: str) -> socket.socket:
    """A listening socket on one address or on every one, both IP families where there are two."""
    every = not host
    family = socket.AF_INET6 if (every and socket.has_dualstack_ipv6()) or ":" in host else socket.AF_INET
    dual = every and family == socket.AF_INET6
    try:
        made = socket.create_server((host, port), family=family, dualstack_ipv6=dual, backlog=1024)
    except OSError as problem:
        raise SettingsError(f"{flag}: cannot listen on {host or '*'}:{port}: {problem.strerror}") from problem
    # asyncio leaves Nagle's algorithm on for sockets made like this one, which costs 40 ms a request; accepted
    # connections inherit the option.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


class Running:
    """A server in a thread of its own."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._main, name="webhooks", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def url(self) -> str:
        """Base URL for a webhook configuration on this machine."""
        return f"https://127.0.0.1:{self.server.port}"

    def not_ready(self) -> str:
        """Why it can't answer yet; ``""`` when it can."""
        if not self._thread.is_alive():
            return "the webhook server has ended"
        return self.server.not_ready()

    def wait_ready(self, seconds: float) -> bool:
        """Waits for the self-call; whether it passed in time."""
        return self.server.ready.wait(seconds)

    def stop(self, seconds: float = 10.0) -> None:
        """Ends the server and waits for it."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(seconds)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self.server.run(self._stop))
        finally:
            self._loop.close()


def serve(settings: Settings, metrics: Metrics | None = None) -> Running:
    """Starts a server in a thread; `Running.stop` ends it.

    Raises:
        SettingsError: when the certificates or an address can't be used.
    """
    return Running(Server(settings, metrics))
