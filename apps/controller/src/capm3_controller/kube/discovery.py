"""Which version of a foreign kind is used: the newest that the server serves and this program reads.

Apart from the client, which takes a kind as it is given. Managers name Cluster API's kinds in v1beta2 and see them so; a
server that only has v1beta1 is asked in that version, and what comes back is lifted (`capm3_api.external.older`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence

from capm3_api import kinds
from capm3_api.external import older
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.ports import ApiError

from capm3_controller.kube.client import PAGE_SIZE, Client, Watch
from capm3_controller.kube.transport import Call, Permit, Transport

SUPPORTED: Mapping[str, Sequence[str]] = dict.fromkeys(
    (kinds.CAPI, kinds.CAPI_IPAM, kinds.CAPI_CONTROL_PLANE), (older.NEW, older.OLD)
)
"""Versions that this program reads, by group, the preferred one first; other kinds have one version."""


class Versions:
    """Finds and remembers versions; thread-safe. A kind that is not installed is looked for again each time."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._lock = threading.Lock()
        self._found: dict[Kind, Kind] = {}
        self._problems: dict[Kind, str] = {}

    def of(self, kind: Kind) -> Kind:
        """The kind in the version to ask in.

        Raises:
            ApiError: the server could not be asked.
        """
        supported = SUPPORTED.get(kind.group)
        if supported is None:
            return kind
        with self._lock:
            found = self._found.get(kind)
        return found or self._look(kind, supported)

    def forget(self, kind: Kind) -> None:
        """After a 404: the version may have gone from the definition."""
        with self._lock:
            self._found.pop(kind, None)

    def problems(self) -> str:
        """Kinds that are served, but in no version that this program reads; ``""`` when there are none."""
        with self._lock:
            return "; ".join(text for _, text in sorted(self._problems.items(), key=lambda item: item[1]))

    def _look(self, kind: Kind, supported: Sequence[str]) -> Kind:
        served = [version for version in self._group_versions(kind) if self._serves(kind, version)]
        best = next((version for version in supported if version in served), None)
        with self._lock:
            self._problems.pop(kind, None)
            if best is not None:
                self._found[kind] = kind.at(best)
            elif served:
                self._problems[kind] = (
                    f"{kind.group} {kind.kind} is served in {', '.join(served)} only; "
                    f"this program reads {', '.join(supported)}"
                )
        return kind if best is None else kind.at(best)

    def _group_versions(self, kind: Kind) -> Sequence[str]:
        return [str(entry.get("version")) for entry in self._ask(f"/apis/{kind.group}").get("versions") or []]

    def _serves(self, kind: Kind, version: str) -> bool:
        found = self._ask(f"/apis/{kind.group}/{version}").get("resources") or []
        return any(resource.get("name") == kind.plural for resource in found)

    def _ask(self, path: str) -> Raw:
        try:
            return self._transport.request(Call("GET", path))
        except ApiError as error:
            if error.status == 404:
                return {}
            raise


class _Lifted(Watch):
    """A watch in an older version, its objects in the newer one."""

    def __init__(self, inner: Watch) -> None:
        self._inner = inner

    def __iter__(self) -> Iterator[tuple[str, Raw]]:
        for type_, obj in self._inner:
            yield type_, older.lift(obj)

    def stop(self) -> None:
        self._inner.stop()

    def release(self) -> None:
        self._inner.release()


class VersionedClient(Client):
    """A `Client` that asks in the version which the server has, and answers in the one it was asked for."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.versions = Versions(transport)

    def get(self, kind: Kind, key: Key) -> Raw | None:
        found = super().get(self.versions.of(kind), key)
        return None if found is None else older.lift(found)

    def list(
        self, kind: Kind, namespace: str, *, labels: Mapping[str, str] | None = None, page_size: int = PAGE_SIZE
    ) -> tuple[Sequence[Raw], str]:
        try:
            items, version = super().list(self.versions.of(kind), namespace, labels=labels, page_size=page_size)
        except ApiError as error:
            if error.status == 404:
                self.versions.forget(kind)
            raise
        return [older.lift(item) for item in items], version

    def watch(
        self,
        kind: Kind,
        namespace: str,
        resource_version: str,
        *,
        timeout: float,
        silence: float,
        labels: Mapping[str, str] | None = None,
    ) -> Watch:
        asked = self.versions.of(kind)
        watch = super().watch(asked, namespace, resource_version, timeout=timeout, silence=silence, labels=labels)
        return watch if asked == kind else _Lifted(watch)

    def create(self, kind: Kind, obj: Raw, *, permit: Permit | None = None) -> Raw:
        asked = self.versions.of(kind)
        sent = obj if asked == kind else {**obj, "apiVersion": asked.api_version}
        return older.lift(super().create(asked, sent, permit=permit))

    def merge(self, kind: Kind, key: Key, patch: Raw, *, subresource: str = "", permit: Permit | None = None) -> Raw:
        asked = self.versions.of(kind)
        sent = patch if asked == kind or "apiVersion" not in patch else {**patch, "apiVersion": asked.api_version}
        return older.lift(super().merge(asked, key, sent, subresource=subresource, permit=permit))

    def json(
        self, kind: Kind, key: Key, operations: Sequence[Raw], *, subresource: str = "", permit: Permit | None = None
    ) -> Raw:
        found = super().json(self.versions.of(kind), key, operations, subresource=subresource, permit=permit)
        return older.lift(found)

    def delete(
        self,
        kind: Kind,
        key: Key,
        *,
        uid: str = "",
        propagation: str = "Background",
        permit: Permit | None = None,
    ) -> None:
        super().delete(self.versions.of(kind), key, uid=uid, propagation=propagation, permit=permit)
