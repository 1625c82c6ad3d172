"""Random writes have the same outcome on `World`, the embedded server and a real kube-apiserver."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from capm3_api import kinds
from capm3_testbed import net
from capm3_testbed.apiserver import binaries
from capm3_testbed.apiserver.process import ControlPlane
from capm3_testbed.embedded import EmbeddedServer, new_world
from capm3_testbed.embedded.conversion import Converter
from capm3_testbed.embedded.registry import Registry
from capm3_testbed.embedded.webhook_client import WebhookClient
from capm3_testbed.semantics import differential
from capm3_testbed.semantics.cases import WIDGET, Client
from capm3_testbed.semantics.clients import HttpClient, WorldClient
from capm3_testbed.semantics.widget import crd

_KINDS = (WIDGET, kinds.NAMESPACE, kinds.CRD)


@pytest.fixture(scope="module")
def embedded() -> Iterator[Client]:
    # Without the collector: the random owners do not exist, and kube-apiserver alone collects nothing either.
    with EmbeddedServer(new_world(collect=False), crds=[crd()]) as server:
        yield HttpClient(server.access(), _KINDS)


@pytest.fixture(scope="module")
def apiserver() -> Iterator[Client]:
    found = binaries.look()
    if found is None:
        pytest.skip("no etcd and kube-apiserver: set KUBEBUILDER_ASSETS or build them with `nox -s apiserver`")
    with ControlPlane(found) as plane:
        client = HttpClient(plane.access(), _KINDS)
        client.create(crd())
        net.wait_until("the CRD is served", lambda: _serves(client), 30)
        yield client


def _serves(client: Client) -> bool:
    try:
        client.list(WIDGET, "default")
    except Exception:
        return False
    return True


def _compare(left: Client, right: Client, seed: int, count: int) -> None:
    namespace = f"seed-{seed}"
    for client in (left, right):
        client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    one, other = differential.Runner(left, namespace), differential.Runner(right, namespace)
    for number, step in enumerate(differential.steps(seed, count)):
        assert one.take(step) == other.take(step), f"seed {seed}, step {number}: {step}"


@pytest.mark.parametrize("seed", range(100, 104))
def test_world_and_the_embedded_server_agree(seed: int, embedded: Client) -> None:
    world = new_world(collect=False)
    Registry(world, Converter(WebhookClient({})))
    world.create(crd())
    _compare(WorldClient(world), embedded, seed, 150)


@pytest.mark.apiserver
@pytest.mark.parametrize("seed", range(6))
def test_the_embedded_server_and_a_real_apiserver_agree(seed: int, embedded: Client, apiserver: Client) -> None:
    _compare(embedded, apiserver, seed, 60)
