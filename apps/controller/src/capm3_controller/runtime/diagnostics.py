"""The diagnostics port: /metrics for those who may read it, the log verbosity, and the stacks of all threads.

By default over HTTPS with the API server asked who calls (TokenReview) and whether they may (SubjectAccessReview), as the
Go program does; ``--insecure-diagnostics`` serves /metrics alone, in the clear, to everyone.
"""

from __future__ import annotations

import datetime
import ipaddress
import logging
import ssl
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from capm3_api.meta import Kind
from capm3_managers.ports import ApiError
from prometheus_client import CONTENT_TYPE_LATEST

from capm3_controller.kube.client import Client
from capm3_controller.runtime.logs import Verbosity
from capm3_controller.runtime.metrics import Metrics
from capm3_controller.runtime.serving import Reply, Request

log = logging.getLogger(__name__)

TOKEN_REVIEW = Kind("authentication.k8s.io", "v1", "TokenReview", "tokenreviews", namespaced=False)
ACCESS_REVIEW = Kind("authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", namespaced=False)
_ALLOWED_SECONDS = 60.0
_DENIED_SECONDS = 10.0
_REMEMBERED = 256


class Gate:
    """Asks the API server about a bearer token; answers are remembered for a short time.

    Args:
        client: one that is not slowed down by the controllers' rate limit.
    """

    def __init__(self, client: Client, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[tuple[int, str, str], tuple[float, int]] = {}

    def check(self, request: Request) -> int:
        """The HTTP status: 200, 401, 403, or 500 when the API server could not be asked."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return 401
        key = (hash(token), request.path, request.method)
        with self._lock:
            until, status = self._known.get(key, (0.0, 0))
        if self._clock() < until:
            return status
        try:
            status = self._ask(token.strip(), request)
        except ApiError as error:
            log.warning("A caller of the diagnostics port could not be checked", extra={"facts": {"err": str(error)}})
            return 500
        with self._lock:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = (self._clock() + (_ALLOWED_SECONDS if status == 200 else _DENIED_SECONDS), status)
        return status

    def _ask(self, token: str, request: Request) -> int:
        review = {"apiVersion": TOKEN_REVIEW.api_version, "kind": "TokenReview", "spec": {"token": token}}
        status = self._client.create(TOKEN_REVIEW, review).get("status") or {}
        if not status.get("authenticated"):
            return 401
        user = status.get("user") or {}
        verb = {"GET": "get", "HEAD": "get", "PUT": "update"}[request.method]
        spec = {
            "user": user.get("username"),
            "uid": user.get("uid"),
            "groups": user.get("groups") or [],
            "extra": user.get("extra") or {},
            "nonResourceAttributes": {"path": request.path, "verb": verb},
        }
        review = {"apiVersion": ACCESS_REVIEW.api_version, "kind": "SubjectAccessReview", "spec": spec}
        answer = self._client.create(ACCESS_REVIEW, review).get("status") or {}
        return 200 if answer.get("allowed") else 403


class Diagnostics:
    """Args:
    gate: ``None`` for the insecure form.
    """

    def __init__(self, metrics: Metrics, gate: Gate | None, verbosity: Verbosity | None = None) -> None:
        self._metrics = metrics
        self._gate = gate
        self._verbosity = verbosity

    def handle(self, request: Request) -> Reply:
        if self._gate is not None:
            status = self._gate.check(request)
            if status != 200:
                return Reply(status, _WORDS[status])
        if request.path == "/metrics":
            return Reply(200, self._metrics.text(), CONTENT_TYPE_LATEST)
        if self._gate is not None and request.path == "/debug/flags/v":
            return self._flag(request)
        if self._gate is not None and request.path == "/debug/stacks":
            return Reply(200, stacks().encode())
        return Reply(404, b"404 page not found\n")

    def _flag(self, request: Request) -> Reply:
        if request.method != "PUT" or self._verbosity is None:
            return Reply(405, b"use PUT with the wanted verbosity as the body\n")
        text = request.body.decode(errors="replace").strip()
        if not text.isdigit():
            return Reply(400, b"the body must be a number\n")
        self._verbosity.level = int(text)
        return Reply(200, f"successfully set klog.logging.verbosity to {text}".encode())


_WORDS = {401: b"Unauthorized\n", 403: b"Forbidden\n", 500: b"the API server could not be asked\n"}


def stacks() -> str:
    """Where every thread is right now."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    parts = []
    for ident, frame in sys._current_frames().items():
        parts.append(f"{names.get(ident, ident)}:\n{''.join(traceback.format_stack(frame))}")
    return "\n".join(parts)


def server_context(minimum: ssl.TLSVersion, ciphers: str = "") -> ssl.SSLContext:
    """TLS with a self-signed certificate made now, as controller-runtime does when it is given none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = minimum
    if ciphers:
        context.set_ciphers(ciphers)
    certificate, key = _self_signed()
    with tempfile.TemporaryDirectory(prefix="capm3-") as folder:
        cert_file, key_file = Path(folder, "tls.crt"), Path(folder, "tls.key")
        cert_file.write_bytes(certificate)
        key_file.touch(mode=0o600)
        key_file.write_bytes(key)
        context.load_cert_chain(cert_file, key_file)
    return context


def _self_signed() -> tuple[bytes, bytes]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=365))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("localhost"), x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]
            ),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM), private
