"""The host's tables and steps on plain values: what each state says, reads and asks for."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest
from capm3_api import condition, names
from capm3_api.external.bmo import BareMetalHost
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import watches
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.host import conditions, credentials, detach, images, power, prepare, states
from capm3_managers.host.decide import HANDLERS, decide
from capm3_managers.host.snapshot import Snapshot
from capm3_managers.plan import Hardware, Patch, Plan
from capm3_managers.ports import BmcAccess, BmcFailure, BmcView
from capm3_managers.settings import Settings
from capm3_managers.testing.world import World

NOW = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
ISO = {"url": "http://images.example.com/live.iso", "format": "live-iso"}
QCOW = {"url": "http://images.example.com/disk.qcow2", "format": "qcow2", "checksum": "abc"}
ACCESS = BmcAccess("redfish-virtualmedia://bmc.example.com", "admin", "password")


def env() -> Env:
    return Env(NOW, random.Random(0), Settings())


def snapshot(state: str, view: BmcView | BmcFailure | None = None, **changes: Any) -> Snapshot:
    """A host with its finalizer in `state`, its Secret claimed, its server as `view`."""
    raw = builders.host("h1", state=state)
    raw["metadata"]["finalizers"] = [names.HOST_FINALIZER]
    raw["metadata"]["annotations"] = changes.pop("annotations", {})
    if changes.pop("deleting", False):
        raw["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    raw["spec"].update(changes.pop("spec", {}))
    raw["status"].update(changes.pop("status", {}))
    secret = builders.bmc_secret("h1")
    claim = credentials.claim(BareMetalHost.from_raw(raw), secret)
    assert claim is not None
    secret["metadata"].update(claim.patch["metadata"])
    return Snapshot(raw, BareMetalHost.from_raw(raw), None, secret, ACCESS, server=view, **changes)


def state_of(plan: Plan) -> str:
    assert plan.wanted is not None
    return str(plan.wanted["status"]["provisioning"]["state"])


def ops(plan: Plan) -> list[str]:
    return [action.op for action in plan.actions if isinstance(action, Hardware)]


OFF, ON = BmcView("off", media=""), BmcView("on", media="")
LOADED = BmcView("on", media=ISO["url"])
STARTING = {
    "conditions": [
        {
            "type": "PowerChanging",
            "status": "True",
            "reason": "PoweringOn",
            "message": "",
            "lastTransitionTime": "2026-01-01T11:59:58Z",
        }
    ]
}
OTHER = BmcView("off", media="http://x.example.com/old.iso")


@pytest.mark.parametrize(
    ("before", "view", "changes", "after", "actions"),
    [
        ("registering", OFF, {}, "inspecting", []),
        ("registering", OFF, {"spec": {"externallyProvisioned": True}}, "externally provisioned", []),
        ("inspecting", BmcView("off", inventory={"cpu": {}}), {}, "preparing", []),
        ("inspecting", OFF, {"spec": {"inspectionMode": "disabled"}}, "preparing", []),
        ("inspecting", OFF, {"annotations": {"inspect.metal3.io": "disabled"}}, "preparing", []),
        ("match profile", None, {}, "preparing", []),
        ("preparing", OFF, {}, "available", []),
        ("preparing", OFF, {"spec": {"raid": {}}}, "available", []),
        ("available", OFF, {}, "available", ["power-on"]),
        ("available", ON, {}, "available", []),
        ("available", ON, {"spec": {"online": False}}, "available", ["power-off"]),
        ("available", ON, {"spec": {"image": ISO}}, "available", ["power-off"]),
        (
            "available",
            BmcView("off", media="http://x.example.com/old.iso"),
            {"spec": {"image": ISO}},
            "available",
            ["eject-media"],
        ),
        ("available", OFF, {"spec": {"image": ISO}}, "provisioning", []),
        ("ready", OFF, {"spec": {"image": ISO}}, "provisioning", []),
        ("available", OFF, {"spec": {"image": ISO, "online": False}}, "available", []),
        ("available", OFF, {"spec": {"image": QCOW}}, "available", []),
        ("available", ON, {"spec": {"externallyProvisioned": True}}, "externally provisioned", []),
        ("available", ON, {"annotations": {"inspect.metal3.io": ""}}, "inspecting", []),
        ("provisioning", OFF, {"spec": {"image": ISO}}, "provisioning", ["insert-media"]),
        (
            "provisioning",
            BmcView("off", media=ISO["url"]),
            {"spec": {"image": ISO}},
            "provisioning",
            ["boot-once", "power-on"],
        ),
        ("provisioning", ON, {"spec": {"image": ISO}}, "provisioning", ["power-off"]),
        ("provisioning", LOADED, {"spec": {"image": ISO}, "status": STARTING}, "provisioned", []),
        ("provisioning", LOADED, {"spec": {"image": ISO}}, "provisioning", ["power-off"]),
        ("available", OFF, {"spec": {"image": ISO}, "status": STARTING}, "available", []),
        ("provisioning", LOADED, {}, "deprovisioning", []),
        ("provisioning", OFF, {"spec": {"image": QCOW}}, "provisioning", []),
        ("provisioned", LOADED, {}, "deprovisioning", []),
        (
            "externally provisioned",
            BmcView("on"),
            {"spec": {"externallyProvisioned": True}},
            "externally provisioned",
            [],
        ),
        ("externally provisioned", BmcView("on"), {}, "provisioned", []),
        ("deprovisioning", LOADED, {}, "deprovisioning", ["power-off"]),
        ("deprovisioning", BmcView("off", media=ISO["url"]), {}, "available", ["eject-media"]),
        ("deprovisioning", LOADED, {"spec": {"disablePowerOff": True}}, "available", ["eject-media"]),
        ("deprovisioning", OFF, {"deleting": True}, "powering off before delete", []),
        ("powering off before delete", ON, {"deleting": True}, "powering off before delete", ["power-off"]),
    ],
)
def test_a_state_and_what_is_seen_give_the_next_state_and_the_actions(
    before: str, view: BmcView | None, changes: dict[str, Any], after: str, actions: list[str]
) -> None:
    plan = decide(snapshot(before, view, **changes), env())
    assert (state_of(plan), ops(plan)) == (after, actions)


@pytest.mark.parametrize("name", [name for name in states.STATES if states.of(name).asks])
@pytest.mark.parametrize("power_seen", ["unknown", "powering-on", "powering-off"])
def test_no_state_takes_an_unclear_power_for_a_plain_one(name: str, power_seen: str) -> None:
    deleting = name == states.POWERING_OFF
    seen = snapshot(name, BmcView(power_seen, media="", inventory={}), spec={"image": ISO}, deleting=deleting)
    plan = decide(seen, env())
    assert plan.wanted is not None
    assert plan.wanted["status"]["poweredOn"] is False
    assert state_of(plan) != states.PROVISIONED or name == states.PROVISIONED or name == states.EXTERNALLY_PROVISIONED


@pytest.mark.parametrize("name", list(states.STATES))
def test_every_state_that_asks_the_server_has_a_handler(name: str) -> None:
    assert name in HANDLERS or not states.of(name).asks


@pytest.mark.parametrize(
    ("name", "ready", "available", "manageable", "provisioned", "progressing"),
    [
        ("", "NotProvisioned", "NotAvailable", "NotManaged", "NotProvisioned", "NotProgressing"),
        ("unmanaged", "NotProvisioned", "NotAvailable", "NotManaged", "NotProvisioned", "NotProgressing"),
        ("registering", "NotProvisioned", "NotAvailable", "Registering", "NotProvisioned", "Registering"),
        ("inspecting", "NotProvisioned", "NotAvailable", "Manageable", "NotProvisioned", "Inspecting"),
        ("match profile", "NotProvisioned", "NotAvailable", "Manageable", "NotProvisioned", "Inspecting"),
        ("preparing", "NotProvisioned", "NotAvailable", "Manageable", "NotProvisioned", "Preparing"),
        ("available", "NotProvisioned", "Available", "Manageable", "NotProvisioned", "NotProgressing"),
        ("ready", "NotProvisioned", "Available", "Manageable", "NotProvisioned", "NotProgressing"),
        ("provisioning", "NotProvisioned", "NotAvailable", "Manageable", "NotProvisioned", "Provisioning"),
        ("provisioned", "Provisioned", "NotAvailable", "Manageable", "Provisioned", "NotProgressing"),
        ("externally provisioned", "Provisioned", "NotAvailable", "Manageable", "Provisioned", "NotProgressing"),
        ("deprovisioning", "NotProvisioned", "NotAvailable", "Manageable", "NotProvisioned", "Deprovisioning"),
        (
            "powering off before delete",
            "NotProvisioned",
            "NotAvailable",
            "Manageable",
            "NotProvisioned",
            "PoweringOffBeforeDelete",
        ),
        ("deleting", "NotProvisioned", "NotAvailable", "Manageable", "NotProvisioned", "Deleting"),
    ],
)
def test_the_conditions_follow_from_the_state(
    name: str, ready: str, available: str, manageable: str, provisioned: str, progressing: str
) -> None:
    seen = snapshot(name)
    closed = conditions.close(seen, Draft.start(seen.observed or {}, env()), env()).wanted
    reasons = {item["type"]: item["reason"] for item in closed["status"]["conditions"]}
    assert reasons == {
        "Ready": ready,
        "AvailableForProvisioning": available,
        "Manageable": manageable,
        "Provisioned": provisioned,
        "Progressing": progressing,
        "Healthy": "Unknown",
    }
    assert (
        all(item["observedGeneration"] == 1 for item in closed["status"]["conditions"])
        or "generation" not in closed["metadata"]
    )


@pytest.mark.parametrize(
    ("status", "type_", "reason"),
    [
        ({"operationalStatus": "error", "errorType": "provisioning error", "errorMessage": "x"}, "Ready", "Error"),
        (
            {"operationalStatus": "error", "errorType": "registration error", "errorMessage": "x"},
            "Manageable",
            "PowerFailure",
        ),
        ({"operationalStatus": "detached"}, "Ready", "Detached"),
        ({"operationalStatus": "detached"}, "Progressing", "Detached"),
    ],
)
def test_an_error_or_a_detached_host_shows_in_its_conditions(status: Raw, type_: str, reason: str) -> None:
    seen = snapshot("provisioned", status=status)
    closed = conditions.close(seen, Draft.start(seen.observed or {}, env()), env()).wanted
    found = condition.get(closed, type_)
    assert found is not None and (found["status"], found["reason"]) == ("False", reason)


@pytest.mark.parametrize(
    ("spec", "there", "cancelled"),
    [
        ({"image": ISO}, {"image": ISO}, False),
        ({"image": {**ISO, "checksum": "other"}}, {"image": ISO}, False),
        ({"image": {**ISO, "url": "http://x/b.iso"}}, {"image": ISO}, True),
        ({}, {"image": ISO}, True),
        ({"image": {"url": ""}}, {"image": ISO}, True),
        ({"image": ISO}, {"image": {"url": ""}}, False),
        ({"customDeploy": {"method": "a"}}, {"customDeploy": {"method": "a"}}, False),
        ({"customDeploy": {"method": "b"}}, {"customDeploy": {"method": "a"}}, True),
        ({"image": ISO}, {"customDeploy": {"method": "a"}}, True),
        ({"customDeploy": {"method": "a"}}, {"image": ISO}, True),
        ({"customDeploy": {"method": "a"}, "image": ISO}, {"image": ISO}, False),
    ],
)
def test_only_another_url_or_method_cancels(spec: Raw, there: Raw, cancelled: bool) -> None:
    raw = builders.host("h1", state="provisioned")
    raw["spec"].update(spec)
    raw["status"]["provisioning"] = {"state": "provisioned", "ID": "x", **there}
    assert images.cancelled(BareMetalHost.from_raw(raw)) is cancelled


@pytest.mark.parametrize(
    ("media", "url", "same"),
    [
        ("http://x/a.iso", "http://x/a.iso", True),
        ("http://x/a.iso", "http://x/a.iso?token=1", True),
        ("http://x/b.iso", "http://x/a.iso", False),
        ("", "http://x/a.iso", False),
        (None, "http://x/a.iso", False),
    ],
)
def test_an_image_is_recognised_without_its_query(media: str | None, url: str, same: bool) -> None:
    assert images.same(media, url) is same


@pytest.mark.parametrize(
    ("value", "state", "wanted"),
    [
        ("", "provisioned", True),
        ("assisted-service-controller", "available", True),
        ("", "inspecting", False),
        ('{"force": true}', "inspecting", True),
        ('{"force": "yes"}', "inspecting", False),
        ("", "deleting", False),
    ],
)
def test_a_host_is_detached_where_nothing_is_under_way_or_when_forced(value: str, state: str, wanted: bool) -> None:
    assert detach.wanted(snapshot(state, annotations={names.HOST_DETACHED_ANNOTATION: value})) is wanted


@pytest.mark.parametrize(
    ("profile", "given", "hints"),
    [
        ("", None, {"deviceName": "/dev/sda"}),
        ("libvirt", None, {"deviceName": "/dev/vda"}),
        ("empty", None, None),
        ("unknown", {"wwn": "0x1"}, {"wwn": "0x1"}),
    ],
)
def test_root_device_hints_are_the_hosts_own_or_those_of_its_profile(
    profile: str, given: Raw | None, hints: Raw | None
) -> None:
    seen = snapshot("preparing", status={"hardwareProfile": profile}, spec={"rootDeviceHints": given} if given else {})
    assert prepare.hints(seen) == hints


def test_a_power_change_is_asked_for_once_and_repeated_only_after_a_while() -> None:
    first = decide(snapshot("available", OFF), env())
    assert ops(first) == ["power-on"]
    assert first.wanted is not None
    waiting = condition.get(first.wanted, power.CHANGING)
    assert waiting is not None and waiting["reason"] == "PoweringOn"
    status = first.wanted["status"]
    assert ops(decide(snapshot("available", OFF, status=status), env())) == []
    later = Env(NOW + datetime.timedelta(seconds=power.REPEAT_SECONDS + 1), random.Random(0), Settings())
    assert ops(decide(snapshot("available", OFF, status=status), later)) == ["power-on"]
    done = decide(snapshot("available", ON, status=status), env())
    assert done.wanted is not None and condition.get(done.wanted, power.CHANGING) is None


def test_the_secret_is_claimed_once_and_not_while_it_is_being_deleted() -> None:
    host, secret = BareMetalHost.from_raw(builders.host("h1")), builders.bmc_secret("h1")
    secret["metadata"]["resourceVersion"] = "7"
    claim = credentials.claim(host, secret)
    assert isinstance(claim, Patch) and claim.resource_version == "7"
    secret["metadata"].update(claim.patch["metadata"])
    assert credentials.claim(host, secret) is None
    released = credentials.release(secret)
    assert released is not None and released.patch == {"metadata": {"finalizers": None}}
    assert credentials.claim(host, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}) is None


def test_a_secret_that_several_hosts_share_keeps_each_of_them_as_owner() -> None:
    secret = builders.bmc_secret("h1")
    for name in ("h1", "h2"):
        claim = credentials.claim(BareMetalHost.from_raw(builders.host(name, uid=f"uid-{name}")), secret)
        if claim is not None:
            secret["metadata"].update(claim.patch["metadata"])
    assert [owner["name"] for owner in secret["metadata"]["ownerReferences"]] == ["h1", "h2"]


def test_a_secret_wakes_every_host_that_names_it_whether_it_owns_it_or_not() -> None:
    world = World()
    for name in ("h1", "h2", "h3"):
        host = builders.host(name)
        host["spec"]["bmc"]["credentialsName"] = "shared" if name != "h3" else "own"
        world.create(host)
    secret = builders.bmc_secret("h1")
    secret["metadata"]["name"] = "shared"
    keys = watches.hosts_of_secret(secret, world.reader())
    assert [key.name for key in keys] == ["h1", "h2"]


@pytest.mark.parametrize(
    "odd",
    [
        {"spec": {"bmc": "text"}},
        {"spec": {"bmc": {"address": 5, "credentialsName": []}}},
        {"spec": {"image": "url"}},
        {"spec": {"image": {"url": 3}}},
        {"spec": {"raid": []}},
        {"spec": {"online": "yes"}},
        {"spec": {"customDeploy": {}}},
        {"status": {"errorCount": "many"}},
        {"status": {"provisioning": None}},
        {"status": {"conditions": {"a": 1}}},
        {"status": {"lastUpdated": "yesterday", "operationalStatus": "error", "errorCount": 3}},
        {"annotations": {"reboot.metal3.io": "{", "inspect.metal3.io/hardwaredetails": "[]"}},
        {"annotations": {names.HOST_STATUS_ANNOTATION: "{"}},
    ],
)
@pytest.mark.parametrize("name", ["available", "provisioning", "provisioned", "deprovisioning"])
def test_a_host_with_odd_values_is_judged_without_an_exception(name: str, odd: dict[str, Any]) -> None:
    decide(snapshot(name, LOADED, **odd), env())
