"""Owner references and the objects that belong together: owner Cluster, owner Machine, Cluster by label.

Apart from the managers, because all of them look their relatives up in the same way (behaviour facts on CAPM3, 4.0.8):
by group, kind and name, never by uid or version, so that a moved cluster goes on; always in the object's own namespace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import hosts
from capm3_managers.ports import Reader


def references(obj: Mapping[str, Any]) -> list[Raw]:
    """``metadata.ownerReferences``; entries that are no objects are left out."""
    found = (obj.get("metadata") or {}).get("ownerReferences")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def reference(obj: Mapping[str, Any], kind: Kind) -> Raw | None:
    """The first owner reference of that group and kind."""
    return next(_matching(obj, kind), None)


def names_of(obj: Mapping[str, Any], kind: Kind) -> list[str]:
    """The names of all owners of that group and kind."""
    return [str(item["name"]) for item in _matching(obj, kind)]


def group_reference(obj: Mapping[str, Any], group: str) -> Raw | None:
    """The first owner reference of that group, whatever its kind."""
    return next((item for item in references(obj) if meta.group_of(str(item.get("apiVersion") or "")) == group), None)


def owner_key(obj: Mapping[str, Any], kind: Kind) -> Key | None:
    """Where the first owner of that kind is, in the object's namespace."""
    found = reference(obj, kind)
    return Key(meta.key_of(obj).namespace, str(found["name"])) if found else None


def find(reader: Reader, obj: Mapping[str, Any], kind: Kind) -> Raw | None:
    """The first owner of that kind; ``None`` when there is no reference or no such object."""
    key = owner_key(obj, kind)
    return reader.get(kind, key) if key else None


def cluster_key(obj: Mapping[str, Any]) -> Key | None:
    """The Cluster that the label ``cluster.x-k8s.io/cluster-name`` names."""
    name = hosts.labels(obj).get(names.CLUSTER_NAME_LABEL)
    return Key(meta.key_of(obj).namespace, str(name)) if name else None


def find_cluster(reader: Reader, obj: Mapping[str, Any]) -> Raw | None:
    """The Cluster that the object's label names."""
    key = cluster_key(obj)
    return reader.get(kinds.CLUSTER, key) if key else None


def make(obj: Mapping[str, Any], *, controller: bool = False) -> Raw:
    """An owner reference to `obj` as the Go program writes it."""
    result: Raw = {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": meta.key_of(obj).name,
        "uid": meta.uid_of(obj),
    }
    return {**result, "controller": True} if controller else result


def _matching(obj: Mapping[str, Any], kind: Kind) -> Iterator[Raw]:
    for item in references(obj):
        group = meta.group_of(str(item.get("apiVersion") or ""))
        if item.get("kind") == kind.kind and group == kind.group and item.get("name"):
            yield item
