"""Everything that a bare-metal cluster needs, started together and ended together: a testbed one can apply manifests to.

Apart from the demo, which shows one run of it: scenarios, benchmarks and ``up`` use the same stack.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import tempfile
import threading
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from capm3_api import kinds
from capm3_api.model import Raw

from capm3_testbed import install, tiers
from capm3_testbed.capi import controllers
from capm3_testbed.capi.api import Core
from capm3_testbed.controller import ControllerProcess
from capm3_testbed.hosts import Fleet
from capm3_testbed.images import ImageServer
from capm3_testbed.kubeapi import KubeApi, Watcher
from capm3_testbed.tiers import Say, Tier
from capm3_testbed.webhooks import Webhooks
from capm3_testbed.workload.clusters import Clusters
from capm3_testbed.workload.kubelet import Kubelets

log = logging.getLogger(__name__)
_KUBELET_SECONDS = 0.25
NAMESPACE = "metal3"
"""Where hosts are put unless a manifest has clusters elsewhere."""


class Stack:
    """A running testbed. Use it with ``with``.

    Args:
        hosts: how many servers.
        flags: for the controller; ``None`` starts no controller.
        webhooks: whether the controller serves admission and conversion too; without them only v1beta2 is served.

    Attributes:
        api: as administrator; there after `start`.
    """

    api: KubeApi

    def __init__(self, tier: Tier, hosts: int = 4, flags: Sequence[str] | None = (), *, webhooks: bool = True) -> None:
        self.tier = tier
        self.namespace = NAMESPACE
        self.folder = Path(tempfile.mkdtemp(prefix="capm3-testbed-"))
        self.fleet = Fleet(hosts)
        self.clusters = Clusters(tiers.serve_workload)
        self.controller: ControllerProcess | None = None
        self._flags = flags
        self._ends = contextlib.ExitStack()
        self._webhooks = Webhooks(self.folder / "webhooks") if webhooks and flags is not None else None
        self._ends.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.images: ImageServer
        self.kubelets: Kubelets

    @property
    def kubeconfig(self) -> Path:
        """For people: the administrator's."""
        return self.folder / "kubeconfig"

    def start(self, say: Say = lambda text: None) -> Self:
        """Starts everything; what was started is ended again when a part fails."""
        try:
            self._start(say)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Ends everything in reverse order; may be called twice."""
        self._ends.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        self.stop()

    def apply(self, objects: Sequence[Raw]) -> None:
        """Creates the objects (or merges them into those that are there) and the namespaces they are in."""
        for obj in objects:
            metadata = obj.get("metadata") or {}
            if metadata.get("namespace"):
                install.ensure_namespace(self.api, str(metadata["namespace"]))
        for obj in objects:
            self.api.ensure(obj)

    def _start(self, say: Say) -> None:
        self._ends.callback(self.fleet.stop)
        fleet = threading.Thread(target=_quietly(self.fleet.launch), name="fleet")
        fleet.start()
        say(f"starting the API server ({self.tier.name})")
        self._ends.callback(self.tier.stop)
        self.tier.start(say)
        self.api = KubeApi(self.tier.access())
        self._ends.callback(self.api.close)
        self.tier.access().write(self.kubeconfig)
        install.install(self.api, self._webhooks.conversion if self._webhooks is not None else None)
        install.ensure_namespace(self.api, self.namespace)
        self.tier.settle(self.api)
        if self._flags is not None:
            flags = (*(self._webhooks.flags if self._webhooks is not None else ()), *self._flags)
            self.controller = ControllerProcess(self.tier.controller_access(), self.folder, flags)
            self._ends.callback(self.controller.stop)
            self.controller.launch()
        self.images = ImageServer()
        self._ends.callback(self.images.stop)
        say(f"starting {len(self.fleet.servers)} servers (sushy-tools)")
        fleet.join()
        self.fleet.wait()
        self._start_stand_ins()
        if self.controller is not None:
            say("waiting for capm3-controller to be ready")
            self.controller.wait_ready()
            for obj in self._webhooks.configurations() if self._webhooks is not None else ():
                self.api.ensure(obj)

    def _start_stand_ins(self) -> None:
        self._ends.callback(self.clusters.stop)
        core = Core(self.api, self.clusters)
        standin = Watcher("capi", self.api, controllers.WATCHED, lambda: controllers.run_all(core))
        self._ends.callback(standin.stop)
        standin.start()
        self.kubelets = Kubelets(self.api, self.clusters, lambda: self.fleet.servers)
        ticker = _Ticker("kubelets", _KUBELET_SECONDS, lambda: self._look(standin))
        self._ends.callback(ticker.stop)
        ticker.start()

    def _look(self, standin: Watcher) -> None:
        """Lets the kubelets look; what they wrote is in another API server, so core is told."""
        if self.kubelets.look():
            standin.wake.touch()


def clusters_of(objects: Sequence[Raw]) -> list[Raw]:
    """The Clusters among the objects."""
    return [
        obj for obj in objects if (obj["kind"], obj["apiVersion"]) == (kinds.CLUSTER.kind, kinds.CLUSTER.api_version)
    ]


class _Ticker:
    """Calls something again and again; what it looks at sends no events."""

    def __init__(self, name: str, seconds: float, work: Callable[[], None]) -> None:
        self._seconds = seconds
        self._work = work
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=15)

    def _run(self) -> None:
        while not self._over.wait(self._seconds):
            try:
                self._work()
            except Exception as error:
                if not self._over.is_set():
                    log.debug("%s: %s", self._thread.name, error)


def _quietly(work: Callable[[], None]) -> Callable[[], None]:
    """The same, with a failure left to the one who waits for the result."""

    def run() -> None:
        with contextlib.suppress(Exception):
            work()

    return run
