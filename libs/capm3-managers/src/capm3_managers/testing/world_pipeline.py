"""The way of one write through the server: decode, rules, admission, validation, commit by compare-and-swap.

Apart from `World`, whose verbs are for tests and managers: the embedded HTTP server enters here, with requests that carry
dry run, field validation and warnings. Hooks and conversions run outside the lock.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from typing import Any

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers.testing import world_definitions, world_errors, world_metadata, world_rules
from capm3_managers.testing.faults import Faults
from capm3_managers.testing.gc import Collector
from capm3_managers.testing.world_errors import Cause
from capm3_managers.testing.world_store import Store
from capm3_managers.testing.world_types import (
    Definition,
    Hooks,
    Request,
    Resource,
    Write,
    copied,
    metadata_of,
    received,
    resource_of,
    whole_numbers,
)

_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_ATTEMPTS = 16


class Pipeline:
    """Args:
    now: RFC 3339 time.
    name: makes uids and generated names differ from those of another world.
    written: told of every write that was carried out.
    """

    def __init__(self, store: Store, collector: Collector, faults: Faults, now: Callable[[], str], name: str) -> None:
        self.hooks = Hooks()
        self.written: Callable[[Write], None] = lambda write: None
        self._store = store
        self._gc = collector
        self._faults = faults
        self._now = now
        self._name = name
        self._born = 0
        self._definitions: dict[Resource, Definition] = {}
        for definition in (*world_definitions.CORE, *world_definitions.CUSTOM):
            self.register(definition)

    def register(self, definition: Definition) -> None:
        """Serves a resource, or serves it differently from now on."""
        self._definitions[resource_of(definition.kind)] = definition

    def definition(self, kind: Kind) -> Definition:
        """What is known of the kind's resource; one nobody registered is taken for a custom one with a status."""
        found = self._definitions.get(resource_of(kind))
        if found is None:
            found = Definition(kind)
            self.register(found)
        return found

    def definitions(self) -> list[Definition]:
        return list(self._definitions.values())

    def create(self, request: Request, obj: Raw) -> Raw:
        """Creates an object; ``request.key`` may lack the name when there is a ``generateName``."""
        self._faults.strike("create", request.kind, request.key)
        definition = self.definition(request.kind)
        self._check_namespace(request)
        birth = self.birth()
        versioned = bool(metadata_of(obj).get("resourceVersion"))
        obj = self._decoded(definition, received(obj), request)
        obj = world_rules.prepare_create(definition, obj, request, birth)
        obj = self._mutated(definition, obj, None, request)
        obj = world_rules.prepare_create(definition, obj, request, birth)
        self._validate(definition, request, obj, None)
        self.hooks.validate(request, obj, None)
        if versioned:  # the real server, too, finds out last, and calls it its own error
            raise world_errors.StatusError(500, "", "resourceVersion should not be set on objects to be created")
        stored = whole_numbers(definition.convert([obj], definition.kind.api_version)[0])
        resource, key = resource_of(request.kind), meta.key_of(obj)
        with self._store.lock:
            if self._store.get(resource, key) is not None:
                raise world_errors.already_exists(request.kind, key.name)
            if request.dry_run:
                return obj
            written = self._store.write(resource, key, stored)
            self._logged(request, key, obj)
            self._gc.written(resource, key)
        self._faults.strike("create", request.kind, key, after=True)
        return self.view(definition, written, request.kind)

    def change(self, request: Request, change: Callable[[Raw], Raw]) -> Raw:
        """Updates or patches: `change` makes the new object of a copy of the old one; tried again when others write."""
        self._faults.strike(request.verb, request.kind, request.key)
        definition = self.definition(request.kind)
        if request.subresource and not (request.subresource == "status" and definition.status):
            raise world_errors.no_such_path()
        for _ in range(_ATTEMPTS):
            stored = self._store.get(resource_of(request.kind), request.key)
            if stored is None:
                raise world_errors.not_found(request.kind, request.key.name)
            old = self.view(definition, stored, request.kind)
            new = self._admitted(definition, request, old, change(copied(old)))
            answer = self._commit(definition, request, stored, new)
            if answer is not None:
                self._faults.strike(request.verb, request.kind, request.key, after=True)
                return answer
        raise world_errors.conflict(request.kind, request.key.name)

    def delete(
        self, request: Request, *, uid: str = "", version: str = "", propagation: str = "Background"
    ) -> Raw | None:
        """Deletes; the object while finalizers keep it, else ``None``.

        Args:
            uid: precondition, so is `version`.
        """
        self._faults.strike("delete", request.kind, request.key)
        definition = self.definition(request.kind)
        resource = resource_of(request.kind)
        for _ in range(_ATTEMPTS):
            stored = self._store.get(resource, request.key)
            if stored is None:
                raise world_errors.not_found(request.kind, request.key.name)
            old = self.view(definition, stored, request.kind)
            _check_delete(request, old, uid, version)
            self.hooks.validate(request, None, old)
            with self._store.lock:
                if self._store.get(resource, request.key) is not stored:
                    continue
                if request.dry_run:
                    return old
                left = self._gc.delete(resource, request.key, propagation)
                self._logged(request, request.key, None)
            self._faults.strike("delete", request.kind, request.key, after=True)
            return None if left is None else self.view(definition, left, request.kind)
        raise world_errors.conflict(request.kind, request.key.name)

    def view(self, definition: Definition, stored: Raw, kind: Kind) -> Raw:
        """A copy in the version of `kind`."""
        found: Raw = copied(stored)
        if found.get("apiVersion") == kind.api_version:
            return found
        return definition.convert([found], kind.api_version)[0]

    def birth(self) -> world_rules.Birth:
        """Uid, time and name suffix of the next new object; a world of the same name repeats them."""
        with self._store.lock:
            self._born += 1
            seed = f"{self._name}/{self._born}"
        draw = hashlib.sha256(seed.encode()).digest()
        suffix = "".join(_SUFFIX_LETTERS[byte % len(_SUFFIX_LETTERS)] for byte in draw[:5])
        return world_rules.Birth(str(uuid.UUID(bytes=draw[:16], version=4)), self._now(), suffix)

    def _admitted(self, definition: Definition, request: Request, old: Raw, new: Raw) -> Raw:
        new = self._decoded(definition, received(new), request)
        new = world_rules.prepare_update(definition, old, new, request)
        new = self._mutated(definition, new, old, request)
        new = world_rules.prepare_update(definition, old, new, request)
        self._validate(definition, request, new, old)
        self.hooks.validate(request, new, old)
        return new

    def _validate(self, definition: Definition, request: Request, new: Raw, old: Raw | None) -> None:
        """Refuses what breaks rules of the metadata or of the kind, everything in one answer."""
        causes = [*world_metadata.causes(definition, new, old), *definition.validate(new, old, request)]
        if causes:
            raise world_errors.invalid(request.kind, metadata_of(new).get("name") or "", causes)

    def _commit(self, definition: Definition, request: Request, stored: Raw, new: Raw) -> Raw | None:
        """Stores the change unless somebody else wrote in between (then ``None``)."""
        resource = resource_of(request.kind)
        to_store: Raw = definition.convert([new], definition.kind.api_version)[0]
        with self._store.lock:
            if self._store.get(resource, request.key) is not stored:
                return None
            if request.dry_run:
                return new
            self._logged(request, request.key, request.body)
            if world_rules.same(stored, to_store):
                return self.view(definition, stored, request.kind)
            written = self._store.write(resource, request.key, whole_numbers(to_store))
            self._gc.written(resource, request.key)
        return self.view(definition, written, request.kind)

    def _check_namespace(self, request: Request) -> None:
        """Nothing new comes into a namespace that is going."""
        stored = self._store.get(resource_of(kinds.NAMESPACE), Key("", request.key.namespace))
        if stored is not None and metadata_of(stored).get("deletionTimestamp"):
            why = f"unable to create new content in namespace {request.key.namespace} because it is being terminated"
            raise world_errors.forbidden(request.kind, request.key.name, why)

    def _decoded(self, definition: Definition, obj: Raw, request: Request) -> Raw:
        for field, wanted in (("kind", request.kind.kind), ("apiVersion", request.kind.api_version)):
            if obj.get(field) != wanted:
                text = f'Invalid value: "{obj.get(field)}": must be {wanted}'
                if request.verb != "patch":
                    raise world_errors.bad_request(f"{field}: {text}")
                raise world_errors.invalid(request.kind, request.key.name, [Cause("FieldValueInvalid", field, text)])
        if not isinstance(obj.get("metadata", {}), dict):
            raise world_errors.bad_request("metadata: must be an object")
        return definition.decode(obj, request)

    def _mutated(self, definition: Definition, obj: Raw, old: Raw | None, request: Request) -> Raw:
        changed = self.hooks.mutate(request, obj, old)
        return obj if changed is obj else self._decoded(definition, received(changed), request)

    def _logged(self, request: Request, key: Key, body: Any) -> None:
        self.written(Write(request.verb, request.kind, key, received(body)))


def _check_delete(request: Request, old: Raw, uid: str, version: str) -> None:
    name = request.key.name
    if uid and uid != meta.uid_of(old):
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {meta.uid_of(old)}"
        raise world_errors.conflict(request.kind, name, why)
    if version and version != meta.version_of(old):
        why = f"Precondition failed: ResourceVersion in precondition: {version}, in object meta: {meta.version_of(old)}"
        raise world_errors.conflict(request.kind, name, why)
