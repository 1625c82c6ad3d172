"""Watches: what happened since a version, then what happens, until the client goes, the time is up or the log is lost.

Apart from lists, because a watch lives as long as its connection. Each pulls from the world's log at its own pace and is
only woken by changes, so that a slow client holds nobody up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import orjson
from capm3_api.model import Raw
from capm3_managers.ports import ApiError
from capm3_managers.testing import selectors, world_errors
from capm3_managers.testing.selectors import Predicate
from capm3_managers.testing.world_types import Event, resource_of

from capm3_testbed.embedded import reading, tables
from capm3_testbed.embedded.api import Api
from capm3_testbed.embedded.messages import HttpRequest, HttpResponse, status_body
from capm3_testbed.embedded.registry import Served
from capm3_testbed.embedded.routes import Target

_LONGEST_SECONDS = 1800.0
_LOOK_SECONDS = 1.0
_INITIAL_END = "k8s.io/initial-events-end"


def watch(api: Api, served: Served, target: Target, request: HttpRequest) -> HttpResponse:
    """A stream of watch events, one JSON object a line."""
    api.world.strike("watch", served.kind, target.key)
    since = request.query.get("resourceVersion") or ""
    if since and not since.isdigit():
        raise world_errors.bad_request(f"invalid resourceVersion {since!r}: must be a number")
    return HttpResponse(stream=_Watch(api, served, target, request).run())


class _Watch:
    """One watch; `run` is its life."""

    def __init__(self, api: Api, served: Served, target: Target, request: HttpRequest) -> None:
        self._api = api
        self._served = served
        self._target = target
        self._request = request
        self._form = tables.form(request.headers.get("accept", ""))
        self._chosen = self._predicate()
        self._bookmarks = request.flag("allowWatchBookmarks")
        self._since = 0

    def run(self) -> Iterator[bytes]:
        wake = threading.Event()
        resource = resource_of(self._served.kind)
        self._api.watchers.add(wake)
        stop = self._api.world.listen(lambda event: wake.set() if event.resource == resource else None)
        try:
            yield from self._initial()
            yield from self._follow(wake)
        except ApiError as error:
            yield self._line("ERROR", status_body(error))
        finally:
            stop()
            self._api.watchers.discard(wake)

    def _initial(self) -> Iterator[bytes]:
        """What there is already, unless the client says what it has seen."""
        query = self._request.query
        asked = query.get("resourceVersion") or "0"
        self._since = int(asked)
        send = self._request.flag("sendInitialEvents") if "sendInitialEvents" in query else asked == "0"
        if not send:
            if asked == "0":
                self._since = self._api.world.version
            return
        self._since = self._api.world.version
        space = reading.namespace(self._served, self._target)
        for obj in self._api.world.list(self._served.kind, space, version=self._since):
            if self._chosen(obj):
                yield self._line("ADDED", self._shown(obj))
        if self._request.flag("sendInitialEvents") and self._bookmarks:
            yield self._bookmark({_INITIAL_END: "true"})

    def _follow(self, wake: threading.Event) -> Iterator[bytes]:
        seconds = float(self._request.query.get("timeoutSeconds") or 0) or _LONGEST_SECONDS
        end = time.monotonic() + min(seconds, _LONGEST_SECONDS)
        bookmark = time.monotonic() + self._api.bookmark_seconds
        while self._request.connected() and not self._api.stopping.is_set():
            wake.clear()
            events, self._since = self._api.world.changes(self._served.kind, self._since)
            yield from self._lines(events)
            now = time.monotonic()
            if self._bookmarks and now >= min(bookmark, end):
                yield self._bookmark()
                bookmark = now + self._api.bookmark_seconds
            if now >= end:
                return
            wake.wait(max(min(_LOOK_SECONDS, end - now, bookmark - now), 0.01))

    def _lines(self, events: list[Event]) -> Iterator[bytes]:
        definition = self._api.world.definition(self._served.kind)
        for event in events:
            seen = event.seen(self._chosen)
            if seen is None:
                continue
            obj = self._api.world.pipeline.view(definition, seen[1], self._served.kind)
            yield self._line(seen[0], self._shown(obj))

    def _shown(self, obj: Raw) -> Raw:
        return tables.shown(obj, self._served, self._form, self._request.query)

    def _bookmark(self, annotations: Raw | None = None) -> bytes:
        kind = self._served.kind
        metadata: Raw = {"resourceVersion": str(self._since), "creationTimestamp": None}
        if annotations:
            metadata["annotations"] = annotations
        return self._line("BOOKMARK", {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata})

    def _line(self, type_: str, obj: Raw) -> bytes:
        return orjson.dumps({"type": type_, "object": obj}) + b"\n"

    def _predicate(self) -> Predicate:
        """What the client wants to see: namespace, name in the path, selectors."""
        query, target = self._request.query, self._target
        chosen = selectors.both(query.get("labelSelector"), query.get("fieldSelector"))
        space = target.namespace if self._served.kind.namespaced else ""

        def wanted(obj: Raw) -> bool:
            metadata = obj.get("metadata") or {}
            inside = not space or metadata.get("namespace") == space
            return inside and (not target.name or metadata.get("name") == target.name) and chosen(obj)

        return wanted
