"""The API servers that a testbed can run on, behind one face: the embedded one, and a real kube-apiserver.

Apart from the stack, which puts servers, stand-ins and controllers on top and does not care which one it is.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from capm3_testbed import rbac
from capm3_testbed.apiserver import binaries
from capm3_testbed.apiserver.collector import Collector
from capm3_testbed.apiserver.process import ControlPlane
from capm3_testbed.embedded.server import EmbeddedServer
from capm3_testbed.kubeapi import KubeApi
from capm3_testbed.kubeconfig import Access

Say = Callable[[str], None]


class Tier(Protocol):
    """An API server for one run."""

    name: str
    facts: tuple[str, ...]
    """What is real in it and what is not, for people."""

    def start(self, say: Say) -> None: ...

    def access(self) -> Access:
        """As administrator."""
        ...

    def controller_access(self) -> Access:
        """As the controller's service account."""
        ...

    def settle(self, api: KubeApi) -> None:
        """Called once the definitions are installed."""
        ...

    def stop(self) -> None: ...


class EmbeddedTier:
    """The API in memory."""

    name = "embedded"
    facts: tuple[str, ...] = (
        "API server: in memory, over HTTPS; owner garbage collection included",
        "Cluster API core: stand-in",
        "servers: sushy-tools, real Redfish over HTTP, made-up hardware",
        "kubelets: stand-in that looks at the servers",
    )

    def __init__(self) -> None:
        self.server = EmbeddedServer(name="capm3-testbed")

    def start(self, say: Say) -> None:
        self.server.start()

    def access(self) -> Access:
        return self.server.access()

    def controller_access(self) -> Access:
        return self.server.access()

    def settle(self, api: KubeApi) -> None:
        """Nothing: garbage collection is part of the World."""

    def stop(self) -> None:
        self.server.stop()


class ApiserverTier:
    """A real kube-apiserver and etcd."""

    name = "apiserver"
    facts: tuple[str, ...] = (
        "API server: kube-apiserver and etcd; owner garbage collection: stand-in",
        "Cluster API core: stand-in",
        "servers: sushy-tools, real Redfish over HTTP, made-up hardware",
        "kubelets: stand-in that looks at the servers; workload APIs: in memory",
    )

    def __init__(self, environ: Mapping[str, str] | None = None, folder: Path | None = None) -> None:
        self._environ = environ
        self._folder = folder
        self.control_plane: ControlPlane | None = None
        self._collector: Collector | None = None

    def start(self, say: Say) -> None:
        found = binaries.find(say, self._environ)
        folder = self._folder or Path(tempfile.mkdtemp(prefix="capm3-testbed-"))
        self.control_plane = ControlPlane(found, folder).start()

    def access(self) -> Access:
        assert self.control_plane is not None, "not started"
        return self.control_plane.access()

    def controller_access(self) -> Access:
        assert self.control_plane is not None, "not started"
        return self.control_plane.access(self.control_plane.controller)

    def settle(self, api: KubeApi) -> None:
        for obj in rbac.objects():
            api.ensure(obj)
        self._collector = Collector(api)
        self._collector.start()

    def stop(self) -> None:
        if self._collector is not None:
            self._collector.stop()
            self._collector = None
        if self.control_plane is not None:
            self.control_plane.stop()
            self.control_plane = None


TIERS: Mapping[str, Callable[[], Tier]] = {"embedded": EmbeddedTier, "apiserver": ApiserverTier}
"""By the name that ``--tier`` takes."""


def serve_workload(name: str) -> EmbeddedServer:
    """The server of a workload cluster; see `workload.clusters`."""
    return EmbeddedServer(name=name).start()
