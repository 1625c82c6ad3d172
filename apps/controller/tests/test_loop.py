"""One pass after the other: what each way of ending does to the queue, the numbers and the world."""

from __future__ import annotations

import datetime
import logging
import random

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_controller.kube.cache import Cache
from capm3_controller.kube.client import Client
from capm3_controller.kube.fence import Fence
from capm3_controller.kube.reflector import Timing
from capm3_controller.kube.transport import Transport
from capm3_controller.runtime.executor import Executor, Hands
from capm3_controller.runtime.loop import Loop
from capm3_controller.runtime.metrics import Metrics
from capm3_controller.runtime.queue import Queue
from capm3_controller.testing import toy
from capm3_controller.testing.tinyapi import TinyApi
from capm3_managers.env import Env
from capm3_managers.manager import Ports
from capm3_managers.ports import BmcError, BmcFailure

KEY = Key("ns", "c")
KIND = toy.KIND


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Bmc:
    def __init__(self):
        self.failure = None
        self.done = []

    def perform(self, access, op, args):
        self.done.append(op)
        if self.failure:
            raise BmcError(self.failure)


class Setup:
    def __init__(self, api):
        self.api = api
        self.bmc = Bmc()
        self.fence = Fence()
        self.fence.open()
        self.metrics = Metrics()
        self.client = Client(Transport(api.endpoint, user_agent="t"))
        self.cache = Cache(self.client, [], timing=Timing())
        self.clock = Clock()
        numbers = self.metrics.controller("metal3cluster", 1, lambda: [])
        self.queue = Queue(numbers, clock=self.clock)
        hands = Hands(self.client, self.cache, None, self.bmc, self.fence)
        ports = Ports(self.cache, None, self.bmc)
        executor = Executor(hands, self.metrics)
        self.loop = Loop(toy.MANAGER, self.queue, ports, executor, numbers, self.env)

    def env(self):
        return Env(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), random.Random(1))

    def put(self, wish):
        self.api.world.put(KIND.new(KEY.namespace, KEY.name, spec={"wish": wish}))

    def object(self):
        return self.api.world.get(KIND, KEY)

    def count(self, name, **labels):
        return self.metrics.registry.get_sample_value(name, {"controller": "metal3cluster", **labels})

    def due(self):
        return self.queue._schedule.next_due()


@pytest.fixture
def setup():
    with TinyApi() as api:
        yield Setup(api)


def test_a_pass_writes_what_was_decided_and_succeeds(setup):
    setup.put("tea")
    assert setup.loop.turn(KEY) == "success"
    assert setup.object()["status"] == {"granted": "tea"}
    assert setup.count("controller_runtime_reconcile_total", result="success") == 1
    assert setup.due() is None


def test_a_settled_object_is_silent(setup):
    setup.put("tea")
    setup.loop.turn(KEY)
    writes = len(setup.api.writes())
    for _ in range(5):
        assert setup.loop.turn(KEY) == "success"
    assert len(setup.api.writes()) == writes


def test_an_object_that_is_gone_ends_quietly(setup):
    assert setup.loop.turn(KEY) == "success"
    assert setup.api.writes() == []


def test_a_timer_is_kept(setup):
    setup.put("later")
    assert setup.loop.turn(KEY) == "requeue_after"
    assert setup.due() == 30.0


def test_a_failed_plan_writes_its_conditions_and_comes_back_with_growing_delay(setup):
    setup.put("retry")
    for expected in (0.005, 0.01):
        assert setup.loop.turn(KEY) == "error"
        assert setup.due() == pytest.approx(expected)
        setup.clock.now = 100
        setup.queue._schedule.ripen(100)
        setup.clock.now = 0
    assert setup.object()["status"] == {"granted": "retry"}
    assert setup.count("controller_runtime_reconcile_errors_total") == 2


def test_a_conflict_is_no_error_and_observes_again(setup, caplog):
    setup.put("tea")
    setup.api.intercept = lambda seen: (409, {"reason": "Conflict"}) if seen.method == "PATCH" else None
    with caplog.at_level(logging.WARNING):
        assert setup.loop.turn(KEY) == "requeue"
    assert not caplog.records
    assert setup.count("controller_runtime_reconcile_errors_total") == 0
    setup.api.intercept = lambda seen: None
    assert setup.loop.turn(KEY) == "success"
    assert setup.queue.retries.failures(KEY) == 0


