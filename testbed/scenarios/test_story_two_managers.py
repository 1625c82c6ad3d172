"""Two controllers at once, with and without election, never give one host to two machines."""

from __future__ import annotations

import signal
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from capm3_api import kinds, meta
from capm3_api.model import Raw
from capm3_controller.kube.reflector import Reflector, Scope
from capm3_managers.ports import ALL_NAMESPACES
from capm3_testbed import net
from capm3_testbed.capi.api import name_of, text
from capm3_testbed.controller import ControllerProcess
from capm3_testbed.kubeapi import KubeApi
from capm3_testbed.stack import Stack
from capm3_testbed.testing.story import Story

pytestmark = pytest.mark.timeout(600)
ELECTION = (
    "--leader-elect",
    "--leader-elect-lease-duration=4s",
    "--leader-elect-renew-deadline=3s",
    "--leader-elect-retry-period=1s",
    "--leader-elect-namespace=capm3-system",
)
TIERS = [pytest.param("embedded"), pytest.param("apiserver", marks=[pytest.mark.apiserver, pytest.mark.slow])]


class Claims:
    """Everyone who ever held each host, from a watch."""

    def __init__(self, api: KubeApi) -> None:
        self.holders: dict[str, set[str]] = defaultdict(set)
        self._reflector = Reflector(api.client, Scope(kinds.BARE_METAL_HOST, ALL_NAMESPACES), self)
        self._thread = threading.Thread(target=self._reflector.run, daemon=True)
        self._thread.start()

    def listed(self, items: list[Raw], version: str) -> None:
        for item in items:
            self.event("ADDED", item)

    def event(self, type_: str, obj: Raw) -> str:
        holder = text(obj, "spec", "consumerRef", "name")
        if holder:
            self.holders[name_of(obj)].add(holder)
        return meta.version_of(obj)

    def missing(self) -> None:
        pass

    def stop(self) -> None:
        self._reflector.stop()
        self._thread.join(5)


def _one_to_one(story: Story, claims: Claims) -> None:
    assert {len(holders) for holders in claims.holders.values()} == {1}
    holders = [next(iter(holders)) for holders in claims.holders.values()]
    assert sorted(holders) == sorted(name_of(machine) for machine in story.all(kinds.METAL3_MACHINE))


@pytest.mark.parametrize("tier", TIERS)
def test_a_leader_that_freezes_is_replaced_and_claims_nothing_when_it_wakes(
    tier: str, new_stack: Callable[..., Stack]
) -> None:
    stack = new_stack(tier, None)
    first = ControllerProcess(stack.tier.controller_access(), stack.folder, ELECTION, "first")
    second = ControllerProcess(stack.tier.controller_access(), stack.folder, ELECTION, "second")
    claims = Claims(stack.api)
    story = Story(stack, "race", stack.fleet.servers)
    try:
        first.start()
        second.launch()
        story.add_hosts()
        story.add_cluster()
        story.wait("the first host is claimed", lambda: bool(claims.holders))
        _signal(first, signal.SIGSTOP)
        story.wait("the second leads and finishes", story.ready)
        _signal(first, signal.SIGCONT)
        net.wait_until("the first has seen that it lost", lambda: _exit_code(first) is not None, 30)
        assert _exit_code(first) == 1
        _one_to_one(story, claims)
        story.remove()
    finally:
        claims.stop()
        for process in (first, second):
            _signal(process, signal.SIGCONT)
            process.stop()


def test_two_controllers_without_election_share_no_host(new_stack: Callable[..., Stack]) -> None:
    """What a wrong deployment does: claims are compare-and-swap, so it is wasteful and still right."""
    stack = new_stack("embedded", ())
    other = ControllerProcess(
        stack.tier.controller_access(),
        stack.folder,
        ("--controllers=*,-baremetalhost", "--host-manager=false"),
        "other",
    )
    claims = Claims(stack.api)
    story = Story(stack, "race", stack.fleet.servers)
    try:
        other.start()
        story.add_hosts()
        story.add_cluster(workers=3)
        story.wait("the cluster is ready", story.ready)
        _one_to_one(story, claims)
        story.remove()
    finally:
        claims.stop()
        other.stop()


def _signal(process: ControllerProcess, number: Any) -> None:
    if process.child is not None:
        process.child.send(number)


def _exit_code(process: ControllerProcess) -> int | None:
    return process.child.exit_code if process.child is not None else None
