"""A cluster comes up on real Redfish servers, and deleting it gives every server back."""

from __future__ import annotations

import datetime

import pytest
from capm3_api import kinds
from capm3_testbed.capi.api import mapping, text
from capm3_testbed.testing import checks
from capm3_testbed.testing.story import Story

pytestmark = pytest.mark.timeout(600)


def test_a_cluster_comes_up_and_goes_without_a_trace(story: Story) -> None:
    story.add_hosts()
    story.add_cluster()
    story.wait("the cluster is ready", story.ready)
    checks.provisioned(story)
    _servers_run_the_image_but_the_free_one(story)

    story.delete(kinds.CLUSTER, "demo")
    story.wait("nothing of the cluster is left", lambda: not story.left())
    story.wait("every host is released", lambda: not story.unreleased())
    story.wait("no Secret is left", lambda: not story.stray_secrets())
    _templates_hold_nothing_any_more(story)


def _servers_run_the_image_but_the_free_one(story: Story) -> None:
    running = [server.name for server in story.servers if story.state(server).booted_image]
    assert len(running) == 3
    (free,) = [server for server in story.servers if server.name not in running]
    inserted = [request for request in story.requests(free) if "InsertMedia" in request.path]
    assert not [request for request in inserted if request.at >= _begin(story)]


def _begin(story: Story) -> float:
    """When this story's hosts were made; servers are shared with earlier stories."""
    made = min(text(host, "metadata", "creationTimestamp") for host in story.all(kinds.BARE_METAL_HOST))
    return datetime.datetime.fromisoformat(made).timestamp()


def _templates_hold_nothing_any_more(story: Story) -> None:
    for kind in (kinds.METAL3_DATA_TEMPLATE, kinds.METAL3_MACHINE_TEMPLATE):
        for template in story.all(kind):
            assert not mapping(template, "status").get("indexes")
