"""The whole program in one process: start, leading, readiness, loss of the lease, stop."""

from __future__ import annotations

import http.client
import socket
import threading
import time

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_controller import wiring
from capm3_controller.kube.leader import NAME
from capm3_controller.kube.reflector import Timing
from capm3_controller.runtime.serving import AddressError
from capm3_controller.settings import Settings, SettingsError
from capm3_controller.testing import toy
from capm3_controller.testing.tinyapi import TinyApi

KEY = Key("ns", "c")
FAST = Timing(watch=20.0, first_pause=0.01, longest_pause=0.05, absent_pause=0.02)
TABLE = {toy.DEFINITION.name: toy.DEFINITION}


def settings(**changes):
    values = {
        "health_addr": "127.0.0.1:0",
        "diagnostics_address": "127.0.0.1:0",
        "insecure_diagnostics": True,
        "kube_api_qps": 0.0,
        "sync_period": 0.0,
        "leader_elect_lease_duration": 1.5,
        "leader_elect_renew_deadline": 1.0,
        "leader_elect_retry_period": 0.05,
    }
    return Settings(**(values | changes))


@pytest.fixture
def api():
    with TinyApi() as server:
        yield server


class Running:
    def __init__(self, api, **changes):
        self.controller = wiring.build(settings(**changes), api.kubeconfig(), environ={}, table=TABLE, timing=FAST)

    def __enter__(self):
        self.controller.start()
        return self.controller

    def __exit__(self, *rest):
        self.controller.stop()


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def wish(api, value, name="c"):
    api.world.create(toy.KIND.new("ns", name, spec={"wish": value}))


def granted(api, name="c"):
    return ((api.world.get(toy.KIND, Key("ns", name)) or {}).get("status") or {}).get("granted")


def test_objects_from_before_and_after_the_start_are_reconciled(api):
    wish(api, "tea", "before")
    with Running(api) as controller:
        assert controller.wait_ready(10) == {}
        wish(api, "coffee", "after")
        api.until(lambda: granted(api, "before") == "tea" and granted(api, "after") == "coffee")


def test_probes_and_metrics_answer_under_their_names(api):
    wish(api, "tea")
    with Running(api) as controller:
        assert controller.wait_ready(10) == {}
        api.until(lambda: granted(api) == "tea")
        health, diagnostics = controller.ports["health"], controller.ports["diagnostics"]
        assert get(health, "/healthz") == (200, "ok")
        assert get(health, "/readyz") == (200, "ok")
        assert get(health, "/readyz/caches") == (200, "ok")
        assert get(health, "/nonsense")[0] == 404
        assert "[+]watches ok" in get(health, "/readyz?verbose")[1]
        status, text = get(diagnostics, "/metrics")
        assert status == 200
        for name in (
            'controller_runtime_reconcile_total{controller="metal3cluster",result="success"}',
            'controller_runtime_max_concurrent_reconciles{controller="metal3cluster"} 10.0',
            'workqueue_adds_total{controller="metal3cluster",name="metal3cluster"}',
            'workqueue_longest_running_processor_seconds{controller="metal3cluster",name="metal3cluster"}',
            'rest_client_requests_total{code="200",host="127.0.0.1:',
            'capm3_watch_last_event_age_seconds{kind="Metal3Cluster"}',
            "process_resident_memory_bytes",
        ):
            assert name in text
        assert "_created" not in text
        assert get(diagnostics, "/debug/stacks")[0] == 404, "the insecure port serves metrics only"


def test_it_waits_unready_for_a_server_that_is_down_and_starts_when_it_comes(api):
    wish(api, "tea")
    api.intercept = lambda seen: (503, {})
    with Running(api) as controller:
        problems = controller.wait_ready(0.3)
        assert "Metal3Cluster" in problems["caches"]
        assert get(controller.ports["health"], "/readyz")[0] == 500
        assert get(controller.ports["health"], "/healthz")[0] == 200
        api.intercept = lambda seen: None
        assert controller.wait_ready(10) == {}
        api.until(lambda: granted(api) == "tea")


def test_a_watch_that_fell_silent_makes_it_unready(api):
    with Running(api) as controller:
        assert controller.wait_ready(10) == {}
        reflector = controller.parts.cache.kinds[toy.KIND].reflector
        reflector._clock = lambda: time.monotonic() + 10_000
        assert "Metal3Cluster" in controller.parts.health.problems()["watches"]


def test_only_the_leader_writes_and_the_next_takes_over_at_once_when_it_stops(api):
    with Running(api, leader_elect=True) as first:
        assert first.wait_ready(10) == {}
        with Running(api, leader_elect=True) as second:
            assert second.wait_ready(10, leading=False) == {}
            assert "leading" in second.wait_ready(0.1)
            wish(api, "tea")
            api.until(lambda: granted(api) == "tea")
            assert first.stop()
            lease = api.world.get(kinds.LEASE, Key("capm3-system", NAME))
            assert lease["spec"]["leaseTransitions"] <= 1
            assert second.wait_ready(10) == {}
            wish(api, "coffee", "d")
            api.until(lambda: granted(api, "d") == "coffee")


