"""The metrics of the program, under the names that controller-runtime and client-go give them.

One registry a process part (not the library's global one), so that two controllers in one process don't meet. Dashboards
and alerts made for the Go program go on working; what it has no name for begins with ``capm3_``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import prometheus_client
from capm3_api.meta import Key
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]

_RECONCILE_BUCKETS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9),
    *(1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60),
)
_QUEUE_BUCKETS = tuple(10.0**exponent for exponent in range(-8, 4))
RESULTS = ("success", "error", "requeue", "requeue_after")


class Metrics:
    """All of them; the methods are the observers that the parts of the runtime ask for."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        prometheus_client.ProcessCollector(registry=self.registry)
        prometheus_client.PlatformCollector(registry=self.registry)
        self._reconcile()
        self._queue()
        self._clients()

    def _reconcile(self) -> None:
        prefix, labels, registry = "controller_runtime_", ["controller"], self.registry
        self.reconciles = Counter(
            f"{prefix}reconcile_total", "Passes by result.", [*labels, "result"], registry=registry
        )
        self.errors = Counter(f"{prefix}reconcile_errors_total", "Passes that failed.", labels, registry=registry)
        self.terminal = Counter(
            f"{prefix}terminal_reconcile_errors_total", "Passes that failed for good.", labels, registry=registry
        )
        self.panics = Counter(
            f"{prefix}reconcile_panics_total", "Passes that ended in a bug.", labels, registry=registry
        )
        self.timeouts = Counter(
            f"{prefix}reconcile_timeouts_total", "Passes that took too long.", labels, registry=registry
        )
        self.durations = Histogram(
            f"{prefix}reconcile_time_seconds", "Time of a pass.", labels, registry=registry, buckets=_RECONCILE_BUCKETS
        )
        self.workers = Gauge(f"{prefix}max_concurrent_reconciles", "Workers.", labels, registry=registry)
        self.active = Gauge(f"{prefix}active_workers", "Workers at work.", labels, registry=registry)

    def _queue(self) -> None:
        labels, registry = ["name", "controller"], self.registry
        self.depth = Gauge("workqueue_depth", "Keys that wait.", labels, registry=registry)
        self.adds = Counter("workqueue_adds_total", "Keys queued.", labels, registry=registry)
        self.retries = Counter(
            "workqueue_retries_total", "Keys queued again after a failure.", labels, registry=registry
        )
        self.waits = Histogram(
            "workqueue_queue_duration_seconds", "Time in the queue.", labels, registry=registry, buckets=_QUEUE_BUCKETS
        )
        self.works = Histogram(
            "workqueue_work_duration_seconds", "Time of work.", labels, registry=registry, buckets=_QUEUE_BUCKETS
        )

    def _clients(self) -> None:
        registry = self.registry
        self.requests = Counter(
            "rest_client_requests_total", "Requests to API servers.", ["code", "method", "host"], registry=registry
        )
        self.leading = Gauge("leader_election_master_status", "1 when this process leads.", ["name"], registry=registry)
        self.slow = Counter(
            "leader_election_slowpath_total", "Renewals that took the long way.", ["name"], registry=registry
        )
        cluster = ["cluster_name", "cluster_namespace"]
        self.connections = Gauge(
            "capi_cluster_cache_connection_up", "1 when the workload cluster answers.", cluster, registry=registry
        )
        self.health = Gauge(
            "capi_cluster_cache_healthcheck", "1 when the last call was answered.", cluster, registry=registry
        )
        self.healthchecks = Counter(
            "capi_cluster_cache_healthchecks_total", "Answers of workload clusters.", [*cluster, "status"],
            registry=registry,
        )  # fmt: skip
        self.bmc_actions = Counter(
            "capm3_bmc_actions_total", "Hardware actions by result.", ["op", "result"], registry=registry
        )

    def request(self, code: str, method: str, host: str) -> None:
        self.requests.labels(code, method, host).inc()

    def connection(self, cluster: Key, up: bool) -> None:
        for gauge in (self.connections, self.health):
            gauge.labels(cluster.name, cluster.namespace).set(1 if up else 0)
        self.healthchecks.labels(cluster.name, cluster.namespace, "success" if up else "error").inc()

    def forgotten(self, cluster: Key) -> None:
        for status in ("success", "error"):
            self.healthchecks.remove_by_labels(_cluster(cluster) | {"status": status})
        for gauge in (self.connections, self.health):
            gauge.remove_by_labels(_cluster(cluster))

    def hardware(self, op: str, result: str) -> None:
        self.bmc_actions.labels(op, result).inc()

    def controller(self, name: str, workers: int, work_seconds: Callable[[], list[float]]) -> ControllerMetrics:
        """The metrics of one controller, all at zero."""
        self.workers.labels(name).set(workers)
        self.registry.register(_Unfinished(name, work_seconds))
        return ControllerMetrics(self, name)

    def ages(self, ages: Callable[[], Iterable[tuple[str, float]]]) -> None:
        """Publishes the age of each watch's last sign of life."""
        self.registry.register(_Ages(ages))

    def text(self) -> bytes:
        """The exposition format."""
        return prometheus_client.generate_latest(self.registry)


class ControllerMetrics:
    """One controller's; also the observer of its queue."""

    def __init__(self, metrics: Metrics, name: str) -> None:
        self._results = {result: metrics.reconciles.labels(name, result) for result in RESULTS}
        self.errors = metrics.errors.labels(name)
        self.panics = metrics.panics.labels(name)
        self.active = metrics.active.labels(name)
        self.durations = metrics.durations.labels(name)
        metrics.terminal.labels(name)
        metrics.timeouts.labels(name)
        self._depth = metrics.depth.labels(name, name)
        self._adds = metrics.adds.labels(name, name)
        self._retries = metrics.retries.labels(name, name)
        self._waits = metrics.waits.labels(name, name)
        self._works = metrics.works.labels(name, name)

    def result(self, result: str) -> None:
        self._results[result].inc()
        if result == "error":
            self.errors.inc()

    def added(self, depth: int) -> None:
        self._adds.inc()
        self._depth.set(depth)

    def taken(self, depth: int, waited: float) -> None:
        self._depth.set(depth)
        self._waits.observe(waited)

    def finished(self, worked: float) -> None:
        self._works.observe(worked)

    def retried(self) -> None:
        self._retries.inc()


class _Unfinished(Collector):
    """Computed when asked: what is in work right now, and the oldest of it."""

    def __init__(self, name: str, work_seconds: Callable[[], list[float]]) -> None:
        self._name = name
        self._work_seconds = work_seconds

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterable[Metric]:
        seconds = self._work_seconds()
        labels = [self._name, self._name]
        for name, text, value in (
            ("workqueue_unfinished_work_seconds", "Seconds of work in progress.", sum(seconds)),
            ("workqueue_longest_running_processor_seconds", "Age of the oldest work.", max(seconds, default=0.0)),
        ):
            family = GaugeMetricFamily(name, text, labels=["name", "controller"])
            family.add_metric(labels, value)
            yield family


class _Ages(Collector):
    def __init__(self, ages: Callable[[], Iterable[tuple[str, float]]]) -> None:
        self._ages = ages

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterable[Metric]:
        family = GaugeMetricFamily(
            "capm3_watch_last_event_age_seconds", "Since the last event, bookmark, list or open watch.", labels=["kind"]
        )
        for kind, age in self._ages():
            family.add_metric([kind], age)
        yield family


def _cluster(key: Key) -> dict[str, str]:
    return {"cluster_name": key.name, "cluster_namespace": key.namespace}
