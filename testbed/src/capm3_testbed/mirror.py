"""A copy of some kinds of an API server, kept by watching: for showing progress and for finding orphans.

Apart from the controller's store, which projects and indexes: this one keeps objects whole and only tells that it changed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from capm3_api import meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_controller.kube.reflector import Reflector, Scope, Timing
from capm3_managers.ports import ALL_NAMESPACES

from capm3_testbed.kubeapi import KubeApi, Wake

TIMING = Timing(first_pause=0.2, longest_pause=2.0, absent_pause=1.0)


class _Kept:
    """One kind's objects; a `Sink`."""

    def __init__(self, wake: Wake) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._objects: dict[Key, Raw] = {}
        self.synced = threading.Event()

    def listed(self, items: list[Raw], version: str) -> None:
        with self._lock:
            self._objects = {meta.key_of(item): item for item in items}
        self.synced.set()
        self._wake.touch()

    def event(self, type_: str, obj: Raw) -> str:
        if type_ != "BOOKMARK":
            with self._lock:
                if type_ == "DELETED":
                    self._objects.pop(meta.key_of(obj), None)
                else:
                    self._objects[meta.key_of(obj)] = obj
            self._wake.touch()
        return meta.version_of(obj)

    def missing(self) -> None:
        self.listed([], "")

    def all(self) -> list[Raw]:
        with self._lock:
            return [self._objects[key] for key in sorted(self._objects)]


class Mirror:
    """Objects are read only. `wake` tells of changes."""

    def __init__(self, api: KubeApi, watched: Iterable[Kind]) -> None:
        self.wake = Wake()
        self._kept = {kind: _Kept(self.wake) for kind in watched}
        self._reflectors = [
            Reflector(api.client, Scope(kind, ALL_NAMESPACES), kept, timing=TIMING) for kind, kept in self._kept.items()
        ]
        self._threads = [
            threading.Thread(target=item.run, name=f"mirror-{item.kind.plural}", daemon=True)
            for item in self._reflectors
        ]

    @property
    def watched(self) -> tuple[Kind, ...]:
        return tuple(self._kept)

    def start(self, timeout: float = 30.0) -> None:
        """Starts watching and waits for the first lists.

        Raises:
            TimeoutError: a kind was not listed in time.
        """
        for thread in self._threads:
            thread.start()
        for kind, kept in self._kept.items():
            if not kept.synced.wait(timeout):
                raise TimeoutError(f"{kind.plural} could not be listed in {timeout:.0f} s")

    def stop(self) -> None:
        for reflector in self._reflectors:
            reflector.stop()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(timeout=5)
        self.wake.touch()

    def all(self, kind: Kind) -> list[Raw]:
        """Every object of the kind, by namespace and name."""
        return self._kept[kind].all()

    def get(self, kind: Kind, key: Key) -> Raw | None:
        return next((obj for obj in self.all(kind) if meta.key_of(obj) == key), None)
