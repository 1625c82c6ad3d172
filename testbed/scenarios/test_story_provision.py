"""A cluster comes up on real Redfish servers, and deleting it gives every server back."""

from __future__ import annotations

import base64
import datetime

import pytest
import yaml
from capm3_api import kinds, meta
from capm3_testbed.capi.api import mapping, name_of, text
from capm3_testbed.testing.story import Story

pytestmark = pytest.mark.timeout(600)


def test_a_cluster_comes_up_and_goes_without_a_trace(story: Story) -> None:
    story.add_hosts()
    story.add_cluster()
    story.wait("the cluster is ready", story.ready)
    _machines_and_hosts_are_one_to_one(story)
    _documents_are_rendered_for_their_machines(story)
    _nodes_are_paired(story)
    _servers_run_the_image_but_the_free_one(story)

    story.delete(kinds.CLUSTER, "demo")
    story.wait("nothing of the cluster is left", lambda: not story.left())
    story.wait("every host is released", lambda: not story.unreleased())
    story.wait("no Secret is left", lambda: not story.stray_secrets())
    _templates_hold_nothing_any_more(story)


def _machines_and_hosts_are_one_to_one(story: Story) -> None:
    machines = story.all(kinds.METAL3_MACHINE)
    held = {text(machine, "metadata", "annotations", "metal3.io/BareMetalHost") for machine in machines}
    assert len(machines) == 3
    assert len(held) == 3
    consumers = [text(host, "spec", "consumerRef", "name") for host in story.all(kinds.BARE_METAL_HOST)]
    assert sorted(filter(None, consumers)) == sorted(name_of(machine) for machine in machines)
    for machine in machines:
        host = text(machine, "metadata", "annotations", "metal3.io/BareMetalHost").partition("/")[2]
        assert text(machine, "spec", "providerID") == f"metal3://{story.namespace}/{host}/{name_of(machine)}"


def _documents_are_rendered_for_their_machines(story: Story) -> None:
    addresses = set()
    for machine in story.all(kinds.METAL3_MACHINE):
        documents = {}
        for field in ("metaData", "networkData"):
            secret = story.get(kinds.SECRET, text(machine, "status", field, "name")) or {}
            documents[field] = yaml.safe_load(base64.b64decode(text(secret, "data", field)))
        assert documents["metaData"]["name"] == name_of(machine)
        address = documents["metaData"]["address"]
        assert documents["networkData"]["networks"][0]["ip_address"] == address
        addresses.add(address)
    assert addresses == {"192.0.2.100", "192.0.2.101", "192.0.2.102"}


def _nodes_are_paired(story: Story) -> None:
    uids = {name_of(host): meta.uid_of(host) for host in story.all(kinds.BARE_METAL_HOST)}
    nodes = {name_of(node): node for node in story.nodes()}
    machines = story.all(kinds.MACHINE)
    assert sorted(nodes) == sorted(text(machine, "status", "nodeRef", "name") for machine in machines)
    for machine in machines:
        node = nodes[text(machine, "status", "nodeRef", "name")]
        host = text(machine, "spec", "providerID").split("/")[3]
        assert text(node, "spec", "providerID") == text(machine, "spec", "providerID")
        assert text(node, "metadata", "labels", "metal3.io/uuid") == uids[host]


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
