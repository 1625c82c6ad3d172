"""Workload clusters: one client each, bounded waits, a breaker, no trust in what a Secret says (report B43)."""

from __future__ import annotations

import base64
import threading
import time

import pytest
import yaml
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_controller.kube.breaker import Breaker
from capm3_controller.kube.client import Client
from capm3_controller.kube.remote import RECHECK_SECONDS, Remotes
from capm3_controller.kube.transport import Timeouts, Transport
from capm3_controller.testing.rawserver import RawServer
from capm3_controller.testing.tinyapi import TinyApi
from capm3_managers.plan import NodePatch
from capm3_managers.ports import ApiError, Unreachable
from capm3_managers.testing.world import World

CLUSTER = Key("ns", "c1")


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def kubeconfig(url, user=None, **cluster):
    return {
        "current-context": "x",
        "clusters": [{"name": "x", "cluster": {"server": url, **cluster}}],
        "users": [{"name": "x", "user": {"token": "t"} if user is None else user}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
    }


def secret(cluster, config):
    value = base64.b64encode(yaml.safe_dump(config).encode()).decode()
    return kinds.SECRET.new(cluster.namespace, f"{cluster.name}-kubeconfig", data={"value": value})


class Setup:
    def __init__(self):
        self.world = World()
        self.clock = Clock()
        self.made = []
        self.remotes = Remotes(self.world.reader(), self.connect, clock=self.clock, breaker=self.breaker)

    def breaker(self):
        return Breaker(clock=self.clock, patience=0.2)

    def connect(self, endpoint):
        client = Client(Transport(endpoint, user_agent="t", timeouts=Timeouts(0.3, 0.3)))
        self.made.append(client)
        return client

    def secret(self, config, cluster=CLUSTER):
        self.world.put(secret(cluster, config))


@pytest.fixture
def setup():
    return Setup()


@pytest.fixture
def workload():
    with TinyApi() as api:
        api.world.create(kinds.NODE.new("", "n1") | {"metadata": {"name": "n1", "labels": {"a": "1"}}})
        yield api


def test_a_cluster_without_its_secret_is_unreachable_and_has_no_nodes_in_no_case(setup):
    answer = setup.remotes.nodes(CLUSTER)
    assert isinstance(answer, Unreachable)
    assert answer.reason == "KubeconfigMissing"


@pytest.mark.parametrize(
    "data", [{}, {"value": "!!!"}, {"value": base64.b64encode(b"{: x").decode()}, {"value": "W10="}, {"value": "e30="}]
)
def test_a_broken_secret_is_invalid_and_its_content_is_not_repeated(setup, data):
    setup.world.put(kinds.SECRET.new("ns", "c1-kubeconfig", data=data))
    assert setup.remotes.nodes(CLUSTER).reason == "KubeconfigInvalid"


@pytest.mark.parametrize(
    "config",
    [
        kubeconfig("https://x", {"exec": {"command": "touch", "args": ["/tmp/owned"]}}),
        kubeconfig("https://x", {"tokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token"}),
        kubeconfig("https://x", {"client-certificate": "/etc/passwd"}),
        kubeconfig("https://x", {"auth-provider": {"name": "gcp"}}),
        kubeconfig("https://x", **{"certificate-authority": "/etc/passwd"}),
        kubeconfig("https://x", **{"proxy-url": "http://evil"}),
    ],
)
def test_a_secret_can_not_run_commands_or_read_files_here(setup, config):
    setup.secret(config)
    answer = setup.remotes.nodes(CLUSTER)
    assert answer.reason == "KubeconfigInvalid"
    assert "inline" in answer.message
    assert not setup.made


def test_nodes_are_read_with_their_labels_through_one_client(setup, workload):
    setup.secret(kubeconfig(workload.url))
    for _ in range(3):
        assert [node["metadata"]["name"] for node in setup.remotes.nodes(CLUSTER, labels={"a": "1"})] == ["n1"]
    assert setup.remotes.nodes(CLUSTER, labels={"a": "2"}) == []
    assert len(setup.made) == 1
    assert workload.seen[0].headers["authorization"] == "Bearer t"


def test_new_credentials_in_the_secret_are_used_after_a_while(setup, workload):
    setup.secret(kubeconfig(workload.url))
    setup.remotes.nodes(CLUSTER)
    setup.secret(kubeconfig(workload.url, {"token": "new"}))
    setup.clock.now += RECHECK_SECONDS + 1
    setup.remotes.nodes(CLUSTER)
    assert workload.seen[-1].headers["authorization"] == "Bearer new"


def test_refused_credentials_are_read_again_at_once(setup, workload):
    workload.intercept = lambda seen: (401, {}) if seen.headers["authorization"] == "Bearer t" else None
    setup.secret(kubeconfig(workload.url))
    assert setup.remotes.nodes(CLUSTER).reason == "Forbidden"
    setup.secret(kubeconfig(workload.url, {"token": "new"}))
    assert len(setup.remotes.nodes(CLUSTER)) == 1


def test_a_node_is_patched_and_its_version_is_a_precondition(setup, workload):
    setup.secret(kubeconfig(workload.url))
    setup.remotes.patch_node(NodePatch(CLUSTER, "n1", {"spec": {"providerID": "metal3://x"}}))
    assert workload.world.get(kinds.NODE, Key("", "n1"))["spec"] == {"providerID": "metal3://x"}
    with pytest.raises(ApiError) as caught:
        setup.remotes.patch_node(NodePatch(CLUSTER, "n1", {"spec": {}}, resource_version="99999"))
    assert caught.value.is_conflict
    assert len(setup.remotes.nodes(CLUSTER)) == 1, "a refused call says nothing against the cluster"


def test_a_black_hole_costs_one_timeout_and_then_nothing(setup):
    with RawServer(lambda connection, head: None) as hole:
        setup.secret(kubeconfig(hole.url))
        assert setup.remotes.nodes(CLUSTER).reason == "WorkloadAPIUnreachable"
        begin = time.monotonic()
        for _ in range(20):
            answer = setup.remotes.nodes(CLUSTER)
            assert "next try in" in answer.message
        assert time.monotonic() - begin < 0.2
        assert len(hole.requests) == 1


def test_ten_workers_wait_for_a_black_hole_no_longer_than_their_patience(setup):
    with RawServer(lambda connection, head: None) as hole:
        setup.secret(kubeconfig(hole.url))
        threads = [threading.Thread(target=setup.remotes.nodes, args=(CLUSTER,)) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(5)
        assert len(hole.requests) == 1
        assert len(hole.connections) == 1


def test_a_cluster_that_comes_back_is_found_after_the_pause(setup, workload):
    workload.intercept = lambda seen: (503, {})
    setup.secret(kubeconfig(workload.url))
    setup.remotes.nodes(CLUSTER)
    workload.intercept = lambda seen: None
    assert isinstance(setup.remotes.nodes(CLUSTER), Unreachable)
    setup.clock.now += 3
    assert len(setup.remotes.nodes(CLUSTER)) == 1


def test_a_dead_cluster_does_not_slow_a_healthy_one(setup, workload):
    with RawServer(lambda connection, head: None) as hole:
        setup.secret(kubeconfig(hole.url), Key("ns", "dead"))
        setup.secret(kubeconfig(workload.url))
        setup.remotes.nodes(CLUSTER)
        thread = threading.Thread(target=setup.remotes.nodes, args=(Key("ns", "dead"),))
        thread.start()
        begin = time.monotonic()
        assert len(setup.remotes.nodes(CLUSTER)) == 1
        assert time.monotonic() - begin < 0.2
        thread.join(5)


def test_the_connections_of_a_cluster_that_is_gone_are_closed(setup):
    closed = threading.Event()

    def script(connection, head):
        from capm3_controller.testing.rawserver import reply

        connection.sendall(reply(b'{"metadata":{},"items":[]}'))
        if connection.recv(1) == b"":
            closed.set()

    with RawServer(script) as server:
        setup.secret(kubeconfig(server.url))
        setup.remotes.nodes(CLUSTER)
        assert not closed.is_set()
        setup.remotes.forget(CLUSTER)
        assert closed.wait(5)


def test_the_breakers_pause_doubles_and_ends_with_a_success():
    clock = Clock()
    breaker = Breaker(clock=clock, pause=2, longest=60)
    for pause in (2, 4, 8, 16, 32, 60, 60):
        assert breaker.enter() == ""
        breaker.failed("down")
        clock.now += pause - 0.5
        assert "down" in breaker.enter()
        clock.now += 0.6
    assert breaker.enter() == ""
    breaker.succeeded()
    assert breaker.healthy
    assert breaker.enter() == ""
