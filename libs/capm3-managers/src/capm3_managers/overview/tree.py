"""The objects of a cluster as a tree: owners above what they own, each with its state.

Apart from `chain`, which follows what an object waits for, not whose it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from capm3_api import kinds, meta, names
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers import hosts, owners
from capm3_managers.overview import states
from capm3_managers.overview.objects import Objects

KINDS = (
    kinds.CLUSTER,
    kinds.KUBEADM_CONTROL_PLANE,
    kinds.MACHINE_DEPLOYMENT,
    kinds.MACHINE_SET,
    kinds.MACHINE,
    kinds.METAL3_CLUSTER,
    kinds.METAL3_MACHINE,
    kinds.METAL3_DATA_TEMPLATE,
    kinds.METAL3_DATA,
    kinds.METAL3_DATA_CLAIM,
    kinds.BARE_METAL_HOST,
    kinds.IP_POOL,
    kinds.IP_CLAIM,
    kinds.IP_ADDRESS,
    kinds.KUBEADM_CONFIG,
)
"""What a tree shows, in this order among the children of one object."""


def forest(objects: Objects) -> list[Raw]:
    """The trees of all objects: for each its kind, name, state, why, done and children, recursively."""
    everything = [obj for kind in KINDS for obj in objects.all(kind)]
    children: dict[str, list[Raw]] = {}
    roots: list[Raw] = []
    known = _Known(everything)
    for obj in everything:
        parent = known.parent(obj)
        (children.setdefault(parent, []) if parent else roots).append(obj)
    return [_node(obj, children, objects, frozenset()) for obj in roots]


def cluster(objects: Objects, key: Key) -> Raw | None:
    """The tree of one Cluster; ``None`` when there is none of that name."""
    found = [item for item in forest(objects) if (item["kind"], item["name"]) == (kinds.CLUSTER.kind, key.name)]
    return next((item for item in found if item["namespace"] == key.namespace), None)


def lines(node: Raw, head: str = "", below: str = "") -> Iterator[str]:
    """The tree as text."""
    told = ": ".join(part for part in (node["state"], node["why"]) if part)
    mark = "" if node["done"] else " !"
    yield f"{head}{node['kind']}/{node['name']}{mark}{f'  {told}' if told else ''}"
    children: Sequence[Raw] = node["children"]
    for place, child in enumerate(children):
        last = place == len(children) - 1
        yield from lines(child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))


class _Known:
    """Finds what an object hangs under: its owner, the machine that holds a host, else its cluster.

    A data template that names no cluster hangs under the cluster of a machine that uses it.
    """

    def __init__(self, everything: Sequence[Raw]) -> None:
        self._uids = {meta.uid_of(obj) for obj in everything}
        self._by_key = {(str(obj.get("kind")), meta.key_of(obj)): meta.uid_of(obj) for obj in everything}
        self._users = {
            Key(meta.key_of(obj).namespace, hosts.text(obj, "spec", "dataTemplate", "name")): _cluster_name(obj)
            for obj in everything
            if obj.get("kind") == kinds.METAL3_MACHINE.kind
        }

    def parent(self, obj: Raw) -> str:
        """The uid; ``""`` for a root."""
        for ref in owners.references(obj):
            if ref.get("uid") in self._uids:
                return str(ref["uid"])
        if obj.get("kind") == kinds.BARE_METAL_HOST.kind:
            holder = hosts.consumer(obj) or {}
            name = str(holder.get("name") or "")
            return self._by_key.get(
                (str(holder.get("kind") or kinds.METAL3_MACHINE.kind), Key(meta.key_of(obj).namespace, name)), ""
            )
        if obj.get("kind") == kinds.CLUSTER.kind:
            return ""
        name = _cluster_name(obj)
        if obj.get("kind") == kinds.METAL3_DATA_TEMPLATE.kind:
            name = name or self._users.get(meta.key_of(obj), "")
        return self._by_key.get((kinds.CLUSTER.kind, Key(meta.key_of(obj).namespace, name)), "")


def _cluster_name(obj: Raw) -> str:
    """As its spec or its label says; ``""`` when neither does."""
    return hosts.text(obj, "spec", "clusterName") or str(hosts.labels(obj).get(names.CLUSTER_NAME_LABEL) or "")


def _node(obj: Raw, children: Mapping[str, list[Raw]], objects: Objects, above: frozenset[str]) -> Raw:
    uid = meta.uid_of(obj)
    below = [] if uid in above else children.get(uid, [])
    return {
        "namespace": meta.key_of(obj).namespace,
        **dataclasses.asdict(states.of(obj, objects)),
        "children": [_node(child, children, objects, above | {uid}) for child in below],
    }
