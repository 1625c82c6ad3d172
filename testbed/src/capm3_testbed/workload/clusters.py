"""One API server for each workload cluster: an in-memory one of its own, reached through the kubeconfig Secret.

Implements what the Cluster API stand-in asks of workload clusters (`capi.api.Workload`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from capm3_api import kinds
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_managers.ports import ApiError
from capm3_managers.testing.world import World

from capm3_testbed.kubeconfig import Access


class Server(Protocol):
    """An API server over a World."""

    world: World

    def access(self) -> Access: ...

    def stop(self) -> None: ...


Serve = Callable[[str], Server]


class Clusters:
    """All workload clusters of a testbed; thread-safe.

    Args:
        serve: starts the server of a cluster of that name.
    """

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._lock = threading.Lock()
        self._servers: dict[Key, Server] = {}

    def world(self, cluster: Key) -> World:
        """The cluster's API in memory; started when it does not run."""
        return self._server(cluster).world

    def kubeconfig(self, cluster: Key) -> str:
        return self._server(cluster).access().text()

    def nodes(self, cluster: Key) -> Sequence[Raw]:
        with self._lock:
            server = self._servers.get(cluster)
        return server.world.list(kinds.NODE, "") if server is not None else []

    def patch_node(self, cluster: Key, name: str, patch: Raw) -> None:
        self.world(cluster).patch(kinds.NODE, Key("", name), patch)

    def delete_node(self, cluster: Key, name: str) -> None:
        try:
            self.world(cluster).delete(kinds.NODE, Key("", name))
        except ApiError as error:
            if not error.is_not_found:
                raise

    def forget(self, cluster: Key) -> None:
        with self._lock:
            server = self._servers.pop(cluster, None)
        if server is not None:
            server.stop()

    def stop(self) -> None:
        """Ends all servers."""
        for cluster in list(self._servers):
            self.forget(cluster)

    def _server(self, cluster: Key) -> Server:
        with self._lock:
            if cluster not in self._servers:
                self._servers[cluster] = self._serve(f"{cluster.namespace}-{cluster.name}")
            return self._servers[cluster]
