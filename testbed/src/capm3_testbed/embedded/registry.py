"""What the server serves right now: core resources and those of the CustomResourceDefinitions in the world.

Apart from `World`, which stores any kind: paths, discovery, tables and OpenAPI need names, scopes, columns and versions.
"""

from __future__ import annotations

import dataclasses
import threading

from capm3_api import kinds
from capm3_api.meta import Kind, key_of
from capm3_api.model import Raw
from capm3_managers.ports import ALL_NAMESPACES
from capm3_managers.testing.world import World
from capm3_managers.testing.world_types import Definition, Event, Resource, resource_of

from capm3_testbed.embedded import core, crds
from capm3_testbed.embedded.conversion import Converter

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclasses.dataclass(frozen=True)
class Served:
    """One resource in one served version.

    Args:
        kind: in this version.
        columns: of its table, in the form of ``additionalPrinterColumns``.
        schema: ``openAPIV3Schema``; empty for core kinds.
        scale: ``subresources.scale`` of the CRD; empty when there is none.
    """

    kind: Kind
    singular: str
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    columns: tuple[Raw, ...] = ()
    status: bool = False
    schema: Raw = dataclasses.field(default_factory=dict)
    scale: Raw = dataclasses.field(default_factory=dict)
    custom: bool = False
    deprecation: str = ""


class Registry:
    """Follows the CRDs of a world: each one that appears there is served from that moment.

    Args:
        converter: calls conversion webhooks.
    """

    def __init__(self, world: World, converter: Converter) -> None:
        self._world = world
        self._converter = converter
        self._lock = threading.Lock()
        self._served: dict[tuple[str, str, str], Served] = {}
        for row in core.TABLE:
            self._add(Served(row.kind, row.kind.kind.lower(), row.short_names, (), row.columns, row.status))
            world.register(row.definition)
        self._draining: dict[Resource, Raw] = {}
        self._stop = world.listen(self._changed)
        for crd in world.list(kinds.CRD, ""):
            self._install(crd)

    def close(self) -> None:
        self._stop()

    def find(self, group: str, version: str, plural: str) -> Served | None:
        return self._served.get((group, version, plural))

    def all(self) -> list[Served]:
        """Everything served, newest versions of a group first, plurals sorted."""
        with self._lock:
            found = list(self._served.values())
        return sorted(found, key=lambda s: (s.kind.group, crds.version_rank(s.kind.version), s.kind.plural))

    def versions(self, kind: Kind) -> list[Served]:
        """The served versions of a resource."""
        return [s for s in self.all() if resource_of(s.kind) == resource_of(kind)]

    def _add(self, served: Served) -> None:
        kind = served.kind
        self._served[(kind.group, kind.version, kind.plural)] = served

    def _changed(self, event: Event) -> None:
        if event.resource == resource_of(kinds.CRD):
            if event.type == "DELETED":
                self._remove(event.obj)
            elif event.obj["metadata"].get("deletionTimestamp"):
                self._drain(event.obj)
            else:
                self._install(event.obj)
        elif event.type == "DELETED" and event.resource in self._draining:
            self._drain(self._draining[event.resource])

    def _remove(self, crd: Raw) -> None:
        spec = crd["spec"]
        with self._lock:
            for version in spec["versions"]:
                self._served.pop((spec["group"], version["name"], spec["names"]["plural"]), None)

    def _drain(self, crd: Raw) -> None:
        """Deletes the objects of a CRD that is going, and lets it go once there are none."""
        kind = crds.definition(crd, self._converter).kind
        started = resource_of(kind) in self._draining
        self._draining[resource_of(kind)] = crd
        left = self._world.list(kind, ALL_NAMESPACES, version=self._world.version)
        if left and not started:
            for obj in left:
                self._world.delete(kind, key_of(obj))
        elif not left:
            del self._draining[resource_of(kind)]
            finalizers = [name for name in crd["metadata"].get("finalizers") or [] if name != crds.FINALIZER]
            self._world.patch(kinds.CRD, key_of(crd), {"metadata": {"finalizers": finalizers}})

    def _install(self, crd: Raw) -> None:
        """Serves the versions of a CRD, and says so in its status."""
        self._remove(crd)
        definition = crds.definition(crd, self._converter)
        self._world.register(definition)
        with self._lock:
            for version in crd["spec"]["versions"]:
                if version.get("served"):
                    self._add(_served(crd, version, definition))
        finalizers = crd["metadata"].get("finalizers") or []
        if crds.FINALIZER not in finalizers:
            self._world.patch(kinds.CRD, key_of(crd), {"metadata": {"finalizers": [*finalizers, crds.FINALIZER]}})
        status = crds.established(crd)
        if status != crd.get("status"):
            self._world.patch(kinds.CRD, key_of(crd), {"status": status}, subresource="status")


def _served(crd: Raw, version: Raw, definition: Definition) -> Served:
    names = crd["spec"]["names"]
    return Served(
        kind=definition.kind.at(version["name"]),
        singular=names.get("singular") or names["kind"].lower(),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        columns=tuple(version.get("additionalPrinterColumns") or core.AGE_ONLY),
        status="status" in (version.get("subresources") or {}),
        schema=(version.get("schema") or {}).get("openAPIV3Schema") or {},
        scale=(version.get("subresources") or {}).get("scale") or {},
        custom=True,
        deprecation=crds.deprecation(crd, version),
    )
