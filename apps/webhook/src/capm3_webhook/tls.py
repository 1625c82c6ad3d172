"""The TLS context of the server, and taking up new certificate files without a restart.

Apart from the server, because the rule is delicate: a Secret that is mounted rotates file by file, and a pair that does
not fit must leave the old one in use. New files are tried on a context of their own first.
"""

from __future__ import annotations

import hashlib
import logging
import pathlib
import ssl

from capm3_webhook.metrics import Metrics
from capm3_webhook.settings import TLS_VERSIONS, Settings, SettingsError

log = logging.getLogger("capm3_webhook")

_OLD = {"VersionTLS10", "VersionTLS11"}


class Certificates:
    """The certificate pair in use.

    Raises:
        SettingsError: at the start, when there is no usable pair.
    """

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._seen = ""
        self.context = _context(settings)
        problem = self.reload()
        if problem:
            raise SettingsError(f"--webhook-cert-dir {settings.cert_dir}: {problem}")

    @property
    def files(self) -> tuple[pathlib.Path, pathlib.Path]:
        return self._settings.cert_dir / "tls.crt", self._settings.cert_dir / "tls.key"

    def reload(self) -> str:
        """Takes up the files when their content is new; the reason when they can't be used, else ``""``."""
        self._metrics.certificate_reads.inc()
        try:
            content = b"\0".join(file.read_bytes() for file in self.files)
            digest = hashlib.sha256(content).hexdigest()
            if digest == self._seen:
                return ""
            crt, key = self.files
            _context(self._settings).load_cert_chain(crt, key, password=_no_password)
            self.context.load_cert_chain(crt, key, password=_no_password)
        except (OSError, ValueError) as problem:
            self._metrics.certificate_errors.inc()
            return _reason(problem)
        if self._seen:
            log.info("took up the new certificate files", extra={"dir": str(self._settings.cert_dir)})
        self._seen = digest
        return ""


def _reason(problem: Exception) -> str:
    if isinstance(problem, ssl.SSLError):
        return f"tls.crt and tls.key are not a usable pair ({problem.reason or 'unreadable PEM'})"
    if isinstance(problem, OSError):
        return f"{problem.strerror or type(problem).__name__}: {problem.filename or 'tls.crt, tls.key'}"
    return str(problem)


def _no_password() -> str:
    """Keeps OpenSSL from asking on the terminal for the password of a protected key."""
    raise ValueError("tls.key is protected by a password; store it without one")


def _context(settings: Settings) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = TLS_VERSIONS[settings.tls_min_version]
    ciphers = settings.openssl_ciphers or "DEFAULT"
    # OpenSSL refuses TLS 1.0 and 1.1 altogether above security level 0.
    context.set_ciphers(f"{ciphers}:@SECLEVEL=0" if settings.tls_min_version in _OLD else ciphers)
    context.set_alpn_protocols(["http/1.1"])
    return context
