"""Moves stored objects to the storage version, so that an old API version can leave the CRDs one day.

A job of its own and not a manager: it works on definitions, not on objects, needs JSON patches, and has nothing to decide
about bare metal. It does what Cluster API's crdmigrator does, for all nine kinds (behaviour facts on CAPM3, section 4.8).
"""

from __future__ import annotations

import datetime
import functools
import logging
import threading
from collections.abc import Callable, Collection, Sequence

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.ports import ALL_NAMESPACES, ApiError

from capm3_controller.kube.client import Client
from capm3_controller.kube.fence import Fence

log = logging.getLogger(__name__)

NAME = "crdmigrator"
ANNOTATION = "crd-migration.cluster.x-k8s.io/observed-generation"
STORAGE, FIELDS = "StorageVersionMigration", "CleanupManagedFields"
_FIRST_PAUSE, _LONGEST_PAUSE = 10.0, 300.0


def definition_name(kind: Kind) -> str:
    """The name of a kind's CRD; from the table's plural, not guessed (the Go program misses ``metal3datas``)."""
    return f"{kind.plural}.{kind.group}"


class Migrator:
    """Args:
    skip: phases that are left out.
    count: hears the result of each definition, ``success`` or ``error``.
    """

    def __init__(
        self,
        client: Client,
        fence: Fence,
        skip: Collection[str] = (),
        *,
        count: Callable[[str], object] = lambda result: None,
        migrated: Sequence[Kind] = kinds.OURS,
    ) -> None:
        self._client = client
        self._fence = fence
        self._phases = [phase for phase in (STORAGE, FIELDS) if phase not in skip]
        self._count = count
        self._kinds = migrated
        self._done: set[tuple[str, str]] = set()

    def job(self, period: float) -> Callable[[threading.Event], None]:
        """Looks at all definitions now and every `period` seconds, sooner after a failure, until stopped."""

        def run(stopped: threading.Event) -> None:
            pause = _FIRST_PAUSE
            while self._phases and not stopped.is_set():
                failed = self.turn(stopped)
                if stopped.wait(pause if failed else max(period, _LONGEST_PAUSE)):
                    return
                pause = min(pause * 2, _LONGEST_PAUSE) if failed else _FIRST_PAUSE

        return run

    def turn(self, stopped: threading.Event | None = None) -> Sequence[str]:
        """One look at all definitions; the names of those that failed and should be tried again."""
        failed = []
        for kind in self._kinds:
            if stopped is not None and stopped.is_set():
                break
            name = definition_name(kind)
            try:
                self._migrate(kind, name)
                self._count("success")
            except ApiError as error:
                self._count("error")
                facts = {"controller": NAME, "name": name, "err": str(error)}
                if error.status == 403:
                    log.warning("A CRD can't be migrated: a right is missing", extra={"facts": facts})
                    continue
                level = logging.INFO if error.is_conflict else logging.ERROR
                log.log(level, "A CRD could not be migrated; trying again", extra={"facts": facts})
                failed.append(name)
        return failed

    def _migrate(self, kind: Kind, name: str) -> None:
        definition = self._client.get(kinds.CRD, Key("", name))
        if definition is None:
            return
        metadata = definition["metadata"]
        generation = str(metadata.get("generation") or "")
        if (metadata.get("annotations") or {}).get(ANNOTATION) == generation:
            return
        storage = storage_version(definition)
        if STORAGE in self._phases and (definition.get("status") or {}).get("storedVersions") != [storage]:
            self._rewrite_all(kind.at(storage))
            definition = self._write(
                name,
                {"metadata": {"resourceVersion": meta.version_of(definition)}, "status": {"storedVersions": [storage]}},
                subresource="status",
            )
        if FIELDS in self._phases:
            self._clean_all(kind.at(storage), served_versions(definition))
        # the version stands for the generation: a definition that changed meanwhile is looked at again
        patch = {"metadata": {"resourceVersion": meta.version_of(definition), "annotations": {ANNOTATION: generation}}}
        self._write(name, patch)
        log.info("Migrated a CRD", extra={"facts": {"controller": NAME, "name": name, "storage": storage}})

    def _rewrite_all(self, kind: Kind) -> None:
        """A patch that changes nothing makes the server store the object anew, in the storage version."""
        items, _ = self._client.list(kind, ALL_NAMESPACES)
        for obj in items:
            mark = (meta.uid_of(obj), STORAGE)
            if mark in self._done:
                continue
            key = meta.key_of(obj)
            patch = {
                "apiVersion": kind.api_version,
                "kind": kind.kind,
                "metadata": {"namespace": key.namespace, "name": key.name, "resourceVersion": meta.version_of(obj)},
            }
            self._on_object(functools.partial(self._client.merge, kind, key, patch, permit=self._fence.permit))
            self._done.add(mark)

    def _clean_all(self, kind: Kind, served: Collection[str]) -> None:
        items, _ = self._client.list(kind, ALL_NAMESPACES)
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for obj in items:
            operations = clean_fields(obj, kind, served, now)
            if operations:
                key = meta.key_of(obj)
                self._on_object(functools.partial(self._client.json, kind, key, operations, permit=self._fence.permit))

    def _on_object(self, write: Callable[[], object]) -> None:
        """An object that is gone or was just written by somebody else needs no rewriting."""
        try:
            write()
        except ApiError as error:
            if not (error.is_not_found or error.is_conflict):
                raise

    def _write(self, name: str, patch: Raw, subresource: str = "") -> Raw:
        permit = self._fence.permit
        return self._client.merge(kinds.CRD, Key("", name), patch, subresource=subresource, permit=permit)


def storage_version(definition: Raw) -> str:
    return str(next(version["name"] for version in definition["spec"]["versions"] if version.get("storage")))


def served_versions(definition: Raw) -> Collection[str]:
    """As ``group/version``."""
    group = definition["spec"]["group"]
    return {f"{group}/{version['name']}" for version in definition["spec"]["versions"] if version.get("served")}


def clean_fields(obj: Raw, kind: Kind, served: Collection[str], now: str) -> Sequence[Raw]:
    """The JSON patch that drops managed fields of versions that are not served; empty when there are none.

    An object whose managed fields are all gone would get an entry for everything at its next write by anybody; one entry
    for its name alone keeps that from happening.
    """
    entries = (obj.get("metadata") or {}).get("managedFields") or []
    kept = [entry for entry in entries if entry.get("apiVersion") in served]
    if len(kept) == len(entries):
        return ()
    if not kept:
        kept = [
            {
                "manager": NAME,
                "operation": "Apply",
                "apiVersion": kind.api_version,
                "time": now,
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:metadata": {"f:name": {}}},
            }
        ]
    return (
        {"op": "replace", "path": "/metadata/managedFields", "value": kept},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": meta.version_of(obj)},
    )
