"""The scenario engine itself: caches that trail, timers without a clock, crashes, workers, settled and silent."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import pytest
from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.testing import builders
from capm3_managers import draft as drafts
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.manager import Manager, Ports
from capm3_managers.plan import Patch, Plan
from capm3_managers.ports import ApiError
from capm3_managers.testing.cache import Cache
from capm3_managers.testing.hand import Crash
from capm3_managers.testing.scenario import START, Faults, NeverSettled, Scenario
from capm3_managers.testing.world import World

KEY = Key(builders.NAMESPACE, "c1")


@dataclasses.dataclass(frozen=True)
class Seen:
    observed: Any
    others: tuple[Any, ...] = ()


def toy(step: Any) -> Manager:
    """A manager of Metal3Clusters that has one step."""

    def observe(ports: Ports, key: Key, env: Env) -> Seen:
        hosts = tuple(ports.reader.list(kinds.BARE_METAL_HOST, key.namespace))
        return Seen(ports.reader.get(kinds.METAL3_CLUSTER, key), hosts)

    def decide(seen: Seen, env: Env) -> Plan:
        if seen.observed is None:
            return Plan()
        return drafts.run((step,), (), seen, Draft.start(seen.observed, env), env)

    return Manager("metal3cluster", kinds.METAL3_CLUSTER, observe, decide)


def world() -> World:
    found = World()
    found.put(builders.metal3_cluster())
    return found


def count(seen: Seen, draft: Draft, env: Env) -> Draft:
    """Counts to three in the status, a pass each."""
    done = (seen.observed.get("status") or {}).get("n", 0)
    return draft.patch({"status": {"n": done + 1}}).again(10) if done < 3 else draft


def test_the_clock_jumps_instead_of_running() -> None:
    scenario = Scenario(world(), [toy(count)])
    assert scenario.until_settled() >= 4
    assert scenario.now == START + datetime.timedelta(seconds=30)


def test_a_manager_that_never_stops_writing_is_found() -> None:
    def restless(seen: Seen, draft: Draft, env: Env) -> Draft:
        done = (seen.observed["metadata"].get("labels") or {}).get("n", "0")
        return draft.patch({"metadata": {"labels": {"n": str(int(done) + 1)}}})

    with pytest.raises(NeverSettled, match="not settled after 50 passes"):
        Scenario(world(), [toy(restless)]).until_settled(50)


def test_a_manager_that_is_quiet_only_because_nothing_wakes_it_is_not_silent() -> None:
    def fickle(seen: Seen, draft: Draft, env: Env) -> Draft:
        return draft.patch({"status": {"roll": env.rng.random()}})

    with pytest.raises(AssertionError, match="is not silent"):
        Scenario(world(), [toy(fickle)]).until_settled()


def test_a_crash_comes_right_after_the_write_and_a_new_process_goes_on() -> None:
    found = world()
    scenario = Scenario(found, [toy(count)])
    scenario.crash_after(2)
    scenario.until_settled()
    assert (found.get(kinds.METAL3_CLUSTER, KEY) or {})["status"]["n"] == 3


def test_a_crash_in_a_single_pass_is_raised() -> None:
    scenario = Scenario(world(), [toy(count)])
    scenario.crash_after(1)
    with pytest.raises(Crash):
        scenario.run("metal3cluster", KEY)


def test_a_refused_pass_is_noted_and_tried_again() -> None:
    found = world()

    def stale(seen: Seen, draft: Draft, env: Env) -> Draft:
        return draft if (seen.observed.get("status") or {}).get("n") else draft.patch({"status": {"n": [1]}})

    scenario = Scenario(found, [toy(stale)], faults=Faults(conflict_rate=0.9), seed=3)
    scenario.until_settled()
    assert any(isinstance(item.error, ApiError) and item.error.is_conflict for item in scenario.passes)
    assert (found.get(kinds.METAL3_CLUSTER, KEY) or {})["status"]["n"] == [1]


def test_actors_act_when_managers_rest() -> None:
    def join(found: World, now: datetime.datetime) -> None:
        if found.get(kinds.BARE_METAL_HOST, Key(KEY.namespace, "h1")) is None:
            found.create(builders.host("h1"))

    def follow(seen: Seen, draft: Draft, env: Env) -> Draft:
        return draft.patch({"status": {"hosts": len(seen.others)}}).again(5)

    found = world()
    Scenario(found, [toy(follow)], actors=[join]).until_settled()
    assert (found.get(kinds.METAL3_CLUSTER, KEY) or {})["status"]["hosts"] == 1


def test_workers_decide_on_one_view_so_that_an_unguarded_write_is_lost() -> None:
    """What the engine is for: a read-modify-write without precondition shows its fault."""

    def joined(*, guarded: bool) -> tuple[int, int]:
        found = World()
        found.put(builders.host("h1", spec={"members": []}))
        for number in range(4):
            found.put(builders.metal3_cluster(f"c{number}"))

        def join(seen: Seen, draft: Draft, env: Env) -> Draft:
            host, name = seen.others[0], meta.key_of(seen.observed).name
            patch = {"spec": {"members": [*host["spec"]["members"], name]}}
            version = meta.version_of(host) if guarded else ""
            return draft.act(Patch(kinds.BARE_METAL_HOST, meta.key_of(host), patch, version))

        scenario = Scenario(found, [toy(join)], faults=Faults(workers=4), seed=1)
        scenario._turn()
        host = found.get(kinds.BARE_METAL_HOST, Key(KEY.namespace, "h1")) or {}
        return len(host["spec"]["members"]), sum(1 for item in scenario.passes if item.error is None)

    assert joined(guarded=False) == (1, 4), "three of four writes are lost, and nobody is told"
    assert joined(guarded=True) == (1, 1), "three of four are refused"


def test_a_cache_trails_until_the_change_is_delivered() -> None:
    found = world()
    cache = Cache(found)
    cache.fill()
    found.patch(kinds.METAL3_CLUSTER, KEY, {"metadata": {"labels": {"a": "b"}}})
    found.create(builders.host("h1"))
    assert cache.pending and cache.get(kinds.BARE_METAL_HOST, Key(KEY.namespace, "h1")) is None
    assert cache.get(kinds.BARE_METAL_HOST, Key(KEY.namespace, "h1"), live=True) is not None
    changes = cache.deliver_all()
    assert {(change.kind.kind, change.old is None) for change in changes} == {
        ("Metal3Cluster", False),
        ("BareMetalHost", True),
    }
    assert cache.get(kinds.BARE_METAL_HOST, Key(KEY.namespace, "h1")) is not None and not cache.pending


def test_an_object_made_anew_between_two_deliveries_is_a_deletion_and_a_creation() -> None:
    found = world()
    cache = Cache(found)
    cache.fill()
    found.delete(kinds.METAL3_CLUSTER, KEY)
    found.create(builders.metal3_cluster())
    assert [change.new is None for change in cache.deliver_all()] == [True, False]