def test_a_read_error_is_never_taken_for_absence(setup):
    setup.put("tea")
    setup.api.intercept = lambda seen: (500, {}) if seen.method == "GET" else None
    assert setup.loop.turn(KEY) == "error"
    assert setup.api.writes() == []


def test_a_bug_costs_one_pass_and_not_the_worker(setup, caplog):
    setup.put("bug")
    assert setup.loop.turn(KEY) == "error"
    assert setup.count("controller_runtime_reconcile_panics_total") == 1
    assert "a bug" in caplog.text
    setup.put("tea")
    assert setup.loop.turn(KEY) == "success"


def test_a_lost_lease_stops_every_write(setup):
    setup.put("tea")
    setup.fence.close()
    assert setup.loop.turn(KEY) == "error"
    assert setup.api.writes() == []
    setup.put("hardware")
    assert setup.loop.turn(KEY) == "error"
    assert setup.bmc.done == []


def test_a_lease_lost_between_two_writes_fences_the_second(setup):
    setup.put("create")
    setup.api.intercept = lambda seen: setup.fence.close() if seen.method == "POST" else None
    assert setup.loop.turn(KEY) == "error"
    assert [seen.method for seen in setup.api.writes()] == ["POST"]
    assert "status" not in setup.object()


def test_a_failed_hardware_action_is_recovered_under_the_version_our_own_patch_made(setup):
    setup.put("hardware")
    setup.bmc.failure = BmcFailure("Timeout", "the BMC did not answer")
    assert setup.loop.turn(KEY) == "requeue_after"
    obj = setup.object()
    assert obj["metadata"]["annotations"] == {"toy": "yes"}
    assert obj["status"] == {"error": "power-on: Timeout", "list": ["x"]}
    assert setup.due() == 5.0
    assert (
        setup.metrics.registry.get_sample_value("capm3_bmc_actions_total", {"op": "power-on", "result": "error"}) == 1
    )


def test_a_create_that_exists_is_as_good(setup):
    setup.put("create")
    setup.loop.turn(KEY)
    setup.api.world.patch(KIND, KEY, {"status": None}, subresource="status")
    assert setup.loop.turn(KEY) == "success"
    assert setup.api.world.get(kinds.METAL3_DATA, Key("ns", "c-0")) is not None


def test_a_pass_is_one_line_and_holds_no_secret(setup, caplog):
    setup.put("hardware")
    setup.bmc.failure = BmcFailure("Timeout", "the BMC did not answer")
    with caplog.at_level(logging.INFO):
        setup.loop.turn(KEY)
    lines = [record for record in caplog.records if record.name.startswith("capm3_controller")]
    assert len(lines) == 1
    assert lines[0].facts["writes"] == 3
    assert toy.ACCESS.password not in repr(lines[0].__dict__)
    assert toy.ACCESS.password not in repr(toy.ACCESS)


def test_a_settled_pass_is_logged_at_debug_level_only(setup, caplog):
    setup.put("tea")
    setup.loop.turn(KEY)
    caplog.clear()
    with caplog.at_level(logging.INFO):
        setup.loop.turn(KEY)
    assert [record.v for record in caplog.records if record.name.startswith("capm3_controller")] == [4]


def test_an_object_that_went_while_it_was_deleted_is_no_failure(setup, caplog):
    obj = KIND.new(KEY.namespace, KEY.name, spec={"wish": "tea"})
    obj["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"]}
    setup.api.world.put(obj)
    setup.api.intercept = lambda seen: (404, {"reason": "NotFound"}) if seen.method == "PATCH" else None
    with caplog.at_level(logging.WARNING):
        assert setup.loop.turn(KEY) == "success"
    assert not caplog.records


def test_a_living_object_that_is_not_found_is_a_failure(setup):
    setup.put("tea")
    setup.api.intercept = lambda seen: (404, {"reason": "NotFound"}) if seen.method == "PATCH" else None
    assert setup.loop.turn(KEY) == "error"


def test_a_lease_lost_while_a_write_waits_for_its_turn_fences_it(setup):
    """The rate limit may hold a write for longer than the lease lasts."""
    setup.put("tea")
    turns = []

    def acquire():
        turns.append(1)
        if len(turns) == 2:
            setup.fence.close()

    setup.client.transport._limiter = type("Limiter", (), {"acquire": staticmethod(acquire)})
    assert setup.loop.turn(KEY) == "error"
    assert len(turns) == 2
    assert setup.api.writes() == []
