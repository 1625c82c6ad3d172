"""The watched kinds together: a store and a reflector each, subscribers, and the managers' `Reader` over them.

Apart from the reflector, which keeps one store right, this knows which kinds are watched at all, who wants to hear of a
change, and when a read must go to the server instead.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.indexes import INDEXES
from capm3_managers.ports import ALL_NAMESPACES, ApiError

from capm3_controller.kube.client import Client
from capm3_controller.kube.reflector import Reflector, Scope, Timing
from capm3_controller.kube.store import Change, Store

log = logging.getLogger(__name__)

Handler = Callable[[Change], None]

LIMITED: Mapping[Kind, Mapping[str, str]] = {kinds.SECRET: {"environment.metal3.io": "baremetal"}}
"""Kinds of which only the objects with these labels are ever watched; they wake, but are always read live."""


class KindCache:
    """One kind; the sink of its reflector.

    Subscribers are called in the reflector's thread, one change after the other.
    """

    def __init__(self, client: Client, kind: Kind, namespace: str, timing: Timing, clock: Callable[[], float]) -> None:
        self.kind = kind
        self.store = Store(kind)
        self.synced = threading.Event()
        self.installed = True
        scope = namespace if kind.namespaced else ALL_NAMESPACES
        self.reflector = Reflector(client, Scope(kind, scope, LIMITED.get(kind)), self, timing=timing, clock=clock)
        self._lock = threading.RLock()
        self._handlers: list[Handler] = []

    def subscribe(self, handler: Handler) -> None:
        """Every change from now on, and what is there already as new."""
        with self._lock:
            for obj in self.store.list():
                _call(handler, Change(None, obj), self.kind)
            self._handlers.append(handler)

    def listed(self, items: list[Raw], version: str) -> None:
        with self._lock:
            self.installed = True
            changes = self.store.replace(items, version)
            self.synced.set()
            self._publish(changes)

    def event(self, type_: str, obj: Raw) -> str:
        with self._lock:
            change = self.store.event(type_, obj)
            if change is not None:
                self._publish([change])
            return self.store.version

    def missing(self) -> None:
        with self._lock:
            self.installed = False
            changes = self.store.replace([], "")
            self.synced.set()
            self._publish(changes)

    def _publish(self, changes: Sequence[Change]) -> None:
        for change in changes:
            for handler in self._handlers:
                _call(handler, change, self.kind)


class Cache:
    """All watched kinds, and the `Reader` of the managers.

    Args:
        namespace: the only one to watch, or `ALL_NAMESPACES`.
    """

    def __init__(
        self,
        client: Client,
        watched: Iterable[Kind],
        namespace: str = ALL_NAMESPACES,
        *,
        timing: Timing = Timing(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self.kinds: Mapping[Kind, KindCache] = {
            kind: KindCache(client, kind, namespace, timing, clock) for kind in dict.fromkeys(watched)
        }
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        for kind, cache in self.kinds.items():
            thread = threading.Thread(target=cache.reflector.run, name=f"watch-{kind.plural}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self, timeout: float = 5.0) -> None:
        for cache in self.kinds.values():
            cache.reflector.stop()
        deadline = time.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def unsynced(self) -> list[str]:
        """Kinds that have not been listed yet, with the reason."""
        return [
            f"{cache.kind.kind}: {cache.reflector.error or 'listing'}"
            for cache in self.kinds.values()
            if not cache.synced.is_set()
        ]

    def stale(self) -> list[str]:
        """Kinds that were not heard of for too long, with the reason."""
        return [
            f"{cache.kind.kind}: silent for {cache.reflector.age or 0:.0f} s, {cache.reflector.error or 'watching'}"
            for cache in self.kinds.values()
            if cache.synced.is_set() and cache.reflector.stale
        ]

    def wait_synced(self, stopped: threading.Event, poll: float = 0.1) -> bool:
        """Waits until every kind was listed; ``False`` when stopped before."""
        for cache in self.kinds.values():
            while not cache.synced.wait(poll):
                if stopped.is_set():
                    return False
        return not stopped.is_set()

    def assume(self, kind: Kind, obj: Raw) -> None:
        """Takes in the answer to a write of ours; see `Store.assume`."""
        cache = self.kinds.get(kind)
        if cache is not None and cache.synced.is_set() and cache.installed and kind not in LIMITED:
            cache.store.assume(obj)

    def get(self, kind: Kind, key: Key, *, live: bool = False) -> Raw | None:
        """See `capm3_managers.ports.Reader`: kinds that are not watched are always read live."""
        store = self._store(kind, key.namespace, live)
        return self._client.get(kind, key) if store is None else store.get(key)

    def list(
        self,
        kind: Kind,
        namespace: str,
        *,
        labels: Mapping[str, str] | None = None,
        index: tuple[str, str] | None = None,
        live: bool = False,
    ) -> Sequence[Raw]:
        """See `capm3_managers.ports.Reader`."""
        store = self._store(kind, namespace, live)
        if store is not None:
            return store.list(namespace, labels=labels, index=index)
        if namespace == ALL_NAMESPACES and kind.namespaced:
            namespace = self._namespace
        try:
            found = self._client.list(kind, namespace, labels=labels)[0]
        except ApiError as error:
            if error.status == 404:
                return []
            raise
        if index is None:
            return found
        function = INDEXES[kind][index[0]]
        return [obj for obj in found if index[1] in function(obj)]

    def _store(self, kind: Kind, namespace: str, live: bool) -> Store | None:
        """Where a cached read is answered; ``None``: by the server."""
        cache = self.kinds.get(kind)
        outside = self._namespace != ALL_NAMESPACES and namespace not in (self._namespace, ALL_NAMESPACES, "")
        if live or cache is None or outside or kind in LIMITED:
            return None
        if not cache.synced.is_set():
            raise ApiError(0, "CacheNotSynced", f"{kind.kind} has not been listed yet: {cache.reflector.error}")
        return cache.store


def _call(handler: Handler, change: Change, kind: Kind) -> None:
    """A subscriber that fails must not stop the others, nor the watch."""
    try:
        handler(change)
    except Exception:
        key = meta.key_of(change.new or change.old or {})
        log.exception("An event could not be mapped", extra={"facts": {"kind": kind.kind, "object": str(key)}})
