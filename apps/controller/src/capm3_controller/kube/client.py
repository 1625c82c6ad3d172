"""The verbs of the Kubernetes API on raw objects: get, list, watch, create, three kinds of patch, delete.

A thin client of our own: the official one guesses a patch's content type, and knows no list that follows ``continue``.
What a call means is fixed by the method's name; see `transport` for connections and errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from capm3_api import meta, names
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.ports import ALL_NAMESPACES, ApiError

from capm3_controller.kube import answers, paths
from capm3_controller.kube.stream import Stream
from capm3_controller.kube.transport import Call, Permit, Transport

PAGE_SIZE = 500
_RESTARTS = 3
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class Watch:
    """A running watch: an iterator of (type, object) that another thread may stop.

    An ``ERROR`` event ends it with `ApiError`; reason ``Expired`` or ``Gone`` means "list again".
    """

    def __init__(self, stream: Stream, what: str) -> None:
        self._stream = stream
        self._what = what

    def __iter__(self) -> Iterator[tuple[str, Raw]]:
        for event in self._stream:
            obj = event.get("object") or {}
            if event.get("type") == "ERROR":
                raise answers.refusal(int(obj.get("code") or 0), obj, self._what)
            yield str(event.get("type")), obj

    def stop(self) -> None:
        self._stream.close()

    def release(self) -> None:
        self._stream.release()


class Client:
    """One API server. All methods block and raise `ApiError`; writes may carry a `permit`, see `transport.Call`."""

    def __init__(self, transport: Transport, field_manager: str = names.FIELD_MANAGER) -> None:
        self.transport = transport
        self._writes = (("fieldManager", field_manager),)

    def get(self, kind: Kind, key: Key) -> Raw | None:
        """The object, ``None`` when there is none (or its kind is not installed)."""
        try:
            return self.transport.request(Call("GET", paths.of(kind, key)))
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list(
        self, kind: Kind, namespace: str, *, labels: Mapping[str, str] | None = None, page_size: int = PAGE_SIZE
    ) -> tuple[Sequence[Raw], str]:
        """All objects, page after page, and the resourceVersion to watch from.

        A page that expired (410) starts the list again; any other error aborts it: part of a list is never returned.

        Raises:
            ApiError: status 404 when the kind is not installed.
        """
        for left in reversed(range(_RESTARTS)):
            try:
                return self._pages(kind, namespace, labels, page_size)
            except ApiError as error:
                if error.status != 410 or not left:
                    raise
        raise AssertionError("unreachable")

    def _pages(
        self, kind: Kind, namespace: str, labels: Mapping[str, str] | None, page_size: int
    ) -> tuple[Sequence[Raw], str]:
        query = [("limit", str(page_size)), *_selector(labels)]
        path = paths.collection(kind, "" if namespace == ALL_NAMESPACES else namespace)
        items: list[Raw] = []
        more = ""
        while True:
            page = self.transport.request(Call("GET", path, tuple([*query, ("continue", more)] if more else query)))
            for item in page.get("items") or []:
                # the server leaves these two out of the items of built-in kinds
                item.setdefault("apiVersion", kind.api_version)
                item.setdefault("kind", kind.kind)
                items.append(item)
            metadata = page.get("metadata") or {}
            more = metadata.get("continue") or ""
            if not more:
                return items, str(metadata.get("resourceVersion") or "")

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
        """Opens a watch with bookmarks.

        Args:
            timeout: seconds after which the server ends it.
            silence: seconds without a byte after which the connection counts as dead; longer than `timeout`.
        """
        query = (
            ("watch", "1"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", resource_version),
            ("timeoutSeconds", str(max(1, round(timeout)))),
            *_selector(labels),
        )
        path = paths.collection(kind, "" if namespace == ALL_NAMESPACES else namespace)
        call = Call("GET", path, query, read_timeout=silence, watch=True)
        return Watch(self.transport.stream(call), str(call))

    def create(self, kind: Kind, obj: Raw, *, permit: Permit | None = None) -> Raw:
        path = paths.collection(kind, meta.key_of(obj).namespace)
        return self.transport.request(Call("POST", path, self._writes, obj, permit=permit))

    def merge(self, kind: Kind, key: Key, patch: Raw, *, subresource: str = "", permit: Permit | None = None) -> Raw:
        """JSON merge patch (RFC 7386): ``None`` removes a field; ``metadata.resourceVersion`` is a precondition."""
        return self._patch(MERGE_PATCH, paths.of(kind, key, subresource), patch, permit)

    def json(
        self, kind: Kind, key: Key, operations: Sequence[Raw], *, subresource: str = "", permit: Permit | None = None
    ) -> Raw:
        """JSON patch (RFC 6902)."""
        return self._patch(JSON_PATCH, paths.of(kind, key, subresource), list(operations), permit)

    def apply(self, kind: Kind, obj: Raw, *, subresource: str = "", force: bool = True) -> Raw:
        """Server-side apply under the client's field manager."""
        query = (*self._writes, ("force", "true" if force else "false"))
        path = paths.of(kind, meta.key_of(obj), subresource)
        return self.transport.request(Call("PATCH", path, query, obj, APPLY_PATCH))

    def delete(
        self,
        kind: Kind,
        key: Key,
        *,
        uid: str = "",
        propagation: str = "Background",
        permit: Permit | None = None,
    ) -> None:
        """Deletes; with `uid` only that very object, else 409."""
        body: Raw = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        if uid:
            body["preconditions"] = {"uid": uid}
        self.transport.request(Call("DELETE", paths.of(kind, key), (), body, permit=permit))

    def close(self) -> None:
        self.transport.close()

    def _patch(self, content_type: str, path: str, body: Any, permit: Permit | None) -> Raw:
        return self.transport.request(Call("PATCH", path, self._writes, body, content_type, permit=permit))


def _selector(labels: Mapping[str, str] | None) -> list[tuple[str, str]]:
    if not labels:
        return []
    return [("labelSelector", ",".join(f"{name}={value}" for name, value in sorted(labels.items())))]
