"""A whole site without network or time: all managers, core's stand-in, kubelets and servers over one `World`.

Apart from the stack, which is the same over HTTP with processes and Redfish: what a story says must hold on both.
"""

from __future__ import annotations

import dataclasses
import datetime
import random
from collections.abc import Mapping, Sequence

from capm3_api import kinds
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_controller import wiring
from capm3_managers.plan import NodePatch
from capm3_managers.ports import Unreachable
from capm3_managers.settings import Settings
from capm3_managers.testing import peers, servers
from capm3_managers.testing.scenario import Faults, Scenario
from capm3_managers.testing.world import World

from capm3_testbed import install, manifests
from capm3_testbed.capi import controllers
from capm3_testbed.capi.api import Core
from capm3_testbed.embedded import EmbeddedServer
from capm3_testbed.kubeconfig import Access
from capm3_testbed.manifests import Values
from capm3_testbed.workload.clusters import Clusters
from capm3_testbed.workload.kubelet import Kubelets

IMAGE = "http://192.0.2.1/live.iso"


class Unserved:
    """A workload cluster that only this process reaches."""

    def __init__(self, name: str) -> None:
        self.world = World(name=name)

    def access(self) -> Access:
        return Access("https://127.0.0.1:1", b"", "token")

    def stop(self) -> None:
        """Nothing was started."""


@dataclasses.dataclass(frozen=True)
class WorldServer:
    """A server in memory as the kubelets look at it."""

    address: str
    server: servers.Server

    def running_image(self) -> tuple[str, int]:
        booted = self.server.booted_from
        return (booted if booted.startswith("http") and self.server.power == "on" else ""), self.server.starts


class _Remote(peers.Workloads):
    """Workload clusters as managers see them: there once the kubeconfig Secret is."""

    def __init__(self, world: World, known: Clusters) -> None:
        super().__init__()
        self._world = world
        self._known = known

    def nodes(self, cluster: Key, *, labels: Mapping[str, str] | None = None) -> Sequence[Raw] | Unreachable:
        if self._world.get(kinds.SECRET, Key(cluster.namespace, f"{cluster.name}-kubeconfig")) is None:
            return super().nodes(cluster)
        return self._known.world(cluster).list(kinds.NODE, "", labels=labels)

    def patch_node(self, action: NodePatch) -> None:
        self._known.patch_node(action.cluster, action.name, action.patch)


class WorldSite:
    """Args:
    hosts: how many servers.
    faults: how unkind the world is to the managers.
    """

    def __init__(self, hosts: int = 4, *, faults: Faults | None = None, seed: int = 0) -> None:
        self.namespace = "metal3"
        self.world = EmbeddedServer(name=f"world-{seed}").world
        for definition in install.definitions():
            self.world.create(definition)
        self.world.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        self.clusters = Clusters(Unserved)
        self.servers = {f"redfish-virtualmedia://192.0.2.{n}/redfish/v1/Systems/1": servers.Server(delay=1)
                        for n in range(1, hosts + 1)}  # fmt: skip
        self.scenario = Scenario(
            self.world,
            [definition.manager for definition in wiring.definitions().values()],
            settings=Settings(),
            remote=_Remote(self.world, self.clusters),
            bmc=servers.Servers(self.servers),
            actors=(self._core, self._kubelets),
            faults=faults,
            seed=seed,
        )
        self._core_stand_in = Core(self.world, self.clusters, lambda: self.scenario.now, random.Random(seed))
        views = [WorldServer(address, server) for address, server in self.servers.items()]
        self._kubelet_stand_in = Kubelets(self.world, self.clusters, lambda: views, lambda: self.scenario.now)

    def add_hosts(self) -> None:
        """Registers the servers as host-1, host-2 and so on."""
        for number, address in enumerate(self.servers, 1):
            name = f"host-{number}"
            data = {"username": "YWRtaW4=", "password": "cGFzc3dvcmQ="}
            self.world.create(kinds.SECRET.new(self.namespace, f"{name}-bmc", data=data))
            mac = f"52:54:00:00:00:{number:02x}"
            bmc = {"address": address, "credentialsName": f"{name}-bmc"}
            host = kinds.BARE_METAL_HOST.new(
                self.namespace, name, spec={"online": True, "bootMACAddress": mac, "bmc": bmc}
            )
            host["metadata"]["annotations"] = {"testbed.capm3.metal3.io/boot-mac": mac}
            self.world.create(host)

    def add_cluster(self, workers: int = 2) -> None:
        """Applies the shipped manifest."""
        for obj in manifests.shipped(Values(IMAGE, "demo", self.namespace, workers=workers)):
            self.world.create(obj)

    def settle(self) -> None:
        """Until nothing is left to do for anybody."""
        self.scenario.until_settled(20_000)

    def all(self, kind: Kind) -> Sequence[Raw]:
        return self.world.list(kind, self.namespace)

    def get(self, kind: Kind, name: str) -> Raw | None:
        return self.world.get(kind, Key(self.namespace, name))

    def nodes(self, cluster: str = "demo") -> Sequence[Raw]:
        return self.clusters.nodes(Key(self.namespace, cluster))

    def _core(self, world: World, now: datetime.datetime) -> None:
        controllers.run_all(self._core_stand_in)

    def _kubelets(self, world: World, now: datetime.datetime) -> None:
        self._kubelet_stand_in.look()
