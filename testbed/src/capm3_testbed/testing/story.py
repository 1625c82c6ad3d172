"""One story on a shared stack: a namespace and some servers of its own, waits with reasons, and looks at what is left.

Apart from the stack, which is slow to start and shared by many stories.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_hwdrivers.testing.emulator import Request, State
from capm3_managers.overview import states
from capm3_managers.ports import ApiError

from capm3_testbed import install, manifests
from capm3_testbed.capi.api import deleting, mapping, name_of, text
from capm3_testbed.demo import view
from capm3_testbed.demo.progress import line
from capm3_testbed.hosts import Server
from capm3_testbed.manifests import Values
from capm3_testbed.stack import Stack

WAIT = 150.0
"""Seconds: far more than anything takes here, for machines that do other things too."""

CLEANED = (
    kinds.CLUSTER,
    kinds.MACHINE_DEPLOYMENT,
    kinds.MACHINE_SET,
    kinds.KUBEADM_CONTROL_PLANE,
    kinds.MACHINE,
    kinds.METAL3_CLUSTER,
    kinds.METAL3_MACHINE,
    kinds.METAL3_DATA,
    kinds.METAL3_DATA_CLAIM,
    kinds.IP_CLAIM,
    kinds.IP_ADDRESS,
    kinds.KUBEADM_CONFIG,
)
"""What must be gone once a cluster is deleted."""

REMOVED = (
    *CLEANED,
    kinds.METAL3_MACHINE_TEMPLATE,
    kinds.KUBEADM_CONFIG_TEMPLATE,
    kinds.METAL3_DATA_TEMPLATE,
    kinds.IP_POOL,
    kinds.BARE_METAL_HOST,
    kinds.HARDWARE_DATA,
)


class Story:
    """One namespace; `servers` are nobody else's while it lasts."""

    def __init__(self, stack: Stack, namespace: str, servers: Sequence[Server]) -> None:
        self.stack = stack
        self.namespace = namespace
        self.servers = list(servers)
        self.api = stack.api
        install.ensure_namespace(self.api, namespace)

    # Making things

    def add_hosts(self, servers: Iterable[Server] | None = None, *, password: str | None = None) -> None:
        """Registers BareMetalHosts.

        Args:
            password: another one than the servers have.
        """
        for server in self.servers if servers is None else servers:
            self.stack.apply(server.objects(self.namespace, password=password))

    def add_cluster(self, name: str = "demo", *, control_planes: int = 1, workers: int = 2) -> list[Raw]:
        """Applies the shipped manifest."""
        values = Values(self.stack.images.url, name, self.namespace, control_planes, workers)
        objects = manifests.shipped(values)
        self.stack.apply(objects)
        return objects

    # Looking

    def all(self, kind: Kind) -> Sequence[Raw]:
        return self.api.list(kind, self.namespace)

    def get(self, kind: Kind, name: str) -> Raw | None:
        return self.api.get(kind, Key(self.namespace, name))

    def host(self, server: Server) -> Raw:
        """The server's BareMetalHost, ``{}`` when there is none."""
        return self.get(kinds.BARE_METAL_HOST, server.name) or {}

    def state(self, server: Server) -> State:
        return server.emulator.state()

    def requests(self, server: Server) -> Sequence[Request]:
        return server.emulator.requests

    def ready(self) -> bool:
        """Whether all clusters here have all their machines running."""
        return view.ready(_Live(self))

    def machines_running(self) -> int:
        return sum(1 for machine in self.all(kinds.MACHINE) if text(machine, "status", "phase") == "Running")

    def nodes(self, cluster: str = "demo") -> Sequence[Raw]:
        return self.stack.clusters.nodes(Key(self.namespace, cluster))

    # Waiting

    def wait(self, what: str, check: Callable[[], bool], timeout: float = WAIT) -> None:
        """Raises:
        AssertionError: it did not become true; the message says what everything waits for.
        """
        end = time.monotonic() + timeout
        while not check():
            if time.monotonic() > end:
                raise AssertionError(f"not true after {timeout:.0f} s: {what}\n{self.describe()}")
            time.sleep(0.2)

    def describe(self) -> str:
        """The state of everything here, and the controller's last lines."""
        rows = [line(row) for row in states.rows(_Live(self))]
        log = self.stack.controller.log(15) if self.stack.controller is not None else ""
        return "\n".join([*rows, log])

    # Ending

    def delete(self, kind: Kind, name: str) -> None:
        self.api.delete(kind, Key(self.namespace, name))

    def delete_cluster(self, name: str = "demo") -> None:
        """Deletes the cluster and waits until nothing of it is left and every host is free."""
        self.delete(kinds.CLUSTER, name)
        self.wait("nothing of the cluster is left", lambda: not self.left())
        self.wait("every host is released", lambda: not self.unreleased())

    def let_go(self, kind: Kind) -> None:
        """Asks for deletion of all objects of a kind; those that go or are gone meanwhile are left alone."""
        for obj in self.all(kind):
            if deleting(obj):
                continue
            try:
                self.api.delete(kind, meta.key_of(obj))
            except ApiError as error:
                if not error.is_not_found:
                    raise

    def left(self, among: Iterable[Kind] = CLEANED) -> list[str]:
        """What is still there of some kinds, as text."""
        return [f"{kind.kind}/{name_of(obj)}" for kind in among for obj in self.all(kind)]

    def unreleased(self) -> list[str]:
        """What is wrong with hosts that should be free, and with their servers."""
        problems = []
        for server in self.servers:
            host, state = self.host(server), self.state(server)
            spec = mapping(host, "spec")
            found = {
                "consumerRef": bool(spec.get("consumerRef")),
                "image": bool(spec.get("image")),
                "userData": bool(spec.get("userData") or spec.get("metaData") or spec.get("networkData")),
                f"state {text(host, 'status', 'provisioning', 'state')}": not _free(host),
                "media inserted": bool(state.image),
                f"power {state.power} but online {spec.get('online')}": (state.power == "On")
                != bool(spec.get("online")),
            }
            problems += [f"{server.name}: {what}" for what, wrong in found.items() if wrong]
        return problems

    def stray_secrets(self) -> list[str]:
        """Secrets besides the BMCs' credentials."""
        own = {f"{server.name}-bmc" for server in self.servers}
        return [name_of(secret) for secret in self.all(kinds.SECRET) if name_of(secret) not in own]

    def remove(self) -> None:
        """Deletes everything here, hosts last, and waits until it is gone; for the next story."""
        for kind in REMOVED:
            if kind is not kinds.BARE_METAL_HOST:
                self.let_go(kind)
        self.wait("the clusters are gone", lambda: not self.left(CLEANED))
        self.let_go(kinds.BARE_METAL_HOST)
        self.wait("the hosts are gone", lambda: not self.left(REMOVED))


def _free(host: Raw) -> bool:
    return text(host, "status", "provisioning", "state") in ("available", "ready")


class _Live:
    """`overview.objects.Objects` by asking the server."""

    def __init__(self, story: Story) -> None:
        self._story = story

    def all(self, kind: Kind) -> Sequence[Raw]:
        return self._story.all(kind)

    def get(self, kind: Kind, key: Key) -> Raw | None:
        return self._story.api.get(kind, key)
