"""Workload clusters: one client each, made from the kubeconfig Secret, bounded in every way, closed with the cluster.

Apart from the management client, because here the peer is somebody's cluster that may be half built, unreachable or
hostile, and must never hold up the others (report B43).
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import yaml
from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_managers.plan import NodePatch
from capm3_managers.ports import ALL_NAMESPACES, ApiError, Reader, Unreachable

from capm3_controller.kube import endpoint as endpoints
from capm3_controller.kube.breaker import Breaker
from capm3_controller.kube.client import Client
from capm3_controller.kube.endpoint import Endpoint, EndpointError
from capm3_controller.kube.transport import Permit

log = logging.getLogger(__name__)
T = TypeVar("T")

RECHECK_SECONDS = 15.0
"""How long a kubeconfig Secret is not read again while its cluster answers."""


class ConnectionObserver(Protocol):
    """Hears of connections to workload clusters; see `capm3_controller.runtime.metrics`."""

    def connection(self, cluster: Key, up: bool) -> None: ...

    def forgotten(self, cluster: Key) -> None: ...


@dataclasses.dataclass
class _Entry:
    client: Client | None = None
    version: str = ""
    checked: float = float("-inf")
    closed: bool = False
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)


class Remotes:
    """Implements `capm3_managers.ports.RemoteReader`, and the patches of Nodes.

    Args:
        reader: of the management cluster, for the Secrets.
        connect: makes a client of an endpoint; its time-outs are short.
    """

    def __init__(
        self,
        reader: Reader,
        connect: Callable[[Endpoint], Client],
        *,
        observer: ConnectionObserver | None = None,
        clock: Callable[[], float] = time.monotonic,
        breaker: Callable[[], Breaker] = Breaker,
    ) -> None:
        self._reader = reader
        self._connect = connect
        self._observer = observer
        self._clock = clock
        self._new_breaker = breaker
        self._lock = threading.Lock()
        self._entries: dict[Key, _Entry] = {}
        self._breakers: dict[Key, Breaker] = {}

    def nodes(self, cluster: Key, *, labels: Mapping[str, str] | None = None) -> Sequence[Raw] | Unreachable:
        """See `capm3_managers.ports.RemoteReader`."""
        return self._ask(cluster, lambda client: client.list(kinds.NODE, ALL_NAMESPACES, labels=labels)[0])

    def patch_node(self, action: NodePatch, *, permit: Permit | None = None) -> None:
        """A merge patch of a Node.

        Raises:
            ApiError: refused, or status 0 and the reason of `Unreachable`.
        """
        patch = action.patch
        if action.resource_version:
            metadata = {**(patch.get("metadata") or {}), "resourceVersion": action.resource_version}
            patch = {**patch, "metadata": metadata}
        key = Key("", action.name)
        answer = self._ask(action.cluster, lambda client: client.merge(kinds.NODE, key, patch, permit=permit))
        if isinstance(answer, Unreachable):
            raise ApiError(0, answer.reason, answer.message)

    def forget(self, cluster: Key) -> None:
        """Closes the connections to a cluster that is gone."""
        with self._lock:
            entry = self._entries.pop(cluster, None)
            self._breakers.pop(cluster, None)
        if entry is not None:
            self._close(entry)
            entry.closed = True
            if self._observer is not None:
                self._observer.forgotten(cluster)

    def close(self) -> None:
        for cluster in list(self._entries):
            self.forget(cluster)

    def _ask(self, cluster: Key, call: Callable[[Client], T]) -> T | Unreachable:
        with self._lock:
            entry = self._entries.setdefault(cluster, _Entry())
            breaker = self._breakers.setdefault(cluster, self._new_breaker())
        client = self._client(cluster, entry)
        if isinstance(client, Unreachable):
            return client
        refused = breaker.enter()
        if refused:
            return Unreachable("WorkloadAPIUnreachable", refused)
        try:
            answer = call(client)
        except ApiError as error:
            return self._failed(cluster, entry, breaker, error)
        except BaseException:
            breaker.failed("the last call ended unexpectedly")
            raise
        self._up(cluster, breaker)
        return answer

    def _failed(self, cluster: Key, entry: _Entry, breaker: Breaker, error: ApiError) -> Unreachable:
        """Tells a cluster that does not answer from one that refuses this call; the second kind raises."""
        if error.status in (401, 403):
            entry.checked = float("-inf")
            self._up(cluster, breaker)
            return Unreachable("Forbidden", error.message)
        if 400 <= error.status < 500 and error.status != 429:
            self._up(cluster, breaker)
            raise error
        entry.checked = float("-inf")
        was = breaker.healthy
        breaker.failed(error.message)
        if self._observer is not None:
            self._observer.connection(cluster, False)
        if was:
            log.warning("A workload cluster stopped answering", extra={"facts": {"cluster": str(cluster)}})
        return Unreachable("WorkloadAPIUnreachable", error.message)

    def _up(self, cluster: Key, breaker: Breaker) -> None:
        breaker.succeeded()
        if self._observer is not None:
            self._observer.connection(cluster, True)

    def _client(self, cluster: Key, entry: _Entry) -> Client | Unreachable:
        """The client for what the Secret holds now; reads it again when it may have changed."""
        with entry.lock:
            if entry.client is not None and self._clock() - entry.checked < RECHECK_SECONDS:
                return entry.client
            name = f"{cluster.name}-kubeconfig"
            secret = self._reader.get(kinds.SECRET, Key(cluster.namespace, name), live=True)
            if secret is None:
                self._close(entry)
                return Unreachable("KubeconfigMissing", f"Secret {name} does not exist yet")
            if entry.client is None or meta.version_of(secret) != entry.version:
                try:
                    endpoint = endpoints.from_secret(_kubeconfig(secret))
                except EndpointError as error:
                    self._close(entry)
                    return Unreachable("KubeconfigInvalid", f"Secret {name}: {error}")
                self._close(entry)
                entry.client = self._connect(endpoint)
                entry.version = meta.version_of(secret)
            entry.checked = self._clock()
            return entry.client

    def _close(self, entry: _Entry) -> None:
        client, entry.client = entry.client, None
        if client is not None:
            client.close()


def _kubeconfig(secret: Raw) -> Raw:
    value = (secret.get("data") or {}).get("value")
    if not value:
        raise EndpointError("it has no key 'value'")
    try:
        data = yaml.safe_load(base64.b64decode(value))
    except (ValueError, binascii.Error, yaml.YAMLError):
        raise EndpointError("the key 'value' is not YAML in base64") from None
    if not isinstance(data, dict):
        raise EndpointError("the key 'value' is not a kubeconfig")
    return data
