"""Leader election: one leader, a fence that closes in time, records that client-go understands."""

from __future__ import annotations

import re

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_controller.kube.client import Client
from capm3_controller.kube.fence import Fence
from capm3_controller.kube.leader import NAME, Elector, Terms
from capm3_controller.kube.transport import Transport
from capm3_controller.testing.tinyapi import TinyApi
from capm3_managers.ports import ApiError

KEY = Key("capm3-system", NAME)


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def api():
    with TinyApi() as server:
        yield server


@pytest.fixture
def clock():
    return Clock()


def candidate(api, clock, name):
    fence = Fence(clock)
    client = Client(Transport(api.endpoint, user_agent="t"))
    return Elector(client, KEY, name, fence, clock=clock), fence


def lease(api):
    return api.world.get(kinds.LEASE, KEY)["spec"]


def test_the_first_candidate_leads_and_writes_a_record_that_client_go_reads(api, clock):
    one, fence = candidate(api, clock, "one")
    assert one.turn()
    spec = lease(api)
    assert spec["holderIdentity"] == "one"
    assert spec["leaseDurationSeconds"] == 15
    assert spec["leaseTransitions"] == 0
    for name in ("renewTime", "acquireTime"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", spec[name])
    assert fence.remaining == 10


def test_the_second_waits_a_whole_lease_on_its_own_clock(api, clock):
    one, _ = candidate(api, clock, "one")
    two, fence = candidate(api, clock, "two")
    one.turn()
    assert not two.turn()
    clock.now += 14.9
    assert not two.turn()
    with pytest.raises(ApiError):
        fence.check()
    clock.now += 0.2
    assert two.turn()
    assert lease(api)["leaseTransitions"] == 1
    assert lease(api)["holderIdentity"] == "two"


def test_a_renewal_starts_the_others_wait_anew(api, clock):
    one, _ = candidate(api, clock, "one")
    two, _ = candidate(api, clock, "two")
    one.turn()
    two.turn()
    for _ in range(5):
        clock.now += 5
        assert one.turn()
        assert not two.turn()
    assert lease(api)["leaseTransitions"] == 0


def test_a_stopped_process_finds_its_fence_closed_before_it_can_write(api, clock):
    """Report B62: SIGSTOP for two leases, then SIGCONT."""
    one, fence = candidate(api, clock, "one")
    two, other = candidate(api, clock, "two")
    one.turn()
    two.turn()
    fence.check()
    clock.now += 30
    assert two.turn()
    with pytest.raises(ApiError, match="NotLeader"):
        fence.check()
    assert not one.turn()
    assert not one.leading
    other.check()
    assert lease(api)["holderIdentity"] == "two"


def test_an_unreachable_server_is_borne_until_the_renew_deadline(api, clock):
    one, fence = candidate(api, clock, "one")
    one.turn()
    api.intercept = lambda seen: (503, {})
    clock.now += 9
    assert one.turn()
    fence.check()
    clock.now += 1.1
    with pytest.raises(ApiError):
        fence.check()
    assert not one.turn()


def test_somebody_elses_label_on_the_lease_does_not_cost_the_lead(api, clock):
    one, _ = candidate(api, clock, "one")
    one.turn()
    hits = []

    def conflict_once(seen):
        if seen.method == "PATCH" and not hits:
            hits.append(seen)
            return 409, {"reason": "Conflict"}
        return None

    api.intercept = conflict_once
    clock.now += 2
    assert one.turn()
    clock.now += 2
    assert one.turn()
    assert one.error == ""


def test_two_candidates_at_once_make_one_leader(api, clock):
    candidates = [candidate(api, clock, f"c{number}") for number in range(5)]
    assert sum(one.turn() for one, _ in candidates) == 1
    clock.now += 100
    assert sum(one.turn() for one, _ in candidates if not one.leading) <= 1
    assert sum(fence.remaining > 0 for _, fence in candidates) <= 1


def test_a_released_lease_is_taken_at_once(api, clock):
    one, fence = candidate(api, clock, "one")
    two, _ = candidate(api, clock, "two")
    one.turn()
    assert not two.turn()
    one.release()
    assert lease(api)["holderIdentity"] == ""
    assert fence.remaining == 0
    assert two.turn()


def test_a_lease_of_another_is_not_released(api, clock):
    one, _ = candidate(api, clock, "one")
    two, _ = candidate(api, clock, "two")
    one.turn()
    two.turn()
    clock.now += 20
    two.turn()
    one.release()
    assert lease(api)["holderIdentity"] == "two"


def test_fields_of_the_record_that_we_do_not_know_survive(api, clock):
    api.world.create(kinds.LEASE.new(KEY.namespace, KEY.name, spec={"strategy": "OldestEmulationVersion"}))
    one, _ = candidate(api, clock, "one")
    assert one.turn()
    assert lease(api)["strategy"] == "OldestEmulationVersion"


def test_a_missing_right_is_named(api, clock):
    api.intercept = lambda seen: (403, {"reason": "Forbidden", "message": "cannot get leases"})
    one, _ = candidate(api, clock, "one")
    assert not one.turn()
    assert "cannot get leases" in one.error


def test_run_tells_of_the_win_and_of_the_loss_once(api):
    client = Client(Transport(api.endpoint, user_agent="t"))
    fence = Fence()
    one = Elector(client, KEY, "one", fence, terms=Terms(0.3, 0.2, 0.02))
    told = []

    def started():
        told.append("started")
        fence.check()
        api.world.patch(kinds.LEASE, KEY, {"spec": {"holderIdentity": "thief"}})

    one.run(started, lambda: told.append("lost"))
    assert told == ["started", "lost"]
    with pytest.raises(ApiError):
        fence.check()


@pytest.mark.parametrize("terms", [(10, 10, 2), (15, 2, 2), (15, 10, 0)])
def test_terms_that_can_not_work_are_refused(terms):
    with pytest.raises(ValueError, match="lease duration"):
        Terms(*terms)


def test_a_record_that_makes_no_sense_does_not_kill_the_election(api, clock):
    spec = {"holderIdentity": "x", "leaseDurationSeconds": "soon"}
    api.intercept = lambda seen: (200, {"metadata": {}, "spec": spec}) if seen.method == "GET" else None
    one, fence = candidate(api, clock, "one")
    assert not one.turn()
    assert "ValueError" in one.error
    api.intercept = lambda seen: None
    assert one.turn()
    fence.check()
