"""The executor: its order, its preconditions, what it tolerates, and what happens after a failed server action."""

from __future__ import annotations

from typing import Any

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_managers import diff, execute
from capm3_managers.plan import Create, Delete, Hardware, NodePatch, Patch, Plan
from capm3_managers.ports import ApiError, BmcAccess, BmcError, BmcFailure

KEY = Key("ns", "m")
ACCESS = BmcAccess("redfish://bmc.example.com", "admin", "secret")


def obj(**rest: Any) -> Raw:
    return (
        kinds.METAL3_MACHINE.new("ns", "m")
        | {"metadata": {"namespace": "ns", "name": "m", "resourceVersion": "7"}}
        | rest
    )


class Recorder:
    """Notes every write; answers with growing versions; fails as told."""

    def __init__(self, **failures: Exception) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.failures = failures
        self.version = 7

    def _note(self, verb: str, *what: Any) -> Raw:
        if verb in self.failures:
            raise self.failures[verb]
        self.calls.append((verb, *what))
        self.version += 1
        return {"metadata": {"resourceVersion": str(self.version)}}

    def create(self, obj: Raw) -> Raw:
        return self._note("create", obj["metadata"]["name"])

    def patch(self, kind: Any, key: Key, patch: Raw, *, subresource: str = "") -> Raw:
        return self._note("patch", key.name, patch, subresource)

    def delete(self, kind: Any, key: Key, *, uid: str = "") -> None:
        self._note("delete", key.name, uid)

    def patch_node(self, action: NodePatch) -> None:
        self._note("node", action.name)

    def hardware(self, action: Hardware) -> None:
        self._note("hardware", action.op)


def run(observed: Raw | None, plan: Plan, writer: Recorder, **rest: Any) -> execute.Done:
    return execute.run(kinds.METAL3_MACHINE, observed, plan, writer, **rest)


def test_a_settled_object_is_not_written() -> None:
    assert execute.steps(obj(status={"a": 1}), Plan(obj(status={"a": 1}))) == ()


def test_own_body_goes_first_then_actions_then_status_and_the_lost_finalizer_last() -> None:
    observed = diff.apply(obj(), {"metadata": {"finalizers": ["f", "other"]}})
    wanted = diff.apply(observed, {"metadata": {"finalizers": ["other"], "labels": {"a": "b"}}, "status": {"x": 1}})
    writer = Recorder()
    done = run(observed, Plan(wanted, (Delete(kinds.SECRET, Key("ns", "s"), "u"),)), writer)
    assert done.writes == 4
    assert writer.calls == [
        ("patch", "m", {"metadata": {"labels": {"a": "b"}, "resourceVersion": "7"}}, ""),
        ("delete", "s", "u"),
        ("patch", "m", {"status": {"x": 1}, "metadata": {"resourceVersion": "8"}}, "status"),
        ("patch", "m", {"metadata": {"finalizers": ["other"], "resourceVersion": "10"}}, ""),
    ]


def test_a_new_finalizer_goes_with_the_first_write() -> None:
    writer = Recorder()
    run(obj(), Plan(diff.apply(obj(), {"metadata": {"finalizers": ["f"]}, "status": {"x": 1}})), writer)
    assert writer.calls[0][2] == {"metadata": {"finalizers": ["f"], "resourceVersion": "7"}}


@pytest.mark.parametrize(("patch", "locked"), [({"status": {"x": 1}}, False), ({"status": {"x": [1]}}, True)])
def test_a_replaced_list_names_the_version_it_was_made_from(patch: Raw, locked: bool) -> None:
    writer = Recorder()
    run(obj(), Plan(diff.apply(obj(), patch)), writer)
    assert ("resourceVersion" in str(writer.calls[0][2])) is locked


def test_a_guarded_plan_names_the_version_although_no_list_changes() -> None:
    writer = Recorder()
    run(obj(), Plan(diff.apply(obj(), {"metadata": {"labels": {"a": "b"}}}), guarded=True), writer)
    assert writer.calls[0][2]["metadata"]["resourceVersion"] == "7"


def test_a_refused_first_write_stops_the_rest() -> None:
    writer = Recorder(patch=ApiError(409, "Conflict", "changed"))
    plan = Plan(diff.apply(obj(), {"spec": {"a": 1}}), (Create(obj()),))
    with pytest.raises(ApiError):
        run(obj(), plan, writer)
    assert writer.calls == []


TOLERATED = [
    ("create", ApiError(409, "AlreadyExists", ""), Create(obj(), exists_ok=True), True),
    ("create", ApiError(409, "AlreadyExists", ""), Create(obj()), False),
    ("create", ApiError(403, "Forbidden", ""), Create(obj(), exists_ok=True), False),
    ("patch", ApiError(404, "NotFound", ""), Patch(kinds.SECRET, KEY, {}, missing_ok=True), True),
    ("patch", ApiError(404, "NotFound", ""), Patch(kinds.SECRET, KEY, {}), False),
    ("delete", ApiError(404, "NotFound", ""), Delete(kinds.SECRET, KEY), True),
    ("delete", ApiError(409, "Conflict", ""), Delete(kinds.SECRET, KEY, "u"), False),
]


@pytest.mark.parametrize(("verb", "error", "action", "tolerated"), TOLERATED)
def test_only_the_expected_refusal_is_tolerated(verb: str, error: ApiError, action: Any, tolerated: bool) -> None:
    writer = Recorder(**{verb: error})
    plan = Plan(None, (action,))
    if tolerated:
        run(None, plan, writer)
    else:
        with pytest.raises(ApiError):
            run(None, plan, writer)


def test_a_claim_names_the_version_of_the_host() -> None:
    writer = Recorder()
    run(None, Plan(None, (Patch(kinds.BARE_METAL_HOST, KEY, {"spec": {"a": 1}}, "42"),)), writer)
    assert writer.calls == [("patch", "m", {"spec": {"a": 1}, "metadata": {"resourceVersion": "42"}}, "")]


FAILURE = BmcError(BmcFailure("Busy", "try later"))
POWER = Plan(
    diff.apply(obj(), {"metadata": {"labels": {"a": "b"}}, "status": {"planned": True}}),
    (Hardware(ACCESS, "power-on"), Create(obj())),
    because="power on",
)


def test_a_failed_server_action_without_recovery_is_raised() -> None:
    with pytest.raises(BmcError):
        run(obj(), POWER, Recorder(hardware=FAILURE))


def test_a_failed_server_action_is_recovered_in_place_of_the_rest() -> None:
    writer = Recorder(hardware=FAILURE)
    seen = []

    def recover(action: Hardware, failure: BmcFailure) -> Plan:
        seen.append((action.op, failure.reason))
        return Plan(diff.apply(obj(), {"status": {"errors": ["Busy"]}}), requeue_after=5, because="busy")

    done = run(obj(), POWER, writer, recover=recover)
    assert seen == [("power-on", "Busy")]
    assert done.plan.requeue_after == 5 and done.plan.because == "busy" and done.writes == 2
    status = {"status": {"errors": ["Busy"]}, "metadata": {"resourceVersion": "8"}}
    assert writer.calls[1:] == [("patch", "m", status, "status")]


def test_a_password_shows_in_no_text_of_an_action() -> None:
    assert "secret" not in repr(POWER) and "secret" not in str(FAILURE)
