"""What the webhook server can be told, with the names and defaults of the Go program's flags.

Apart from the command line, because the controller and the testbed make these settings without it.
"""

from __future__ import annotations

import dataclasses
import pathlib
import ssl

MIB = 1024 * 1024
DEFAULT_CERT_DIR = "/tmp/k8s-webhook-server/serving-certs/"

TLS_VERSIONS = {
    "VersionTLS10": ssl.TLSVersion.TLSv1,
    "VersionTLS11": ssl.TLSVersion.TLSv1_1,
    "VersionTLS12": ssl.TLSVersion.TLSv1_2,
    "VersionTLS13": ssl.TLSVersion.TLSv1_3,
}

CIPHERS = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
}
"""Go's names of the cipher suites up to TLS 1.2, and OpenSSL's."""

TLS13_CIPHERS = frozenset({"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"})
"""Suites of TLS 1.3, which Go accepts in the flag and always offers."""


class SettingsError(Exception):
    """A setting that can't be used; the text names the flag and what to write instead."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """All settings of one server.

    Args:
        host: address to listen on; ``""`` is every address.
        port: 0 picks a free one.
        cert_dir: folder with ``tls.crt`` and ``tls.key``.
        health_address: ``host:port`` of /healthz, /readyz and /metrics over plain HTTP; ``""`` switches it off.
        body_limit: bytes of one AdmissionReview.
        conversion_body_limit: bytes of one ConversionReview, which may hold a list of 500 objects.
        deadline_seconds: time for one review, reading its body included.
        concurrency: reviews worked on at the same time; others wait within their deadline.
        reload_seconds: how often the certificate files are looked at.
        drain_seconds: time for requests under way when the server stops.
    """

    host: str = ""
    port: int = 9443
    cert_dir: pathlib.Path = pathlib.Path(DEFAULT_CERT_DIR)
    tls_min_version: str = "VersionTLS12"
    tls_cipher_suites: tuple[str, ...] = ()
    health_address: str = ":9440"
    body_limit: int = 7 * MIB
    conversion_body_limit: int = 256 * MIB
    deadline_seconds: float = 10.0
    concurrency: int = 8
    reload_seconds: float = 10.0
    drain_seconds: float = 5.0

    def __post_init__(self) -> None:
        if self.tls_min_version not in TLS_VERSIONS:
            known = ", ".join(TLS_VERSIONS)
            raise SettingsError(f"--tls-min-version: unknown version {self.tls_min_version!r}; use one of {known}")
        unknown = [name for name in self.tls_cipher_suites if name not in CIPHERS and name not in TLS13_CIPHERS]
        if unknown:
            raise SettingsError(f"--tls-cipher-suites: unknown or unsupported suites {', '.join(unknown)}")
        if not 0 <= self.port <= 65535:
            raise SettingsError(f"--webhook-port: {self.port} is no port number")

    @property
    def openssl_ciphers(self) -> str:
        """The suites up to TLS 1.2 as OpenSSL writes them; ``""`` for the library's own choice."""
        return ":".join(CIPHERS[name] for name in self.tls_cipher_suites if name in CIPHERS)


def split_address(address: str, flag: str) -> tuple[str, int]:
    """``host:port``, ``:port`` or ``[v6]:port`` as host and port; an empty host is every address."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise SettingsError(f"{flag}: {address!r} is not of the form host:port")
    return host.strip("[]"), int(port)
