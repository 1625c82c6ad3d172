"""The metrics of the webhook server, with the names that controller-runtime gives them.

Apart from the handlers, and with its own registry, so that it runs beside the controller's metrics in one process.
"""

from __future__ import annotations

import prometheus_client
from prometheus_client import Counter, Gauge, Histogram

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """All series of one server; `registry` is a fresh one unless the caller's process has one to share."""

    def __init__(self, registry: prometheus_client.CollectorRegistry | None = None) -> None:
        self.registry = registry if registry is not None else prometheus_client.CollectorRegistry()
        self.latency = Histogram(
            "controller_runtime_webhook_latency_seconds",
            "Time taken to answer an admission request.",
            ["webhook"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "controller_runtime_webhook_requests_in_flight",
            "Admission requests that are being answered.",
            ["webhook"],
            registry=self.registry,
        )
        self.requests = self._counter("webhook_requests", "Admission requests by HTTP status code.", "webhook", "code")
        self.panics = self._counter("webhook_panics", "Bugs met while answering an admission request.")
        self.conversion_panics = self._counter("conversion_webhook_panics", "Bugs met while converting an object.")
        reads = "Attempts to read the certificate files"
        self.certificate_reads = Counter("certwatcher_read_certificate", f"{reads}.", registry=self.registry)
        self.certificate_errors = Counter(
            "certwatcher_read_certificate_errors", f"{reads} that failed.", registry=self.registry
        )

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"controller_runtime_{name}", text, labels, registry=self.registry)

    def text(self) -> bytes:
        """The exposition format."""
        return prometheus_client.generate_latest(self.registry)
