"""An API server in memory: what a real one does with writes, so that managers and clients can be tested against it.

It offers the verbs; the work is done apart: `world_pipeline` leads a write, `world_rules` judges it, `world_store` keeps
it, `gc` deletes, `faults` breaks. Thread-safe. Without HTTP: `capm3_testbed.embedded` puts that in front of it.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from capm3_api import meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import diff
from capm3_managers.plan import Hardware, NodePatch
from capm3_managers.ports import ALL_NAMESPACES, ContractError
from capm3_managers.testing import gc, patches, selectors, world_definitions, world_errors, world_rules
from capm3_managers.testing.faults import Fault, Faults
from capm3_managers.testing.world_pipeline import Pipeline
from capm3_managers.testing.world_reader import Lag, WorldReader
from capm3_managers.testing.world_store import Store
from capm3_managers.testing.world_types import (
    Definition,
    Event,
    Hooks,
    Request,
    Write,
    copied,
    metadata_of,
    received,
    resource_of,
)

Clock = Callable[[], datetime.datetime]
Labels = Mapping[str, str] | str | None

_START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


Found = list[Raw]
Events = list[Event]


class World:
    """Args:
    clock: the time of creation and deletion; without it time stands still.
    name: makes uids and generated names differ from those of another world.
    history: changes remembered for each resource; watches from before answer 410.
    strict_owners: an owner that never existed takes its dependents with it, see `gc.Collector`.
    collect: owner garbage collection and emptying of namespaces.
    log_writes: whether `writes` grows; off for a server that runs long.

    Attributes:
        pipeline: the way of a write, for a server that puts more into its requests; `hooks` is its admission.
        on_node_patch, on_hardware: what `execute.Writer` needs besides an API server; a test sets them.
    """

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        name: str = "",
        history: int = 5000,
        strict_owners: bool = False,
        collect: bool = True,
        log_writes: bool = True,
    ) -> None:
        self.writes: list[Write] = []
        self.on_node_patch: Callable[[NodePatch], None] = _no_nodes
        self.on_hardware: Callable[[Hardware], None] = _no_hardware
        self._clock = clock or (lambda: _START)
        self._faults = Faults()
        self._store = Store(history)
        collector = gc.Collector(self._store, self._now, strict=strict_owners, enabled=collect)
        self.pipeline = Pipeline(self._store, collector, self._faults, self._now, name)
        if log_writes:
            self.pipeline.written = self.writes.append

    # Set-up and looking in from outside

    @property
    def version(self) -> int:
        """The newest resourceVersion."""
        return self._store.version

    @property
    def hooks(self) -> Hooks:
        return self.pipeline.hooks

    def register(self, definition: Definition) -> None:
        """Serves a resource, or serves it differently from now on."""
        self.pipeline.register(definition)

    def definition(self, kind: Kind) -> Definition:
        return self.pipeline.definition(kind)

    def kind_of(self, obj: Mapping[str, Any]) -> Kind:
        """The kind that an object names, in the version it names; one nobody registered gets the usual plural."""
        api_version, kind = obj.get("apiVersion") or "", obj.get("kind") or ""
        if not api_version or not kind:
            raise world_errors.bad_request("Object 'Kind' or 'apiVersion' is missing")
        group, version = meta.group_of(api_version), api_version.rpartition("/")[2]
        for definition in self.pipeline.definitions():
            if (definition.kind.group, definition.kind.kind) == (group, kind):
                return definition.kind.at(version)
        namespaced = bool((obj.get("metadata") or {}).get("namespace"))
        return world_definitions.guess(group, version, kind, namespaced=namespaced)

    def inject(self, fault: Fault) -> None:
        self._faults.add(fault)

    def clear_faults(self) -> None:
        self._faults.clear()

    def put(self, obj: Raw) -> Raw:
        """Stores an object whole, status and server-set metadata included; for the set-up of tests. Follows no rule."""
        obj = received(obj)
        kind, key = self.kind_of(obj), meta.key_of(obj)
        definition, resource = self.definition(kind), resource_of(kind)
        obj = definition.convert([obj], definition.kind.api_version)[0]
        with self._store.lock:
            old = self._store.get(resource, key)
            metadata = dict(metadata_of(obj))
            before = metadata_of(old or {})
            metadata.setdefault("uid", before.get("uid") or self.pipeline.birth().uid)
            metadata.setdefault("creationTimestamp", before.get("creationTimestamp") or self._now())
            if definition.generation and "generation" not in metadata:
                changed = old is not None and world_rules.spec_of(definition, obj) != world_rules.spec_of(
                    definition, old
                )
                metadata["generation"] = before.get("generation", 1) + changed
            obj = {**obj, "metadata": metadata}
            if old is not None and world_rules.same(old, obj):
                return self.pipeline.view(definition, old, kind)
            return self.pipeline.view(definition, self._store.write(resource, key, obj), kind)

    def all(self) -> Found:
        """Every stored object, sorted by resource and key."""
        found: Found = []
        for resource in sorted(self._store.resources()):
            found += [copied(obj) for _, obj in sorted(self._store.snapshot(resource).items())]
        return found

    def reader(self, lag: Lag = 0) -> WorldReader:
        """A `ports.Reader`; its cached reads are `lag` writes old, its live reads are current."""
        return WorldReader(self, lag)

    # Reads

    def get(self, kind: Kind, key: Key, *, version: int | None = None) -> Raw | None:
        """The object, or what it was at an older version; faults hit only reads without one."""
        if version is None:
            self._faults.strike("get", kind, key)
            stored = self._store.get(resource_of(kind), key)
        else:
            stored = self._store.snapshot(resource_of(kind), version).get(key)
        return None if stored is None else self.pipeline.view(self.definition(kind), stored, kind)

    def list(
        self,
        kind: Kind,
        namespace: str,
        *,
        labels: Labels = None,
        fields: str | None = None,
        version: int | None = None,
    ) -> Found:
        """Objects sorted by namespace and name.

        Args:
            namespace: ignored for cluster-scoped kinds.
            labels: mapping or selector text.
        """
        if version is None:
            self._faults.strike("list", kind, Key(namespace, ""))
        definition = self.definition(kind)
        chosen = selectors.both(labels, fields)
        snapshot = self._store.snapshot(resource_of(kind), version)
        anywhere = namespace == ALL_NAMESPACES or not definition.kind.namespaced
        inside = [snapshot[key] for key in sorted(snapshot) if anywhere or key.namespace == namespace]
        found = [copied(obj) for obj in inside if chosen(obj)]
        if all(obj.get("apiVersion") == kind.api_version for obj in found):
            return found
        return definition.convert(found, kind.api_version)

    def watch(self, kind: Kind, since: int | str) -> Events:
        """What happened to the kind after a version, oldest first, in the stored version. Does not wait.

        Raises:
            ApiError: 410, the version is too old.
        """
        return self._store.events(resource_of(kind), int(since))

    def changes(self, kind: Kind, since: int) -> tuple[Events, int]:
        """What `watch` answers, and the version up to which that is everything."""
        with self._store.lock:
            return self._store.events(resource_of(kind), since), self._store.version

    def strike(self, verb: str, kind: Kind, key: Key) -> None:
        """Raises the fault that was injected for such a request, for a server in front of this world."""
        self._faults.strike(verb, kind, key)

    def listen(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Calls `listener` right after each change, in order, while the world is locked. Answers what ends it."""
        return self._store.listen(listener)

    def forget(self, kind: Kind) -> None:
        """Forgets the kind's history, so that every watch from before answers 410."""
        self._store.forget(resource_of(kind))

    # Writes: `execute.Writer` and the plain verbs

    def create(self, obj: Raw, *, dry_run: bool = False) -> Raw:
        kind = self.kind_of(obj)
        return self.pipeline.create(Request("create", kind, meta.key_of(obj), dry_run=dry_run), obj)

    def update(self, obj: Raw, *, subresource: str = "") -> Raw:
        kind = self.kind_of(obj)
        request = Request("update", kind, meta.key_of(obj), subresource, body=obj)
        return self.pipeline.change(request, lambda old: obj)

    def patch(self, kind: Kind, key: Key, patch: Raw, *, subresource: str = "") -> Raw:
        request = Request("patch", kind, key, subresource, body=patch)
        return self.pipeline.change(request, lambda old: diff.apply(old, patch))

    def json_patch(self, kind: Kind, key: Key, ops: Sequence[Raw], *, subresource: str = "") -> Raw:
        request = Request("patch", kind, key, subresource, body=ops)
        return self.pipeline.change(request, lambda old: patches.apply(old, ops))

    def delete(self, kind: Kind, key: Key, *, uid: str = "", propagation: str = "Background") -> None:
        self.pipeline.delete(Request("delete", kind, key), uid=uid, propagation=propagation)

    def patch_node(self, action: NodePatch) -> None:
        self.on_node_patch(action)

    def hardware(self, action: Hardware) -> None:
        self.on_hardware(action)

    def _now(self) -> str:
        return self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")


def _no_nodes(action: NodePatch) -> None:
    raise ContractError("this World has no workload cluster: set world.on_node_patch")


def _no_hardware(action: Hardware) -> None:
    raise ContractError("this World has no servers: set world.on_hardware")
