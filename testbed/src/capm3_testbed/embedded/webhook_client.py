"""Calls a webhook as the API server does: HTTPS with the bundle's CA only, a deadline, a JSON review there and back.

Apart from admission and conversion, which mean different things by a failure but call in the same way.
"""

from __future__ import annotations

import base64
import dataclasses
import ssl
import threading
import urllib.parse

import orjson
import urllib3
from capm3_api.model import Raw

Services = dict[tuple[str, str], tuple[str, int]]
"""(namespace, name) of a Service -> host and port where it really listens; nothing routes service addresses here."""


class WebhookFailed(Exception):
    """The webhook gave no usable answer; the message says why, for people."""


@dataclasses.dataclass(frozen=True)
class _Target:
    host: str
    port: int
    path: str
    server_name: str
    bundle: str


class WebhookClient:
    """Keeps a connection pool for each endpoint and CA bundle.

    Args:
        services: see `Services`.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._pools: dict[tuple[str, int, str, str], urllib3.HTTPSConnectionPool] = {}
        self._lock = threading.Lock()

    def call(self, config: Raw, review: Raw, timeout: float) -> Raw:
        """Posts the review and answers what came back.

        Args:
            config: a ``clientConfig``.

        Raises:
            WebhookFailed: no connection, a bad certificate, a status other than 200, or no JSON object.
        """
        target = self._target(config)
        try:
            response = self._pool(target).request(
                "POST",
                target.path,
                body=orjson.dumps(review),
                headers={"Content-Type": "application/json", "Accept": "application/json"},
                timeout=timeout,
                retries=False,
            )
        except (urllib3.exceptions.HTTPError, ssl.SSLError, OSError) as error:
            raise WebhookFailed(f"Post {_text(target)}: {error}") from None
        if response.status != 200:
            raise WebhookFailed(f"Post {_text(target)}: status {response.status}")
        try:
            answer = orjson.loads(response.data)
        except ValueError:
            raise WebhookFailed(f"Post {_text(target)}: the answer is no JSON") from None
        if not isinstance(answer, dict):
            raise WebhookFailed(f"Post {_text(target)}: the answer is no object")
        return answer

    def close(self) -> None:
        with self._lock:
            for pool in self._pools.values():
                pool.close()
            self._pools.clear()

    def _target(self, config: Raw) -> _Target:
        bundle = config.get("caBundle") or ""
        if url := config.get("url"):
            parts = urllib.parse.urlsplit(url)
            path = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
            return _Target(parts.hostname or "", parts.port or 443, path, parts.hostname or "", bundle)
        service = config.get("service") or {}
        namespace, name = service.get("namespace") or "", service.get("name") or ""
        found = self._services.get((namespace, name))
        if found is None:
            raise WebhookFailed(f'service "{namespace}/{name}" is not reachable from this server: use clientConfig.url')
        return _Target(found[0], found[1], service.get("path") or "/", f"{name}.{namespace}.svc", bundle)

    def _pool(self, target: _Target) -> urllib3.HTTPSConnectionPool:
        key = (target.host, target.port, target.server_name, target.bundle)
        with self._lock:
            if key not in self._pools:
                self._pools[key] = urllib3.HTTPSConnectionPool(
                    target.host,
                    target.port,
                    maxsize=16,
                    ssl_context=_context(target.bundle),
                    server_hostname=target.server_name,
                    assert_hostname=target.server_name,
                )
            return self._pools[key]


def _context(bundle: str) -> ssl.SSLContext:
    """Trusts the bundle alone; the machine's authorities where there is none, as the real server does."""
    if not bundle:
        return ssl.create_default_context()
    try:
        return ssl.create_default_context(cadata=base64.b64decode(bundle).decode())
    except (ValueError, ssl.SSLError) as error:
        raise WebhookFailed(f"unable to load root certificates: {error}") from None


def _text(target: _Target) -> str:
    return f'"https://{target.host}:{target.port}{target.path}"'
