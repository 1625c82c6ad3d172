"""The main story on `World`: no network, no threads, no time, so that unlucky orders can be tried too."""

from __future__ import annotations

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_managers.testing.scenario import Faults
from capm3_testbed.capi.api import mapping, text
from capm3_testbed.testing import checks
from capm3_testbed.testing.story import CLEANED
from capm3_testbed.testing.worldsite import IMAGE, WorldSite

FAULTS = {
    "kind": Faults(),
    "lagging caches, conflicts and many workers": Faults(lag=4, conflict_rate=0.3, workers=10),
}


@pytest.mark.parametrize("faults", FAULTS.values(), ids=FAULTS)
def test_a_cluster_comes_up_and_goes_without_a_trace_on_world(faults: Faults) -> None:
    site = WorldSite(faults=faults)
    site.add_hosts()
    site.add_cluster()
    site.settle()
    checks.provisioned(site)
    assert sorted(server.booted_from for server in site.servers.values()) == sorted([IMAGE] * 3 + ["disk"])

    site.world.delete(kinds.CLUSTER, Key(site.namespace, "demo"))
    site.settle()
    assert [obj for kind in CLEANED for obj in site.all(kind)] == []
    for host in site.all(kinds.BARE_METAL_HOST):
        assert not {"consumerRef", "image", "userData", "metaData", "networkData"} & set(mapping(host, "spec"))
        assert text(host, "status", "provisioning", "state") == "available"
    for server in site.servers.values():
        assert server.media == ""
    assert sorted(secret["metadata"]["name"] for secret in site.all(kinds.SECRET)) == [
        f"host-{number}-bmc" for number in range(1, 5)
    ]
    for template in site.all(kinds.METAL3_DATA_TEMPLATE):
        assert not mapping(template, "status").get("indexes")


def test_too_few_hosts_leave_the_rest_waiting_with_a_reason() -> None:
    site = WorldSite(hosts=2)
    site.add_hosts()
    site.add_cluster(workers=2)
    site.settle()
    running = [machine for machine in site.all(kinds.MACHINE) if text(machine, "status", "phase") == "Running"]
    assert len(running) == 2
    (waiting,) = [
        machine for machine in site.all(kinds.METAL3_MACHINE) if not mapping(machine, "spec").get("providerID")
    ]
    messages = [item["message"] for item in waiting["status"]["conditions"] if item["type"] == "AssociateBareMetalHost"]
    assert "no available host found" in messages[0]
