"""The suite of API semantics holds on `World`, on the embedded server and on a real kube-apiserver."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from capm3_api import kinds
from capm3_api.meta import Key, Kind
from capm3_managers.testing.world import World
from capm3_testbed import net, semantics
from capm3_testbed.apiserver import binaries
from capm3_testbed.apiserver.process import ControlPlane
from capm3_testbed.children import Child
from capm3_testbed.embedded import EmbeddedServer, new_world
from capm3_testbed.embedded.conversion import Converter
from capm3_testbed.embedded.registry import Registry
from capm3_testbed.embedded.webhook_client import WebhookClient
from capm3_testbed.kubeconfig import Access
from capm3_testbed.semantics.cases import WIDGET, Client
from capm3_testbed.semantics.clients import HttpClient, WorldClient
from capm3_testbed.semantics.widget import crd

_KINDS = (WIDGET, WIDGET.at("v1beta1"), kinds.SECRET, kinds.NAMESPACE, kinds.CRD)
_MISSING = {
    "gc": "nobody collects: there is no kube-controller-manager beside kube-apiserver",
    "soon": "kube-apiserver sends bookmarks about once a minute",
    "http": "a World has no HTTP",
    "pages": "only HTTP cuts lists into pages",
    "bookmarks": "only HTTP watches have bookmarks",
}


@dataclasses.dataclass
class Target:
    """A server and what it lacks."""

    name: str
    client: Client
    lacks: frozenset[str] = frozenset()
    numbers: Iterator[int] = dataclasses.field(default_factory=lambda: itertools.count(1))

    def subject(self) -> semantics.Subject:
        name = f"case-{next(self.numbers)}"
        self.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        return semantics.Subject(self.client, name)


class ForgettingClient(HttpClient):
    """An HTTP client whose server's world can be told to forget."""

    def __init__(self, access: Access, world: World) -> None:
        super().__init__(access, _KINDS)
        self._world = world

    def forget(self, kind: Kind, namespace: str) -> str:
        return WorldClient(self._world).forget(kind, namespace)


@pytest.fixture(scope="module")
def world_target() -> Target:
    world = new_world("semantics")
    Registry(world, Converter(WebhookClient({})))
    world.create(crd())
    return Target("World", WorldClient(world), frozenset({"bookmarks", "soon", "pages", "http"}))


@pytest.fixture(scope="module")
def embedded_target() -> Iterator[Target]:
    with EmbeddedServer(crds=[crd()]) as server:
        yield Target("embedded", ForgettingClient(server.access(), server.world))


@pytest.fixture(scope="module")
def apiserver_target() -> Iterator[Target]:
    found = binaries.look()
    if found is None:
        pytest.skip("no etcd and kube-apiserver: set KUBEBUILDER_ASSETS or build them with `nox -s apiserver`")
    with ControlPlane(found) as plane:
        client = HttpClient(plane.access(), _KINDS)
        client.create(crd())
        key = Key("", crd()["metadata"]["name"])

        def established() -> bool:
            conditions = ((client.get(kinds.CRD, key) or {}).get("status") or {}).get("conditions") or []
            return any(item["type"] == "Established" and item["status"] == "True" for item in conditions)

        net.wait_until("the CRD is established", established, 30)
        net.wait_until("it is served", lambda: _serves(client), 30)
        manager = found.kube_apiserver.with_name("kube-controller-manager")
        if not manager.is_file():
            yield Target("kube-apiserver", client, frozenset({"gc", "soon"}))
            return
        collector = _collector(manager, plane)
        yield Target("kube-apiserver", client, frozenset({"soon"}))
        collector.stop(timeout=5.0)


def _collector(manager: Path, plane: ControlPlane) -> Child:
    """The real garbage collector and namespace controller, ready to collect."""
    config = plane.access().write(plane.folder / "collector.kubeconfig")
    log = plane.folder / "collector.log"
    options = [f"--kubeconfig={config}", "--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=0"]
    options.append("--controllers=garbage-collector-controller,namespace-controller")
    child = Child("kube-controller-manager", [str(manager), *options], log)
    net.wait_until("the collector collects", lambda: "Proceeding to collect garbage" in log.read_text(), 60)
    return child


def _serves(client: Client) -> bool:
    try:
        client.list(WIDGET, "default")
    except Exception:
        return False
    return True


_EVERY = pytest.mark.parametrize("case", semantics.CASES, ids=[case.name for case in semantics.CASES])


def _run(case: semantics.Case, target: Target) -> None:
    lacking = case.needs & target.lacks
    if lacking:
        pytest.skip("; ".join(_MISSING[name] for name in sorted(lacking)))
    case.run(target.subject())


@_EVERY
def test_world_keeps_the_semantics(case: semantics.Case, world_target: Target) -> None:
    _run(case, world_target)


@_EVERY
def test_the_embedded_server_keeps_the_semantics(case: semantics.Case, embedded_target: Target) -> None:
    _run(case, embedded_target)


@pytest.mark.apiserver
@_EVERY
def test_a_real_apiserver_has_the_semantics(case: semantics.Case, apiserver_target: Target) -> None:
    _run(case, apiserver_target)
