"""The stand-in for kubelets: a server that runs from its image registers as a Node; one that is off falls silent.

It looks at the servers themselves (power, what they booted from), as a real kubelet is there only when its machine runs;
the API objects alone would let a host look provisioned that never booted.
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from capm3_api import kinds, meta, names
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_managers.ports import ALL_NAMESPACES

from capm3_testbed.capi.api import Api, mapping, name_of, text
from capm3_testbed.workload import configdrive, nodeconfig
from capm3_testbed.workload.clusters import Clusters

log = logging.getLogger(__name__)


class Server(Protocol):
    """A made-up server as the kubelets need it."""

    @property
    def address(self) -> str:
        """As in ``BareMetalHost.spec.bmc.address``."""
        ...

    def running_image(self) -> tuple[str, int]:
        """URL of the image it runs from (``""`` when it is off or runs from disk) and how often it was started."""
        ...


class Kubelets:
    """The kubelets of all servers.

    Attributes:
        problems: for each host name why its machine did not become a Node.
    """

    def __init__(
        self,
        api: Api,
        clusters: Clusters,
        servers: Callable[[], Sequence[Server]],
        clock: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
    ) -> None:
        self._api = api
        self._clusters = clusters
        self._servers = servers
        self._clock = clock
        self._booted: dict[str, int] = {}
        self._nodes: dict[str, tuple[Key, str]] = {}
        self.problems: dict[str, str] = {}

    def look(self) -> int:
        """One look at all servers.

        Returns:
            how many Nodes it wrote.
        """
        hosts = {
            text(host, "spec", "bmc", "address"): host for host in self._api.list(kinds.BARE_METAL_HOST, ALL_NAMESPACES)
        }
        changed = 0
        for server in self._servers():
            host = hosts.get(server.address)
            image, boots = server.running_image()
            if not image:
                changed += self._silent(server.address)
            elif host is not None and self._booted.get(server.address) != boots:
                changed += self._register(server.address, host, image, boots)
        return changed

    def _register(self, address: str, host: Raw, image: str, boots: int) -> bool:
        """The machine's kubelet comes up; says whether it wrote its Node."""
        if text(host, "spec", "image", "url") != image:
            return False
        cluster = self._cluster(host)
        if cluster is None:
            return False
        try:
            config = nodeconfig.derive(configdrive.read(self._api, host))
        except (configdrive.ConfigDriveError, nodeconfig.BootstrapError) as error:
            self.problems[name_of(host)] = str(error)
            log.debug("host %s: %s", name_of(host), error)
            return False
        self.problems.pop(name_of(host), None)
        self._write(cluster, nodeconfig.node(config, self._now(), self._version(host)))
        self._booted[address] = boots
        self._nodes[address] = (cluster, config.name)
        return True

    def _write(self, cluster: Key, node: Raw) -> None:
        """Creates the Node, or reports its status again; labels that others gave it stay."""
        world = self._clusters.world(cluster)
        key = meta.key_of(node)
        if world.get(kinds.NODE, key) is None:
            world.create({name: value for name, value in node.items() if name != "status"})
        else:
            world.patch(kinds.NODE, key, {"metadata": {"labels": node["metadata"]["labels"]}})
        world.patch(kinds.NODE, key, {"status": node["status"]}, subresource="status")

    def _silent(self, address: str) -> bool:
        """A machine that stopped: its Node, if it is still there, is no longer ready."""
        self._booted.pop(address, None)
        cluster, name = self._nodes.pop(address, (None, ""))
        if cluster is None or not any(name_of(node) == name for node in self._clusters.nodes(cluster)):
            return False
        world = self._clusters.world(cluster)
        node = world.get(kinds.NODE, Key("", name)) or {}
        version = text(node, "status", "nodeInfo", "kubeletVersion")
        addresses = mapping(node, "status").get("addresses") or []
        status = nodeconfig.status("Unknown", self._now(), version, addresses)
        world.patch(kinds.NODE, Key("", name), {"status": status}, subresource="status")
        return True

    def _cluster(self, host: Raw) -> Key | None:
        """The cluster of the Metal3Machine that holds the host; a real machine knows it from its bootstrap data."""
        ref = mapping(host, "spec", "consumerRef")
        key = Key(text(ref, "namespace") or meta.key_of(host).namespace, text(ref, "name"))
        machine = self._api.get(kinds.METAL3_MACHINE, key) if key.name else None
        name = text(machine or {}, "metadata", "labels", names.CLUSTER_NAME_LABEL)
        return Key(key.namespace, name) if name else None

    def _version(self, host: Raw) -> str:
        name = text(host, "spec", "consumerRef", "name")
        machine = self._api.get(kinds.MACHINE, Key(meta.key_of(host).namespace, name)) if name else None
        return text(machine or {}, "spec", "version")

    def _now(self) -> str:
        return self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")
