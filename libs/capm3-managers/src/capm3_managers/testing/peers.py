"""Workload clusters and servers for scenarios that need few of either.

Apart from the testbed, whose workload clusters are whole API servers and whose servers speak Redfish.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from capm3_api import meta
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers import diff, hosts
from capm3_managers.plan import NodePatch
from capm3_managers.ports import ApiError, BmcAccess, BmcError, BmcFailure, BmcView, Unreachable


class Workloads:
    """A `RemoteReader` over plain Nodes, and the writes to them.

    Attributes:
        clusters: Nodes by name for each Cluster, or why it can't be reached; a Cluster that is missing here has no
            kubeconfig Secret.
        patches: the Node patches made so far.
    """

    def __init__(self, clusters: Mapping[Key, Sequence[Raw] | Unreachable] | None = None) -> None:
        self.clusters: dict[Key, dict[str, Raw] | Unreachable] = {}
        self.patches: list[NodePatch] = []
        for key, nodes in (clusters or {}).items():
            self.clusters[key] = nodes if isinstance(nodes, Unreachable) else {meta.key_of(n).name: n for n in nodes}

    def nodes(self, cluster: Key, *, labels: Mapping[str, str] | None = None) -> Sequence[Raw] | Unreachable:
        found = self.clusters.get(cluster)
        if found is None:
            text = (
                f'failed to retrieve kubeconfig secret for Cluster "{cluster.name}" in namespace "{cluster.namespace}"'
            )
            return Unreachable("KubeconfigMissing", text)
        if isinstance(found, Unreachable):
            return found
        return [node for node in found.values() if _has(node, labels or {})]

    def patch_node(self, action: NodePatch) -> None:
        """As an API server does: the node must exist, and a provider ID that is set can't be changed."""
        nodes = self.clusters.get(action.cluster)
        if nodes is None or isinstance(nodes, Unreachable):
            raise ApiError(0, "Unreachable", "the workload cluster can't be reached")
        node = nodes.get(action.name)
        if node is None:
            raise ApiError(404, "NotFound", f'nodes "{action.name}" not found')
        old, new = ((part.get("spec") or {}).get("providerID") for part in (node, diff.apply(node, action.patch)))
        if old and old != new:
            raise ApiError(422, "Invalid", "spec.providerID: Forbidden: node updates may not change providerID")
        nodes[action.name] = diff.apply(node, action.patch)
        self.patches.append(action)


class NoServers:
    """A `Bmc` that refuses everything, for scenarios without hardware."""

    def observe(self, access: BmcAccess, *, inventory: bool = False, media: bool = False) -> BmcView | BmcFailure:
        return BmcFailure("NotSupported", "this scenario has no servers", transient=False)

    def perform(self, access: BmcAccess, op: str, args: Mapping[str, str]) -> None:
        raise BmcError(BmcFailure("NotSupported", "this scenario has no servers", transient=False))


def _has(obj: Raw, labels: Mapping[str, str]) -> bool:
    carried = hosts.labels(obj)
    return all(carried.get(name) == value for name, value in labels.items())
