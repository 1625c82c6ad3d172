"""The testbed's view of an API server over HTTP: the verbs of `capi.api.Api`, and something that wakes on every change.

Apart from the controller's client, which it stands on, because stand-ins name kinds by the objects they hold and look at
everything again after any change instead of keeping queues.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_controller.kube import endpoint
from capm3_controller.kube.client import Client
from capm3_controller.kube.reflector import Reflector, Scope, Timing
from capm3_controller.kube.transport import Transport
from capm3_managers.ports import ALL_NAMESPACES, ApiError

from capm3_testbed.kubeconfig import Access

log = logging.getLogger(__name__)

_TABLE = {(kind.group, kind.kind): kind for kind in vars(kinds).values() if isinstance(kind, Kind)}
_CLUSTER_SCOPED = {
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "MutatingWebhookConfiguration",
    "Namespace",
    "ValidatingWebhookConfiguration",
}


def kind_of(obj: Raw) -> Kind:
    """The kind an object names, in its version; one that this project has no name for gets the usual plural."""
    api_version, name = str(obj.get("apiVersion") or ""), str(obj.get("kind") or "")
    group, version = meta.group_of(api_version), api_version.rpartition("/")[2]
    known = _TABLE.get((group, name))
    if known is not None:
        return known.at(version)
    plural = f"{name.lower()}s" if not name.endswith("s") else f"{name.lower()}es"
    return Kind(group, version, name, plural, namespaced=name not in _CLUSTER_SCOPED)


class KubeApi:
    """One API server; thread-safe."""

    def __init__(self, access: Access, *, name: str = "capm3-testbed") -> None:
        self.client = Client(Transport(endpoint.load(access.document()), user_agent=name), name)

    def get(self, kind: Kind, key: Key) -> Raw | None:
        return self.client.get(kind, key)

    def list(self, kind: Kind, namespace: str, *, labels: Mapping[str, str] | None = None) -> Sequence[Raw]:
        return self.client.list(kind, namespace, labels=labels)[0]

    def create(self, obj: Raw) -> Raw:
        return self.client.create(kind_of(obj), obj)

    def patch(self, kind: Kind, key: Key, merge_patch: Raw, *, subresource: str = "") -> Raw:
        return self.client.merge(kind, key, merge_patch, subresource=subresource)

    def delete(self, kind: Kind, key: Key, *, uid: str = "") -> None:
        self.client.delete(kind, key, uid=uid)

    def ensure(self, obj: Raw) -> Raw:
        """Creates the object, or merges it into the one that is there."""
        kind, key = kind_of(obj), meta.key_of(obj)
        try:
            return self.create(obj)
        except ApiError as error:
            if not error.already_exists:
                raise
        return self.patch(kind, key, {name: value for name, value in obj.items() if name not in ("status",)})

    def close(self) -> None:
        self.client.close()


class Wake:
    """Notes that something changed; a `Sink` for any number of reflectors."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def listed(self, items: Sequence[Raw], version: str) -> None:
        self._event.set()

    def event(self, type_: str, obj: Raw) -> str:
        if type_ != "BOOKMARK":
            self._event.set()
        return meta.version_of(obj)

    def missing(self) -> None:
        """The kind is not installed; nothing to wake for."""

    def touch(self) -> None:
        self._event.set()

    def wait(self, timeout: float) -> bool:
        """Waits for a change; says whether there was one."""
        changed = self._event.wait(timeout)
        self._event.clear()
        return changed


@dataclasses.dataclass(frozen=True)
class Pauses:
    """Seconds.

    Args:
        retry: before a pass that the last one asked for.
        resync: after which it looks again although nothing was heard.
        gather: in which changes are gathered before a pass.
    """

    retry: float = 0.5
    resync: float = 10.0
    gather: float = 0.05


class Watcher:
    """Calls `work` after every change of some kinds, on a thread of its own, never twice at once.

    Args:
        work: one full pass; gives how many things it wants to try again soon.
    """

    def __init__(
        self,
        name: str,
        api: KubeApi,
        watched: Iterable[Kind],
        work: Callable[[], int],
        *,
        pauses: Pauses = Pauses(),
    ) -> None:
        self._name = name
        self._work = work
        self._pauses = pauses
        self.wake = Wake()
        timing = Timing(first_pause=0.2, longest_pause=2.0, absent_pause=1.0)
        self._reflectors = [
            Reflector(api.client, Scope(kind, ALL_NAMESPACES), self.wake, timing=timing) for kind in watched
        ]
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=reflector.run, name=f"{name}-{reflector.kind.plural}", daemon=True)
            for reflector in self._reflectors
        ]
        self._threads.append(threading.Thread(target=self._run, name=name, daemon=True))

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ends all threads; returns when they have ended."""
        self._over.set()
        self.wake.touch()
        for reflector in self._reflectors:
            reflector.stop()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(timeout=5)

    def _run(self) -> None:
        pause = 0.0
        while not self._over.is_set():
            self.wake.wait(pause)
            if self._over.wait(self._pauses.gather):
                return
            pause = self._pauses.retry if self._pass() else self._pauses.resync

    def _pass(self) -> int:
        try:
            return self._work()
        except ApiError as error:
            if not self._over.is_set():
                log.debug("%s: %s", self._name, error)
            return 1
        except Exception:
            log.exception("%s: a pass failed", self._name)
            return 1


def wait_for(what: str, check: Callable[[], bool], timeout: float, wake: Wake) -> None:
    """Waits until `check` says true, looking again after each change.

    Raises:
        TimeoutError: it did not in `timeout` seconds.
    """
    end = time.monotonic() + timeout
    while not check():
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"not true after {timeout:.0f} s: {what}")
        wake.wait(min(left, 1.0))
