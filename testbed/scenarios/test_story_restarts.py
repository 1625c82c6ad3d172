"""What ends in the middle of the work and comes back: the API server, its history, the controller."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from capm3_api import kinds
from capm3_testbed.capi.api import name_of, text
from capm3_testbed.stack import Stack
from capm3_testbed.testing.story import Story
from capm3_testbed.tiers import ApiserverTier

pytestmark = pytest.mark.timeout(600)


@pytest.mark.apiserver
@pytest.mark.slow
def test_a_cluster_comes_up_although_the_api_server_restarts_and_forgets(new_stack: Callable[..., Stack]) -> None:
    stack = new_stack("apiserver")
    assert isinstance(stack.tier, ApiserverTier)
    assert stack.tier.control_plane is not None
    plane = stack.tier.control_plane
    story = Story(stack, "restart", stack.fleet.servers)
    story.add_hosts()
    story.add_cluster()
    story.wait("the first host is claimed", lambda: _claimed(story) >= 1)
    plane.restart()
    story.wait("the first machine runs", lambda: story.machines_running() >= 1)
    plane.compact()
    story.wait("the cluster is ready", story.ready)
    assert stack.controller is not None
    assert stack.controller.child is not None
    assert stack.controller.child.exit_code is None
    assert _claimed(story) == 3
    story.delete(kinds.CLUSTER, "demo")
    story.wait("every host is released", lambda: not story.unreleased())


def test_a_controller_that_is_killed_again_and_again_gets_there(new_stack: Callable[..., Stack]) -> None:
    stack = new_stack("embedded")
    assert stack.controller is not None
    story = Story(stack, "killed", stack.fleet.servers)
    story.add_hosts()
    story.add_cluster(workers=1)
    marks = (
        ("a host is inspected", lambda: bool(story.all(kinds.HARDWARE_DATA))),
        ("a host is claimed", lambda: _claimed(story) >= 1),
        ("data is rendered", lambda: bool(story.all(kinds.METAL3_DATA))),
        ("a host is being provisioned", lambda: "provisioning" in _states(story) or "provisioned" in _states(story)),
        ("a machine runs", lambda: story.machines_running() >= 1),
    )
    for what, check in marks:
        story.wait(what, check)
        stack.controller.kill()
        stack.controller.launch()
    story.wait("the cluster is ready", story.ready)
    held = [text(host, "spec", "consumerRef", "name") for host in story.all(kinds.BARE_METAL_HOST)]
    assert sorted(filter(None, held)) == sorted(name_of(machine) for machine in story.all(kinds.METAL3_MACHINE))
    story.delete(kinds.CLUSTER, "demo")
    story.wait("every host is released", lambda: not story.unreleased())


def _claimed(story: Story) -> int:
    return sum(1 for host in story.all(kinds.BARE_METAL_HOST) if text(host, "spec", "consumerRef", "name"))


def _states(story: Story) -> set[str]:
    return {text(host, "status", "provisioning", "state") for host in story.all(kinds.BARE_METAL_HOST)}
