"""`World` keeps the rules of an API server: versions, status, deletion, owners."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_managers.ports import ALL_NAMESPACES, ApiError
from capm3_managers.testing.faults import FOREVER, Fault
from capm3_managers.testing.world import World

KEY = Key("ns", "m")


def machine(name: str = "m", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": kinds.METAL3_MACHINE.api_version,
        "kind": "Metal3Machine",
        "metadata": {"namespace": "ns", "name": name, **metadata},
        "spec": {"image": {"url": "u"}},
    }


def owned(name: str, *owners: dict[str, Any], **more: Any) -> dict[str, Any]:
    references = [
        {"apiVersion": o["apiVersion"], "kind": o["kind"], "name": o["metadata"]["name"], "uid": o["metadata"]["uid"]}
        | more
        for o in owners
    ]
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"namespace": "ns", "name": name, "ownerReferences": references},
    }


def refused(status: int, reason: str) -> Any:
    class Check:
        def __enter__(self) -> None:
            self.context = pytest.raises(ApiError)
            self.error = self.context.__enter__()

        def __exit__(self, *args: Any) -> bool:
            caught = self.context.__exit__(*args)
            assert (self.error.value.status, self.error.value.reason) == (status, reason), self.error.value
            return bool(caught)

    return Check()


def test_create_sets_what_the_server_owns_and_drops_status() -> None:
    world = World()
    made = world.create({**machine(), "status": {"ready": True}})
    assert made["metadata"]["uid"] and made["metadata"]["resourceVersion"]
    assert made["metadata"]["generation"] == 1 and made["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert "status" not in made
    with refused(409, "AlreadyExists"):
        world.create(machine())


def test_generate_name_appends_five_letters() -> None:
    obj = machine()
    obj["metadata"] = {"namespace": "ns", "generateName": "x-"}
    world = World()
    names = {world.create(obj)["metadata"]["name"] for _ in range(5)}
    assert len(names) == 5 and all(name.startswith("x-") and len(name) == 7 for name in names)


def test_status_and_spec_are_written_apart() -> None:
    world = World()
    world.create(machine())
    both = {"spec": {"image": {"url": "v"}}, "status": {"ready": True}}
    body = world.patch(kinds.METAL3_MACHINE, KEY, both)
    assert body["spec"]["image"]["url"] == "v" and "status" not in body and body["metadata"]["generation"] == 2
    status = world.patch(kinds.METAL3_MACHINE, KEY, both | {"spec": {"image": {"url": "w"}}}, subresource="status")
    assert status["status"] == {"ready": True} and status["spec"]["image"]["url"] == "v"
    assert status["metadata"]["generation"] == 2


def test_a_write_that_changes_nothing_keeps_the_version_and_makes_no_event() -> None:
    world = World()
    made = world.create(machine())
    version = world.version
    assert world.patch(kinds.METAL3_MACHINE, KEY, {"spec": {"image": {"url": "u"}}}) == made
    assert world.version == version and world.watch(kinds.METAL3_MACHINE, version) == []


def test_an_old_resource_version_conflicts() -> None:
    world = World()
    made = world.create(machine())
    world.patch(kinds.METAL3_MACHINE, KEY, {"metadata": {"labels": {"a": "b"}}})
    old = {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}}
    with refused(409, "Conflict"):
        world.patch(kinds.METAL3_MACHINE, KEY, old | {"status": {"x": 1}}, subresource="status")
    with refused(409, "Conflict"):
        world.update(made)


def test_an_update_without_resource_version_is_refused_for_custom_resources_only() -> None:
    world = World()
    world.create(machine())
    with refused(422, "Invalid"):
        world.update(machine())
    secret = kinds.SECRET.new("ns", "s", data={"a": "Yg=="})
    world.create(secret)
    assert world.update({**secret, "data": {"a": "Yw=="}})["data"] == {"a": "Yw=="}


def test_finalizers_hold_an_object_until_the_last_goes() -> None:
    world = World()
    world.create(machine(finalizers=["a", "b"]))
    world.delete(kinds.METAL3_MACHINE, KEY)
    left = world.get(kinds.METAL3_MACHINE, KEY)
    assert left and left["metadata"]["deletionTimestamp"] and left["metadata"]["generation"] == 2
    version = world.version
    world.delete(kinds.METAL3_MACHINE, KEY)
    assert world.version == version
    with refused(422, "Invalid"):
        world.patch(kinds.METAL3_MACHINE, KEY, {"metadata": {"finalizers": ["a", "b", "c"]}})
    world.patch(kinds.METAL3_MACHINE, KEY, {"metadata": {"finalizers": ["b"]}})
    world.patch(kinds.METAL3_MACHINE, KEY, {"metadata": {"finalizers": None}})
    assert world.get(kinds.METAL3_MACHINE, KEY) is None
    assert [event.type for event in world.watch(kinds.METAL3_MACHINE, 1)] == [
        "ADDED",
        "MODIFIED",
        "MODIFIED",
        "MODIFIED",
        "DELETED",
    ]


def test_a_delete_for_another_uid_conflicts() -> None:
    world = World()
    uid = world.create(machine())["metadata"]["uid"]
    with refused(409, "Conflict"):
        world.delete(kinds.METAL3_MACHINE, KEY, uid="other")
    world.delete(kinds.METAL3_MACHINE, KEY, uid=uid)
    with refused(404, "NotFound"):
        world.delete(kinds.METAL3_MACHINE, KEY)


def test_a_deleted_owner_takes_its_dependents_along_and_theirs() -> None:
    world = World()
    owner = world.create(machine())
    child = world.create(owned("child", owner))
    world.create(owned("grandchild", child))
    world.delete(kinds.METAL3_MACHINE, KEY)
    assert world.all() == []


def test_a_dependent_with_a_living_owner_stays_and_loses_the_dead_reference() -> None:
    world = World()
    first, second = world.create(machine()), world.create(machine("n"))
    world.create(owned("child", first, second))
    world.delete(kinds.METAL3_MACHINE, KEY)
    child = world.get(kinds.SECRET, Key("ns", "child"))
    assert child and [owner["name"] for owner in child["metadata"]["ownerReferences"]] == ["n"]


def test_a_dependent_of_an_owner_already_gone_is_collected_at_once() -> None:
    world = World()
    owner = world.create(machine())
    world.delete(kinds.METAL3_MACHINE, KEY)
    world.create(owned("late", owner))
    assert world.get(kinds.SECRET, Key("ns", "late")) is None


def test_foreground_deletion_waits_for_blocking_dependents() -> None:
    world = World()
    owner = world.create(machine())
    child = owned("child", owner, blockOwnerDeletion=True)
    child["metadata"]["finalizers"] = ["hold"]
    world.create(child)
    world.delete(kinds.METAL3_MACHINE, KEY, propagation="Foreground")
    left = world.get(kinds.METAL3_MACHINE, KEY)
    assert left and left["metadata"]["finalizers"] == ["foregroundDeletion"]
    world.patch(kinds.SECRET, Key("ns", "child"), {"metadata": {"finalizers": None}})
    assert world.all() == []


def test_orphaned_dependents_stay_without_the_reference() -> None:
    world = World()
    world.create(owned("child", world.create(machine())))
    world.delete(kinds.METAL3_MACHINE, KEY, propagation="Orphan")
    child = world.get(kinds.SECRET, Key("ns", "child"))
    assert child and "ownerReferences" not in child["metadata"]


def test_a_deleted_namespace_empties_before_it_goes() -> None:
    world = World()
    world.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}})
    world.create(machine(finalizers=["hold"]))
    world.create(owned("s", world.get(kinds.METAL3_MACHINE, KEY) or {}))
    world.delete(kinds.NAMESPACE, Key("", "ns"))
    left = world.get(kinds.NAMESPACE, Key("", "ns"))
    assert left and left["status"]["phase"] == "Terminating"
    with refused(403, "Forbidden"):
        world.create(machine("late"))
    world.patch(kinds.METAL3_MACHINE, KEY, {"metadata": {"finalizers": []}})
    assert world.all() == []


def test_selectors_choose_by_label_text_mapping_and_field() -> None:
    world = World()
    for name, labels in {"a": {"x": "1"}, "b": {"x": "2", "y": ""}, "c": {}}.items():
        world.create(machine(name, labels=labels))

    def names(**options: Any) -> str:
        found = world.list(kinds.METAL3_MACHINE, ALL_NAMESPACES, **options)
        return "".join(obj["metadata"]["name"] for obj in found)

    assert names(labels={"x": "1"}) == "a"
    assert names(labels="x in (1, 2),!y") == "a"
    assert names(labels="x notin (1)") == "bc"
    assert names(labels="y") == "b"
    assert names(labels="x!=1") == "bc"
    assert names(fields="metadata.name=b") == "b"
    assert names(fields="metadata.name!=b,metadata.namespace=ns") == "ac"
    with refused(400, "BadRequest"):
        names(labels="a b c")


def test_a_lagging_cache_is_some_writes_old_and_never_goes_back() -> None:
    world = World()
    world.create(machine())
    lags = iter([0, 2, 1, 5])
    reader, moving = world.reader(lag=1), world.reader(lag=lambda: next(lags))
    for value in ("v", "w", "x"):
        world.patch(kinds.METAL3_MACHINE, KEY, {"spec": {"image": {"url": value}}})

    def seen(live: bool = False) -> str:
        obj = reader.get(kinds.METAL3_MACHINE, KEY, live=live)
        assert obj
        return str(obj["spec"]["image"]["url"])

    assert seen() == "w" and seen(live=True) == "x"
    assert [o["spec"]["image"]["url"] for o in reader.list(kinds.METAL3_MACHINE, "ns")] == ["w"]
    assert [(moving.get(kinds.METAL3_MACHINE, KEY) or {})["spec"]["image"]["url"] for _ in range(4)] == ["x"] * 4


def test_an_index_finds_by_owner() -> None:
    world = World()
    world.create(machine("n"))
    made = machine("o")
    made["metadata"]["ownerReferences"] = owned("", world.put(machine()))["metadata"]["ownerReferences"]
    world.create(made)
    found = world.reader().list(kinds.METAL3_MACHINE, "ns", index=("owner", "Metal3Machine/m"))
    assert [obj["metadata"]["name"] for obj in found] == ["o"]


def test_history_is_bounded_and_an_old_watch_is_told_so() -> None:
    world = World(history=3)
    first = world.create(machine())["metadata"]["resourceVersion"]
    for number in range(5):
        world.patch(kinds.METAL3_MACHINE, KEY, {"metadata": {"labels": {"n": str(number)}}})
    with refused(410, "Expired"):
        world.watch(kinds.METAL3_MACHINE, first)
    assert len(world.watch(kinds.METAL3_MACHINE, world.version - 3)) == 3


def test_a_json_patch_tests_before_it_changes() -> None:
    world = World()
    world.create(machine())
    ops: list[dict[str, Any]] = [
        {"op": "test", "path": "/spec/image/url", "value": "u"},
        {"op": "add", "path": "/spec/a~1b", "value": [1]},
    ]
    world.json_patch(kinds.METAL3_MACHINE, KEY, ops)
    got = world.json_patch(kinds.METAL3_MACHINE, KEY, [{"op": "add", "path": "/spec/a~1b/-", "value": 2}])
    assert got["spec"]["a/b"] == [1, 2]
    with refused(422, "Invalid"):
        world.json_patch(kinds.METAL3_MACHINE, KEY, [{"op": "test", "path": "/spec/image/url", "value": "x"}])
    with refused(422, "Invalid"):
        world.json_patch(kinds.METAL3_MACHINE, KEY, [{"op": "remove", "path": "/spec/none"}])


def test_faults_hit_as_often_as_asked_and_may_lose_only_the_answer() -> None:
    world = World()
    world.inject(Fault("create", "metal3machines", 503, times=2))
    for _ in range(2):
        with refused(503, "ServiceUnavailable"):
            world.create(machine())
    world.inject(Fault("create", "metal3machines", 0, after=True))
    with refused(0, "Unreachable"):
        world.create(machine())
    assert world.get(kinds.METAL3_MACHINE, KEY)
    world.inject(Fault("patch", "*", 409, times=FOREVER, name="other"))
    world.patch(kinds.METAL3_MACHINE, KEY, {"spec": {"x": 1}})


def test_a_dry_run_answers_like_the_write_and_leaves_nothing() -> None:
    world = World()
    assert world.create(machine(), dry_run=True)["metadata"]["uid"]
    assert world.all() == [] and world.writes == []


def test_what_is_read_is_a_copy() -> None:
    world = World()
    world.create(machine())
    (world.get(kinds.METAL3_MACHINE, KEY) or {})["spec"]["image"]["url"] = "changed"
    assert (world.get(kinds.METAL3_MACHINE, KEY) or {})["spec"]["image"]["url"] == "u"


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"name": "Upper"}, "metadata.name"),
        ({"name": ""}, "metadata.name"),
        ({"labels": {"a": 1}}, "metadata.labels.a"),
        ({"labels": {"a": "b c"}}, "metadata.labels"),
        ({"ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n"}]}, "metadata.ownerReferences.uid"),
    ],
)
def test_bad_metadata_is_refused_by_field(metadata: dict[str, Any], field: str) -> None:
    with pytest.raises(ApiError, match="is invalid") as error:
        World().create(machine() | {"metadata": {"namespace": "ns", "name": "m", **metadata}})
    assert error.value.status == 422 and field in error.value.message


def test_put_stores_status_and_keeps_identity() -> None:
    world = World()
    first = world.put({**machine(), "status": {"ready": True}})
    second = world.put({**machine(), "status": {"ready": False}})
    assert first["metadata"]["uid"] == second["metadata"]["uid"] and second["status"] == {"ready": False}
    assert first["metadata"]["resourceVersion"] != second["metadata"]["resourceVersion"]


def test_writers_in_many_threads_lose_nothing() -> None:
    world = World()
    world.create(machine())

    def count(name: str) -> None:
        for number in range(20):
            world.patch(kinds.METAL3_MACHINE, KEY, {"metadata": {"labels": {name: str(number)}}})

    threads = [threading.Thread(target=count, args=(f"t{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    labels = (world.get(kinds.METAL3_MACHINE, KEY) or {})["metadata"]["labels"]
    assert labels == {f"t{number}": "19" for number in range(8)}
    versions = [event.version for event in world.watch(kinds.METAL3_MACHINE, 1)]
    assert versions == sorted(set(versions)) and len(versions) == 161
