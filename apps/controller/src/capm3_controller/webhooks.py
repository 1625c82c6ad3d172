"""Admission and conversion in the controller's process, as the Go image has them (``--webhooks``).

Apart from `wiring`, because the webhook app is an extra: this program runs without it, and says so when it is asked for.
"""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry

from capm3_controller.settings import Settings, SettingsError

if TYPE_CHECKING:
    import capm3_webhook


class WebhookServer:
    """Listens from construction on, answers after `start`; its metrics go to the given registry.

    Raises:
        SettingsError: the webhook package, the certificates or the port can't be used.
    """

    def __init__(self, settings: Settings, registry: CollectorRegistry) -> None:
        try:
            import capm3_webhook
            from capm3_webhook import metrics, server
        except ImportError:
            raise SettingsError(
                "--webhooks: the package capm3-webhook is not installed; install capm3-controller[webhooks], "
                "or leave the flag out and run capm3-webhook beside this program"
            ) from None
        own = capm3_webhook.Settings
        try:
            self._server = server.Server(
                own(
                    port=settings.webhook_port,
                    cert_dir=pathlib.Path(settings.webhook_cert_dir),
                    tls_min_version=settings.tls_min_version,
                    tls_cipher_suites=settings.tls_cipher_suites,
                    health_address="",
                ),
                metrics.Metrics(registry),
            )
        except capm3_webhook.SettingsError as error:
            raise SettingsError(str(error)) from None
        self._running: capm3_webhook.Running | None = None

    @property
    def port(self) -> int:
        return self._server.port

    def start(self) -> None:
        from capm3_webhook import server

        self._running = server.Running(self._server)

    def stop(self) -> None:
        if self._running is not None:
            self._running.stop()

    def not_ready(self) -> str:
        """Why it can't answer yet; ``""`` when it can."""
        return "the webhook server has not started" if self._running is None else self._running.not_ready()
