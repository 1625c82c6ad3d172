"""Hosts whose BMC misbehaves: an error and a pause in the status, never a stuck host, and the others go on."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest
from capm3_api import condition, kinds
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import host as host_manager
from capm3_managers.env import Env
from capm3_managers.host import backoff
from capm3_managers.ports import BmcFailure
from capm3_managers.settings import Settings
from capm3_managers.testing.scenario import Faults, NeverSettled, Scenario
from capm3_managers.testing.servers import Server, Servers
from capm3_managers.testing.world import World
from hypothesis import given, settings
from hypothesis import strategies as st

NAMESPACE = "default"
ISO = {"url": "http://images.example.com/live.iso", "format": "live-iso"}
UNREACHABLE = BmcFailure("Unreachable", "connection refused")
BUSY = BmcFailure("Busy", "503, try later")
HANGS = BmcFailure("Timeout", "no answer in time")


def address(name: str) -> str:
    return f"redfish-virtualmedia+http://bmc.example.com/redfish/v1/Systems/{name}"


class Rack:
    """Several hosts and their servers."""

    def __init__(self, *hosts: str, faults: Faults | None = None, seed: int = 0, **spec: Any) -> None:
        self.world = World()
        self.servers = Servers({address(name): Server(delay=1) for name in hosts})
        for name in hosts:
            self.world.create(builders.bmc_secret(name, NAMESPACE))
            raw = builders.host(name, NAMESPACE)
            raw.pop("status")
            raw["spec"].update(spec)
            self.world.create(raw)
        self.scenario = Scenario(self.world, [host_manager.MANAGER], bmc=self.servers, faults=faults, seed=seed)

    def server(self, name: str) -> Server:
        return self.servers.servers[address(name)]

    def host(self, name: str) -> Raw:
        found = self.world.get(kinds.BARE_METAL_HOST, Key(NAMESPACE, name))
        assert found is not None
        return found

    def status(self, name: str) -> Raw:
        return self.host(name).get("status") or {}

    def state(self, name: str) -> str:
        return str((self.status(name).get("provisioning") or {}).get("state"))

    def patch(self, name: str, patch: Raw) -> None:
        self.world.patch(kinds.BARE_METAL_HOST, Key(NAMESPACE, name), patch)

    def look(self, name: str) -> None:
        self.scenario.run("baremetalhost", Key(NAMESPACE, name))

    def later(self, seconds: float) -> None:
        self.scenario.now += datetime.timedelta(seconds=seconds)

    def until_error(self, name: str) -> None:
        for _ in range(20):
            if self.status(name).get("operationalStatus") == "error":
                return
            self.look(name)
        raise AssertionError("no error came")


@pytest.mark.parametrize("failure", [UNREACHABLE, BUSY, HANGS], ids=lambda failure: failure.reason)
def test_a_bmc_that_does_not_answer_is_an_error_with_a_pause_and_then_the_host_goes_on(failure: BmcFailure) -> None:
    rack = Rack("h1")
    rack.server("h1").failing = [failure] * 3
    rack.until_error("h1")
    status = rack.status("h1")
    assert status["errorType"] == "registration error"
    assert status["errorMessage"].startswith(failure.reason)
    assert status["errorCount"] == 1
    ready = condition.get(rack.host("h1"), "Ready")
    assert ready is not None and (ready["status"], ready["reason"]) == ("False", "Error")
    manageable = condition.get(rack.host("h1"), "Manageable")
    assert manageable is not None and manageable["reason"] == "RegistrationFailed"
    rack.scenario.until_settled()
    assert rack.state("h1") == "available"
    assert rack.status("h1")["errorCount"] == 0


def test_during_the_pause_the_bmc_is_left_alone_whatever_wakes_the_host() -> None:
    rack = Rack("h1")
    rack.server("h1").failing = [UNREACHABLE] * 50
    rack.until_error("h1")
    looks, version = rack.server("h1").looks, rack.host("h1")["metadata"]["resourceVersion"]
    for _ in range(5):
        rack.patch("h1", {"metadata": {"labels": {"rack": "r1"}}})
        rack.look("h1")
    assert rack.server("h1").looks == looks
    rack.later(6)
    rack.look("h1")
    assert rack.server("h1").looks == looks + 1
    assert rack.status("h1")["errorCount"] == 2
    assert version != rack.host("h1")["metadata"]["resourceVersion"]


def test_a_changed_spec_ends_the_pause() -> None:
    rack = Rack("h1")
    rack.server("h1").failing = [UNREACHABLE]
    rack.until_error("h1")
    rack.patch("h1", {"spec": {"description": "cable mended"}})
    rack.look("h1")
    assert rack.state("h1") == "inspecting"


def test_a_refused_password_is_asked_for_rarely_and_a_new_one_counts_at_once() -> None:
    rack = Rack("h1")
    rack.server("h1").password = "new"
    rack.until_error("h1")
    looks = rack.server("h1").looks
    rack.later(50)
    rack.look("h1")
    assert rack.server("h1").looks == looks
    secret = builders.bmc_secret("h1", NAMESPACE)
    secret["data"]["password"] = builders.b64("new")
    rack.world.patch(kinds.SECRET, Key(NAMESPACE, "h1-bmc"), {"data": secret["data"]})
    rack.scenario.until_settled()
    assert rack.state("h1") == "available"
    good = rack.status("h1")["goodCredentials"]
    assert good == rack.status("h1")["triedCredentials"]


def test_a_password_changed_behind_a_running_host_is_an_error_and_changes_nothing_on_the_server() -> None:
    rack = Rack("h1", image=ISO)
    rack.scenario.until_settled()
    actions = list(rack.server("h1").actions)
    rack.server("h1").password = "changed"
    rack.later(61)
    rack.look("h1")
    assert rack.state("h1") == "provisioned"
    assert rack.status("h1")["errorMessage"].startswith("CredentialsRefused")
    assert rack.status("h1")["poweredOn"] is True
    assert rack.server("h1").actions == actions


def test_no_secret_appears_in_a_status_or_in_a_log_line() -> None:
    rack = Rack("h1", image=ISO)
    rack.server("h1").failing = [UNREACHABLE]
    rack.scenario.until_settled()
    assert "password" not in str(rack.status("h1"))
    said = [(item.plan.because, item.plan.facts, repr(item.plan)) for item in rack.scenario.passes if item.plan]
    assert not any("'password'" in repr(line) or "password='" in repr(line) for line in said)


@pytest.mark.parametrize("name", ["insert-media", "boot-once", "power-on"])
@pytest.mark.parametrize("failure", [BUSY, HANGS, BmcFailure("Failed", "500")], ids=lambda failure: failure.reason)
def test_an_action_that_fails_is_a_provisioning_error_and_is_done_again_after_the_pause(
    failure: BmcFailure, name: str
) -> None:
    rack = Rack("h1")
    rack.scenario.until_settled()
    rack.patch("h1", {"spec": {"image": ISO}})
    for _ in range(20):
        if rack.state("h1") == "provisioning":
            break
        rack.later(2)
        rack.look("h1")
    steps = ["insert-media", "boot-once", "power-on"]
    server, original = rack.server("h1"), rack.servers.perform
    failed: list[str] = []

    def perform(access: Any, op: str, args: Any) -> None:
        if op == name and not failed:
            failed.append(op)
            server.refusing = [failure]
        original(access, op, args)

    rack.servers.perform = perform  # type: ignore[method-assign]
    rack.look("h1")
    if not failed:  # the image goes in in one pass, the start is another
        rack.look("h1")
    assert rack.status("h1")["errorType"] == "provisioning error"
    assert rack.status("h1")["errorMessage"].startswith(f"{failure.reason}: {name}")
    rack.scenario.until_settled()
    assert rack.state("h1") == "provisioned"
    assert server.booted_from == ISO["url"]
    assert [op for op, _ in server.actions][-3:][-1] == steps[-1]
    assert "errorType" not in rack.status("h1")


def test_one_dead_bmc_does_not_keep_the_others_from_being_provisioned() -> None:
    rack = Rack("h1", "h2", "h3", image=ISO)
    rack.server("h2").failing = [HANGS] * 10_000
    with pytest.raises(NeverSettled):  # the dead one is asked again and again, ever more rarely
        rack.scenario.until_settled(max_passes=150)
    assert (rack.state("h1"), rack.state("h3")) == ("provisioned", "provisioned")
    assert rack.state("h2") == "registering"
    assert rack.status("h2")["operationalStatus"] == "error"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"data": {"username": builders.b64("x"), "password": ""}}, "no usable password"),
        ({"data": {"username": "%%%", "password": builders.b64("x")}}, "no usable username"),
        ({"data": None}, "no usable username and no password"),
    ],
)
def test_a_secret_that_can_not_be_used_names_what_is_missing(change: Raw, said: str) -> None:
    rack = Rack("h1")
    rack.world.patch(kinds.SECRET, Key(NAMESPACE, "h1-bmc"), change)
    rack.scenario.until_settled()
    assert said in rack.status("h1")["errorMessage"]
    assert rack.status("h1")["errorCount"] == 1
    assert rack.server("h1").looks == 0


def test_a_missing_secret_is_an_error_until_it_is_created() -> None:
    rack = Rack("h1")
    rack.world.delete(kinds.SECRET, Key(NAMESPACE, "h1-bmc"))
    rack.scenario.until_settled()
    assert "default/h1-bmc does not exist" in rack.status("h1")["errorMessage"]
    rack.world.create(builders.bmc_secret("h1", NAMESPACE))
    rack.scenario.until_settled()
    assert rack.state("h1") == "available"


@pytest.mark.parametrize(
    ("count", "message", "seconds"),
    [
        (1, "Unreachable: x", 5.0),
        (2, "Unreachable: x", 10.0),
        (4, "Busy: x", 40.0),
        (20, "Timeout: x", 600.0),
        (1, "CredentialsRefused: x", 60.0),
        (3, "TlsVerificationFailed: x", 240.0),
        (500, "NotSupported: x", 600.0),
    ],
)
def test_the_pause_doubles_with_each_error_up_to_a_limit(count: int, message: str, seconds: float) -> None:
    env = Env(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), random.Random(0), Settings())
    assert backoff.pause(count, message, env) == seconds


def _world(rack: Rack) -> dict[str, Any]:
    """What a world comes to, without times and counters."""
    server = rack.server("h1")
    status = rack.status("h1")
    return {
        "state": rack.state("h1"),
        "status": {
            key: status.get(key) for key in ("operationalStatus", "errorMessage", "errorCount", "poweredOn", "hardware")
        },
        "reasons": {item["type"]: item["reason"] for item in status["conditions"]},
        "server": (server.power, server.media, server.booted_from),
        "hardware": rack.world.get(kinds.HARDWARE_DATA, Key(NAMESPACE, "h1"))["spec"],  # type: ignore[index]
    }


def test_a_crash_after_any_write_comes_to_the_same_world() -> None:
    smooth = Rack("h1", image=ISO)
    smooth.scenario.until_settled()
    total = smooth.scenario.hand.writes
    assert total > 10
    for after in range(1, total + 1):
        rack = Rack("h1", image=ISO)
        rack.scenario.crash_after(after)
        rack.scenario.until_settled()
        assert _world(rack) == _world(smooth), f"crash after write {after}"


def test_a_crash_after_any_write_of_a_deletion_leaves_nothing() -> None:
    for after in range(1, 12):
        rack = Rack("h1", image=ISO)
        rack.scenario.until_settled()
        rack.world.delete(kinds.BARE_METAL_HOST, Key(NAMESPACE, "h1"))
        rack.scenario.crash_after(after)
        rack.scenario.until_settled()
        assert rack.world.get(kinds.BARE_METAL_HOST, Key(NAMESPACE, "h1")) is None
        assert (rack.server("h1").power, rack.server("h1").media) == ("off", "")


@settings(max_examples=25, deadline=None)
@given(
    failures=st.lists(st.sampled_from([UNREACHABLE, BUSY, HANGS]), max_size=4),
    refusals=st.lists(st.sampled_from([BUSY, HANGS]), max_size=3),
    delay=st.integers(0, 4),
    lag=st.integers(0, 4),
    seed=st.integers(0, 1000),
)
def test_whatever_passes_by_itself_ends_in_a_running_server(
    failures: list[BmcFailure], refusals: list[BmcFailure], delay: int, lag: int, seed: int
) -> None:
    rack = Rack("h1", image=ISO, faults=Faults(lag=lag, conflict_rate=0.2, workers=2), seed=seed)
    server = rack.server("h1")
    server.delay, server.failing, server.refusing = delay, list(failures), list(refusals)
    for _ in range(30):
        rack.scenario.until_settled(silent=False)
        if rack.state("h1") == "provisioned":
            break
    rack.scenario.until_settled()
    assert rack.state("h1") == "provisioned"
    assert (server.power, server.booted_from) == ("on", ISO["url"])
    assert rack.status("h1")["errorCount"] == 0
