"""What the demo shows of objects: states, what is waited for, and when a run counts as ready."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import Any

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_hwdrivers.testing.emulator import Request
from capm3_managers.overview import states
from capm3_managers.testing.world import World
from capm3_testbed.demo import progress, summary, view
from rich.console import Console

NS = "metal3"
NOW = "2026-01-01T00:00:00Z"


class Objects:
    """`overview.objects.Objects` over a World."""

    def __init__(self) -> None:
        self.world = World()

    def all(self, kind: Kind) -> Sequence[Raw]:
        return self.world.list(kind, NS)

    def get(self, kind: Kind, key: Key) -> Raw | None:
        return self.world.get(kind, key)

    def put(self, kind: Kind, name: str, *, owner: Raw | None = None, **parts: Any) -> Raw:
        obj = kind.new(NS, name, **parts)
        if owner is not None:
            ref = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
            obj["metadata"]["ownerReferences"] = [{**ref, "uid": meta.uid_of(owner)}]
        return self.world.put(obj)


def said(type_: str, status: str, message: str = "") -> Raw:
    return {"type": type_, "status": status, "reason": "R", "message": message, "lastTransitionTime": NOW}


def running(objects: Objects) -> None:
    objects.put(kinds.CLUSTER, "c", status={"phase": "Provisioned", "conditions": [said("Available", "True")]})
    status = {"availableReplicas": 1}
    objects.put(kinds.KUBEADM_CONTROL_PLANE, "c", spec={"replicas": 1}, status=status)
    objects.put(kinds.MACHINE_DEPLOYMENT, "c", spec={"replicas": 1}, status=status)
    for name in ("m1", "m2"):
        objects.put(kinds.MACHINE, name, spec={"infrastructureRef": {"name": name}}, status={"phase": "Running"})


def test_a_run_is_ready_when_all_machines_that_are_asked_for_run() -> None:
    objects = Objects()
    assert not view.ready(objects)
    running(objects)
    assert view.ready(objects)
    objects.world.patch(kinds.MACHINE_DEPLOYMENT, Key(NS, "c"), {"spec": {"replicas": 2}})
    assert not view.ready(objects)


def test_a_machine_that_waits_says_what_its_infrastructure_says() -> None:
    objects = Objects()
    running(objects)
    conditions = [said("Ready", "False", "summary"), said("HostFound", "False", "no host is free")]
    infra = objects.put(kinds.METAL3_MACHINE, "m1", status={"conditions": conditions})
    infra["metadata"]["annotations"] = {"metal3.io/BareMetalHost": f"{NS}/h1"}
    objects.world.put(infra)
    machine = objects.get(kinds.MACHINE, Key(NS, "m1")) or {}
    machine["status"] = {"phase": "Provisioning", "conditions": [said("BootstrapConfigReady", "True")]}
    objects.world.put(machine)
    row = next(row for row in states.rows(objects) if row.name == "m1")
    assert (row.state, row.why, row.done) == ("Provisioning on h1", "no host is free", False)


def test_a_host_in_trouble_shows_its_error_before_its_holder() -> None:
    objects = Objects()
    objects.put(
        kinds.BARE_METAL_HOST,
        "h1",
        spec={"consumerRef": {"name": "m1"}},
        status={"provisioning": {"state": "available"}, "poweredOn": True, "errorMessage": "password refused"},
    )
    objects.put(kinds.BARE_METAL_HOST, "h2", spec={"consumerRef": {"name": "m2"}})
    rows = {row.name: row for row in states.rows(objects)}
    assert (rows["h1"].state, rows["h1"].why, rows["h1"].done) == ("available, on", "password refused", False)
    assert (rows["h2"].state, rows["h2"].why) == ("new, power unknown", "held by m2")


def test_a_log_shows_each_line_once_until_it_changes() -> None:
    out = StringIO()
    shown = progress.Progress(Console(file=out, width=200))
    row = states.Row("Machine", "m1", "Pending", "why", False)
    with shown:
        for state in ("Pending", "Pending", "Running"):
            shown.show([states.Row("Machine", "m1", state, "", False)])
        shown.show([])
    assert [line.partition("] ")[2] for line in out.getvalue().splitlines()] == [
        "Machine m1: Pending",
        "Machine m1: Running",
        "Machine m1: gone",
    ]
    assert progress.line(row) == "Machine m1: Pending - why"


def test_the_summary_has_tree_documents_and_requests() -> None:
    objects = Objects()
    cluster = objects.put(kinds.CLUSTER, "c")
    infra = objects.put(kinds.METAL3_MACHINE, "m1", owner=cluster, status={"metaData": {"name": "m1-metadata"}})
    objects.put(kinds.BARE_METAL_HOST, "h1", spec={"consumerRef": {"name": "m1"}})
    objects.put(kinds.SECRET, "m1-metadata", data={"metaData": "bmFtZTogbTEK"})
    seen = [
        Request("GET", "/redfish/v1", 200),
        Request("POST", "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset", 204, {"ResetType": "On"}),
        Request("GET", "/redfish/v1/Systems/1", 200),
    ]
    found = summary.collect(objects.world, objects, {"h1": seen}, 1.5)
    (root,) = found.tree
    assert root["children"][0]["name"] == infra["metadata"]["name"]
    assert root["children"][0]["children"][0]["kind"] == "BareMetalHost"
    assert found.documents == {"m1 metaData": "name: m1\n"}
    assert found.redfish == {"h1": [("GET (reads)", 2), ("POST ComputerSystem.Reset (ResetType=On)", 1)]}
    out = StringIO()
    summary.draw(found, Console(file=out, width=120))
    assert "Metal3Machine m1" in out.getvalue()
    assert "Not ready after 1.5 s" in out.getvalue()
