"""Makes the program out of its parts: which controllers run, with which connections, caches, ports and limits.

The one place that knows everything, so that no part has to; it holds tables and construction, no behaviour.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import socket
import ssl
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence

from capm3_api import names
from capm3_api.meta import Key
from capm3_managers import watches
from capm3_managers.manager import Ports
from capm3_managers.ports import ALL_NAMESPACES

from capm3_controller import bmc, crdmigrator, process, webhooks
from capm3_controller import settings as all_settings
from capm3_controller.controllers import cluster, data, datatemplate, host, ippool, machine
from capm3_controller.controllers.definition import Definition
from capm3_controller.kube import endpoint as endpoints
from capm3_controller.kube import leader
from capm3_controller.kube.cache import Cache
from capm3_controller.kube.client import Client
from capm3_controller.kube.discovery import VersionedClient
from capm3_controller.kube.endpoint import Endpoint, Source
from capm3_controller.kube.fence import Fence
from capm3_controller.kube.leader import Elector, Terms
from capm3_controller.kube.ratelimit import UNLIMITED, TokenBucket
from capm3_controller.kube.reflector import Timing
from capm3_controller.kube.remote import Remotes
from capm3_controller.kube.transport import Timeouts, Transport
from capm3_controller.process import Controller, Parts, Running, Serves
from capm3_controller.runtime import loop
from capm3_controller.runtime.diagnostics import Diagnostics, Gate, server_context
from capm3_controller.runtime.executor import Executor, Hands
from capm3_controller.runtime.health import Health
from capm3_controller.runtime.logs import Verbosity
from capm3_controller.runtime.loop import Loop
from capm3_controller.runtime.metrics import Metrics
from capm3_controller.runtime.queue import Queue
from capm3_controller.runtime.serving import Server
from capm3_controller.settings import Settings, SettingsError

DEFINITIONS: Mapping[str, Definition] = {
    module.DEFINITION.name: module.DEFINITION for module in (machine, cluster, datatemplate, data, host, ippool)
}
"""All controllers of this release by name, in the order of the start."""


def definitions() -> Mapping[str, Definition]:
    """The same, for others."""
    return DEFINITIONS


def chosen(settings: Settings, table: Mapping[str, Definition] | None = None) -> Sequence[Definition]:
    """The controllers that run: those of ``--controllers`` whose own switch, if they have one, is on.

    Raises:
        SettingsError: a name that no controller has.
    """
    table = definitions() if table is None else table
    wanted = {name.removeprefix("-") for name in settings.controllers} - {"*", crdmigrator.NAME}
    unknown = sorted(wanted - set(table))
    if unknown:
        raise SettingsError(
            f"--controllers: unknown {', '.join(unknown)}; there are {', '.join([*table, crdmigrator.NAME])}"
        )
    everything = "*" in settings.controllers
    return [
        definition
        for name, definition in table.items()
        if f"-{name}" not in settings.controllers
        and (name in settings.controllers or everything)
        and (not definition.switch or getattr(settings, definition.switch))
    ]


def build(
    settings: Settings,
    kube_config: Source = None,
    *,
    environ: Mapping[str, str] | None = None,
    table: Mapping[str, Definition] | None = None,
    verbosity: Verbosity | None = None,
    timing: Timing = Timing(),
) -> Controller:
    """The program, not started yet; its ports listen already.

    Args:
        kube_config: kubeconfig file, its content as data, or an endpoint; `None`: by settings and environment.
        environ: instead of the process's environment.
        table: other controllers, for tests.
        verbosity: what ``PUT /debug/flags/v`` changes.

    Raises:
        SettingsError, EndpointError, AddressError: it can't start; the message says what, where and the mend.
    """
    all_settings.check(settings)
    environ = os.environ if environ is None else environ
    definitions_ = chosen(settings, table)
    maker = _Maker(settings, endpoints.load(kube_config or settings.kubeconfig or None, environ))
    cache = maker.cache(definitions_, timing)
    remotes = Remotes(cache, maker.workload, observer=maker.metrics)
    servers = bmc.Servers()
    fence = Fence()
    ports = Ports(cache, remotes, servers)
    executor = Executor(Hands(maker.client, cache, remotes, servers, fence), maker.metrics)
    env = loop.env_of(settings.manager(environ))
    health = Health()
    health.ready["versions"] = maker.client.versions.problems
    parts = Parts(
        cache=cache,
        remotes=remotes,
        fence=fence,
        elector=maker.elector(environ, fence) if settings.leader_elect else None,
        controllers=[maker.controller(definition, ports, executor, env) for definition in definitions_],
        health=health,
        metrics=maker.metrics,
        servers=maker.servers(health, verbosity),
        clients=maker.clients,
        closers=(servers.close,),
        jobs=maker.jobs(fence),
        sync_period=settings.sync_period,
        grace=settings.stop_grace,
    )
    return Controller(parts)


class _Maker:
    """Construction steps that share the settings, the endpoint and the metrics."""

    def __init__(self, settings: Settings, endpoint: Endpoint) -> None:
        self.settings = settings
        self.endpoint = endpoint
        self.metrics = Metrics()
        self.clients: list[Client] = []
        self.client = self._client(
            endpoint, TokenBucket(settings.kube_api_qps, settings.kube_api_burst), Timeouts(busy=2.0)
        )
        self.clients.append(self.client)

    def _client(self, endpoint: Endpoint, limiter: TokenBucket, timeouts: Timeouts) -> VersionedClient:
        transport = Transport(
            endpoint,
            user_agent=user_agent(),
            limiter=limiter,
            timeouts=timeouts,
            observer=self.metrics,
        )
        return VersionedClient(transport)

    def workload(self, endpoint: Endpoint) -> Client:
        """A client of a workload cluster: short time-outs, few connections, a rate limit of its own."""
        limiter = TokenBucket(self.settings.clustercache_client_qps, self.settings.clustercache_client_burst)
        return self._client(endpoint, limiter, Timeouts(connect=3.0, read=10.0, kept=4))

    def unlimited(self) -> Client:
        """For calls that the controllers' rate limit must not hold up: the lease, and callers of /metrics."""
        half = self.settings.leader_elect_renew_deadline / 2
        client = self._client(self.endpoint, UNLIMITED, Timeouts(half, half, kept=2))
        self.clients.append(client)
        return client

    def cache(self, chosen_: Sequence[Definition], timing: Timing) -> Cache:
        watching = [watches.WATCHES[definition.name] for definition in chosen_]
        kinds = process.watched(watching, [kind for definition in chosen_ for kind in definition.reads])
        return Cache(self.client, kinds, self.settings.namespace or ALL_NAMESPACES, timing=timing)

    def controller(self, definition: Definition, ports: Ports, executor: Executor, env: loop.EnvSource) -> Running:
        workers: int = getattr(self.settings, definition.concurrency)
        late: list[Queue] = []
        metrics = self.metrics.controller(definition.name, workers, lambda: late[0].work_seconds() if late else [])
        late.append(Queue(metrics))
        running = Loop(definition.manager, late[0], ports, executor, metrics, env)
        return Running(running, watches.WATCHES[definition.name], workers, self.settings.watch_filter)

    def jobs(self, fence: Fence) -> Sequence[Callable[[threading.Event], None]]:
        """The migration of stored versions, unless both of its phases are skipped or it is not chosen."""
        settings = self.settings
        off = f"-{crdmigrator.NAME}" in settings.controllers
        if off or not {"*", crdmigrator.NAME} & set(settings.controllers):
            return ()
        count = self.metrics.controller(crdmigrator.NAME, 1, list).result
        migrator = crdmigrator.Migrator(self.client, fence, settings.skip_crd_migration_phases, count=count)
        return (migrator.job(settings.sync_period),)

    def elector(self, environ: Mapping[str, str], fence: Fence) -> Elector:
        settings = self.settings
        namespace = settings.leader_elect_namespace or environ.get("POD_NAMESPACE") or self.endpoint.namespace
        if not namespace:
            raise SettingsError(
                "--leader-elect: the namespace of the lease is not known: not in a pod, and the kubeconfig's context "
                "names none; give --leader-elect-namespace=NAMESPACE"
            )
        terms = Terms(
            settings.leader_elect_lease_duration,
            settings.leader_elect_renew_deadline,
            settings.leader_elect_retry_period,
        )
        identity = f"{socket.gethostname()}_{uuid.uuid4()}"
        return Elector(self.unlimited(), Key(namespace, leader.NAME), identity, fence, terms=terms)

    def servers(self, health: Health, verbosity: Verbosity | None) -> Mapping[str, Serves]:
        """The ports by name; all of them listen, or none does."""
        made: dict[str, Serves] = {}
        try:
            self._serve(made, health, verbosity)
        except Exception:
            for server in made.values():
                server.stop()
            raise
        return made

    def _serve(self, made: dict[str, Serves], health: Health, verbosity: Verbosity | None) -> None:
        settings = self.settings
        if settings.health_addr not in ("", "0"):
            made["health"] = Server(settings.health_addr, "--health-addr", health.handle)
        if settings.diagnostics_address not in ("", "0"):
            gate = None if settings.insecure_diagnostics else Gate(self.unlimited())
            tls = None if gate is None else server_context(_tls_minimum(settings), settings.openssl_ciphers)
            handler = Diagnostics(self.metrics, gate, verbosity).handle
            made["diagnostics"] = Server(settings.diagnostics_address, "--diagnostics-address", handler, tls)
        if settings.webhooks:
            webhook = webhooks.WebhookServer(settings, self.metrics.registry)
            health.ready["webhook"] = webhook.not_ready
            made["webhook"] = webhook


def user_agent() -> str:
    """``cluster-api-provider-metal3-manager/VERSION (OS/ARCH) python``."""
    version = importlib.metadata.version("capm3-controller")
    return f"{names.FIELD_MANAGER}/{version} ({platform.system().lower()}/{platform.machine()}) python"


def _tls_minimum(settings: Settings) -> ssl.TLSVersion:
    return {
        "VersionTLS10": ssl.TLSVersion.TLSv1,
        "VersionTLS11": ssl.TLSVersion.TLSv1_1,
        "VersionTLS12": ssl.TLSVersion.TLSv1_2,
        "VersionTLS13": ssl.TLSVersion.TLSv1_3,
    }[settings.tls_min_version]