def test_a_stolen_lease_ends_the_process_and_fences_its_writes(api):
    with Running(api, leader_elect=True) as controller:
        assert controller.wait_ready(10) == {}
        lease = Key("capm3-system", NAME)
        api.world.patch(kinds.LEASE, lease, {"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 60}})
        assert controller.wait(10)
        before = len(api.writes())
        wish(api, "tea")
        api.until(lambda: controller.parts.controllers[0].loop.queue.retries.failures(KEY) > 0)
        assert len(api.writes()) == before
        assert not controller.stop()
        assert api.world.get(kinds.LEASE, lease)["spec"]["holderIdentity"] == "thief"


def test_a_stop_waits_for_the_pass_in_work_and_starts_no_other(api):
    with Running(api, metal3cluster_concurrency=1, leader_elect=True) as controller:
        assert controller.wait_ready(10) == {}
        api.held.clear()
        wish(api, "tea")
        api.until(lambda: any(seen.method == "PATCH" and "metal3clusters" in seen.path for seen in api.seen))
        wish(api, "coffee", "d")
        stopped = []
        thread = threading.Thread(target=lambda: stopped.append(controller.stop()))
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        api.held.set()
        thread.join(10)
        assert stopped == [True]
        assert (granted(api), granted(api, "d")) == ("tea", None)


def test_a_stop_leaves_no_thread_and_no_port_behind(api):
    before = set(threading.enumerate())
    with Running(api) as controller:
        assert controller.wait_ready(10) == {}
        port = controller.ports["health"]
    own = [
        t.name
        for t in set(threading.enumerate()) - before
        if t.name.startswith(("metal3", "watch-", "leader", "resync"))
    ]
    assert own == []
    with pytest.raises(OSError):
        get(port, "/healthz")


def test_a_resync_looks_at_everything_again(api):
    wish(api, "tea")
    with Running(api, sync_period=0.05) as controller:
        assert controller.wait_ready(10) == {}
        passes = lambda: controller.parts.metrics.registry.get_sample_value(  # noqa: E731
            "controller_runtime_reconcile_total", {"controller": "metal3cluster", "result": "success"}
        )
        api.until(lambda: passes() >= 5)
        assert len([seen for seen in api.writes() if "metal3clusters" in seen.path]) == 1


def test_an_own_status_write_does_not_wake_its_controller(api):
    """Report B42."""
    wish(api, "tea")
    with Running(api) as controller:
        api.until(lambda: granted(api) == "tea")
        cache = controller.parts.cache
        version = api.world.get(toy.KIND, KEY)["metadata"]["resourceVersion"]
        api.until(lambda: int(cache.kinds[toy.KIND].store.version) >= int(version))
        count = controller.parts.metrics.registry.get_sample_value(
            "workqueue_adds_total", {"controller": "metal3cluster", "name": "metal3cluster"}
        )
        assert count == 1


def test_the_namespace_limits_what_is_watched(api):
    with Running(api, namespace="ns") as controller:
        assert controller.wait_ready(10) == {}
        paths = {seen.path for seen in api.seen}
        assert "/apis/infrastructure.cluster.x-k8s.io/v1beta2/namespaces/ns/metal3clusters" in paths
        assert "/apis/infrastructure.cluster.x-k8s.io/v1beta2/metal3clusters" not in paths


def test_connections_to_a_workload_cluster_end_with_its_cluster(api):
    api.world.create(kinds.CLUSTER.new("ns", "w", spec={}))
    with Running(api) as controller:
        assert controller.wait_ready(10) == {}
        forgotten = []
        controller.parts.remotes.forget = forgotten.append
        api.world.delete(kinds.CLUSTER, Key("ns", "w"))
        api.until(lambda: forgotten == [Key("ns", "w")])


def test_the_host_manager_and_ip_pools_run_only_when_asked_for():
    names = lambda **changes: [d.name for d in wiring.chosen(Settings(**changes))]  # noqa: E731
    assert "baremetalhost" not in names()
    assert "ippool" not in names()
    assert {"metal3machine", "metal3cluster", "metal3data", "metal3datatemplate"} <= set(names())
    assert "baremetalhost" in names(host_manager=True)
    assert "ippool" in names(ip_pools=True)


def test_controllers_are_chosen_by_name():
    names = lambda *which: [d.name for d in wiring.chosen(Settings(controllers=which))]  # noqa: E731
    assert names("metal3data") == ["metal3data"]
    assert "metal3data" not in names("*", "-metal3data")
    with pytest.raises(SettingsError, match="unknown nonsense"):
        names("nonsense")


def test_secrets_are_never_watched_as_a_whole(api):
    controller = wiring.build(settings(host_manager=True, ip_pools=True), api.kubeconfig(), environ={}, timing=FAST)
    controller.start()
    try:
        api.until(lambda: [seen for seen in api.seen if seen.path == "/api/v1/secrets" and seen.watches])
        for seen in api.seen:
            if "/secrets" in seen.path and (seen.watches or seen.path == "/api/v1/secrets"):
                assert seen.query["labelSelector"] == "environment.metal3.io=baremetal"
        assert not [seen for seen in api.seen if "/configmaps" in seen.path]
    finally:
        controller.stop()


def test_a_port_in_use_is_a_startup_error_that_names_flag_and_address(api):
    with Running(api) as controller, pytest.raises(AddressError, match=r"--health-addr: can't listen on 127.0.0.1:"):
        Running(api, health_addr=f"127.0.0.1:{controller.ports['health']}")


def test_a_start_that_fails_leaves_no_port_open(api):
    with Running(api) as controller:
        taken = f"127.0.0.1:{controller.ports['diagnostics']}"
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with pytest.raises(AddressError, match="--diagnostics-address"):
            Running(api, health_addr=f"127.0.0.1:{port}", diagnostics_address=taken)
        socket.create_server(("127.0.0.1", port)).close()


def test_leader_election_without_a_namespace_says_what_to_do(api):
    config = api.kubeconfig()
    del config["contexts"][0]["context"]["namespace"]
    with pytest.raises(SettingsError, match="--leader-elect-namespace"):
        wiring.build(settings(leader_elect=True), config, environ={}, table=TABLE)
