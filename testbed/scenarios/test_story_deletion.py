"""A cluster that is taken apart in any order ends the same: every host free, nothing left."""

from __future__ import annotations

import pytest
from capm3_api import kinds
from capm3_api.meta import Kind
from capm3_testbed.testing.story import REMOVED, Story

pytestmark = pytest.mark.timeout(600)
_NOT_HOSTS = tuple(kind for kind in REMOVED if kind not in (kinds.BARE_METAL_HOST, kinds.HARDWARE_DATA))

ORDERS = {
    "the infrastructure before the cluster": (
        kinds.METAL3_MACHINE,
        kinds.METAL3_CLUSTER,
        kinds.METAL3_MACHINE_TEMPLATE,
        kinds.CLUSTER,
        kinds.MACHINE_DEPLOYMENT,
        kinds.METAL3_DATA_TEMPLATE,
        kinds.IP_POOL,
    ),
    "templates, data and addresses before the machines": (
        kinds.IP_CLAIM,
        kinds.METAL3_DATA,
        kinds.METAL3_DATA_CLAIM,
        kinds.IP_POOL,
        kinds.METAL3_DATA_TEMPLATE,
        kinds.METAL3_MACHINE_TEMPLATE,
        kinds.CLUSTER,
    ),
    "everything at once": _NOT_HOSTS,
}


@pytest.mark.parametrize("order", [pytest.param(order, id=name) for name, order in ORDERS.items()])
def test_the_order_of_deletion_does_not_matter(small: Story, order: tuple[Kind, ...]) -> None:
    small.add_hosts()
    small.add_cluster(workers=1)
    small.wait("the cluster is ready", small.ready)
    for kind in order:
        small.let_go(kind)
    _nothing_is_left(small)


def test_a_cluster_may_be_deleted_while_it_comes_up(small: Story) -> None:
    small.add_hosts()
    small.add_cluster()
    small.wait("data of the first machine is there", lambda: bool(small.all(kinds.METAL3_DATA)))
    for kind in (kinds.CLUSTER, kinds.METAL3_DATA_TEMPLATE, kinds.METAL3_MACHINE_TEMPLATE, kinds.IP_POOL):
        small.delete(kind, "demo")
    _nothing_is_left(small)


def _nothing_is_left(story: Story) -> None:
    left = tuple(kind for kind in _NOT_HOSTS if kind not in (kinds.KUBEADM_CONFIG_TEMPLATE,))
    story.wait("every host is released", lambda: not story.unreleased())
    for kind in left:
        story.let_go(kind)
    story.wait("no object is left", lambda: not story.left(left))
    story.wait("no Secret is left", lambda: not story.stray_secrets())
