"""The way of a write through `World`: hooks, strategies of a resource, versions, retries, lost answers."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_managers.ports import ApiError, ContractError
from capm3_managers.testing.world import World
from capm3_managers.testing.world_errors import Cause
from capm3_managers.testing.world_types import Definition, Request, alike, metadata_of, whole_numbers

KIND = kinds.METAL3_MACHINE
KEY = Key("ns", "m")


def machine(**spec: Any) -> Raw:
    return {**KIND.new("ns", "m"), "spec": spec}


def test_what_a_mutating_hook_makes_goes_through_the_strategy_again() -> None:
    world = World()
    seen: list[str] = []

    def decode(obj: Raw, request: Request) -> Raw:
        seen.append(request.verb)
        return {**obj, "spec": {"size": 1, **obj["spec"]}}

    def validate(new: Raw, old: Raw | None, request: Request) -> Sequence[Cause]:
        return [] if new["spec"]["size"] < 10 else [Cause("FieldValueInvalid", "spec.size", "too large")]

    world.register(Definition(KIND, decode=decode, validate=validate))
    world.hooks.mutate = lambda request, new, old: {**new, "spec": {"made": True}}
    assert world.create(machine())["spec"] == {"size": 1, "made": True} and seen == ["create", "create"]
    world.hooks.mutate = lambda request, new, old: {**new, "spec": {"size": 99}}
    with pytest.raises(ApiError, match=r"spec\.size: too large"):
        world.patch(KIND, KEY, {"spec": {"more": 1}})


def test_errors_of_metadata_and_of_the_kind_come_in_one_answer() -> None:
    world = World()
    bad = Cause("FieldValueInvalid", "spec.size", "too large")
    world.register(Definition(KIND, validate=lambda new, old, request: [bad]))
    obj = machine()
    obj["metadata"]["labels"] = {"bad key!": "x"}
    with pytest.raises(ApiError) as refused:
        world.create(obj)
    assert [cause.field for cause in refused.value.causes] == ["metadata.labels", "spec.size"]  # type: ignore[attr-defined]


def test_a_validating_hook_sees_old_and_new_and_may_refuse_a_delete() -> None:
    world = World()
    calls: list[tuple[str, bool, bool]] = []

    def validate(request: Request, new: Raw | None, old: Raw | None) -> None:
        calls.append((request.verb, new is not None, old is not None))
        if request.verb == "delete":
            raise ApiError(403, "Forbidden", "not this one")

    world.hooks.validate = validate
    world.create(machine())
    world.patch(KIND, KEY, {"spec": {"a": 1}})
    with pytest.raises(ApiError, match="not this one"):
        world.delete(KIND, KEY)
    assert calls == [("create", True, False), ("patch", True, True), ("delete", False, True)]
    assert world.get(KIND, KEY)


def test_hooks_run_outside_the_lock() -> None:
    world = World()
    done: list[bool] = []

    def write_elsewhere(request: Request, new: Raw | None, old: Raw | None) -> None:
        if request.kind != KIND:
            return
        thread = threading.Thread(target=lambda: world.create(kinds.SECRET.new("ns", "s")))
        thread.start()
        thread.join(5)
        done.append(not thread.is_alive())

    world.hooks.validate = write_elsewhere
    world.create(machine())
    assert done == [True]


@pytest.mark.parametrize("locked", [True, False])
def test_a_write_in_between_is_a_conflict_only_for_a_patch_that_names_its_version(locked: bool) -> None:
    world = World()
    version = world.create(machine(a=1))["metadata"]["resourceVersion"]
    turns = iter([True])

    def interfere(request: Request, new: Raw | None, old: Raw | None) -> None:
        if next(turns, False):
            world.hooks.validate = lambda *args: None
            world.patch(KIND, KEY, {"spec": {"b": 2}})

    world.hooks.validate = interfere
    patch: Raw = {"spec": {"c": 3}}
    if locked:
        patch["metadata"] = {"resourceVersion": version}
        with pytest.raises(ApiError) as refused:
            world.patch(KIND, KEY, patch)
        assert refused.value.is_conflict
        assert (world.get(KIND, KEY) or {})["spec"] == {"a": 1, "b": 2}
    else:
        assert world.patch(KIND, KEY, patch)["spec"] == {"a": 1, "b": 2, "c": 3}


def test_an_object_stored_in_an_old_version_is_read_in_both_and_rewritten_by_any_write() -> None:
    def convert(objects: Sequence[Raw], api_version: str) -> list[Raw]:
        field = "old" if api_version.endswith("v1beta1") else "new"
        return [
            {**obj, "apiVersion": api_version, "spec": {field: next(iter(obj["spec"].values()))}} for obj in objects
        ]

    world = World()
    old = KIND.at("v1beta1")
    world.register(Definition(old, convert=convert))
    world.create({**old.new("ns", "m"), "spec": {"old": 1}})
    world.register(Definition(KIND, convert=convert))
    assert (world.get(KIND, KEY) or {})["spec"] == {"new": 1}
    assert [obj["spec"] for obj in world.list(KIND, "ns")] == [{"new": 1}]
    assert (world.get(old, KEY) or {})["spec"] == {"old": 1}
    assert world.all()[0]["apiVersion"] == old.api_version
    before = world.version
    world.patch(KIND, KEY, {})
    assert world.all()[0]["apiVersion"] == KIND.api_version and world.version == before + 1
    world.patch(KIND, KEY, {})
    assert world.version == before + 1


def test_a_kind_without_status_subresource_keeps_status_and_has_no_status_path() -> None:
    world = World()
    made = world.create({**kinds.HARDWARE_DATA.new("ns", "h"), "spec": {}, "status": {"kept": True}})
    assert made["status"] == {"kept": True}
    with pytest.raises(ApiError) as refused:
        world.patch(kinds.HARDWARE_DATA, Key("ns", "h"), {"status": {}}, subresource="status")
    assert refused.value.status == 404


def test_core_kinds_have_no_generation_and_keep_status_when_new() -> None:
    world = World()
    node = world.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"phase": "x"}})
    assert "generation" not in node["metadata"] and node["status"] == {"phase": "x"}


def test_the_log_of_writes_holds_what_was_sent_and_no_refusal() -> None:
    world = World()
    world.create(machine())
    world.patch(KIND, KEY, {"spec": {"a": 1}})
    with pytest.raises(ApiError):
        world.create(machine())
    world.delete(KIND, KEY)
    assert [(verb, kind.kind, key, patch) for verb, kind, key, patch in world.writes][1:] == [
        ("patch", "Metal3Machine", KEY, {"spec": {"a": 1}}),
        ("delete", "Metal3Machine", KEY, None),
    ]


def test_node_patches_and_hardware_need_somebody_who_does_them() -> None:
    world = World()
    with pytest.raises(ContractError, match="on_node_patch"):
        world.patch_node(None)  # type: ignore[arg-type]
    done: list[Any] = []
    world.on_hardware = done.append
    world.hardware("action")  # type: ignore[arg-type]
    assert done == ["action"]


def test_values_that_are_no_json_are_refused() -> None:
    with pytest.raises(TypeError):
        World().create(machine(bad={1, 2}))


def test_a_patch_from_true_to_one_is_a_change() -> None:
    world = World()
    world.create(machine(flag=True))
    assert world.patch(KIND, KEY, {"spec": {"flag": 1}})["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [(1, 1, True), (1, True, False), (1, 1.0, False), ({"a": [0]}, {"a": [False]}, False), ([], [1], False)],
)
def test_json_values_are_compared_by_type_too(left: Any, right: Any, result: bool) -> None:
    assert alike(left, right) is result


def test_whole_numbers_are_written_without_a_point() -> None:
    found = whole_numbers({"a": [4.0, 2.5, True], "b": 1e30})
    assert found == {"a": [4, 2.5, True], "b": 1e30} and isinstance(found["a"][0], int)


def test_a_definition_can_be_replaced_field_by_field() -> None:
    world = World()
    world.register(dataclasses.replace(world.definition(KIND), generation=False))
    assert "generation" not in metadata_of(world.create(machine()))
