"""The store: late, repeated and lost events; indexes; our own writes ahead of their events."""

from __future__ import annotations

import sys

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_controller.kube.store import Change, Store
from capm3_managers.ports import ALL_NAMESPACES
from hypothesis import given
from hypothesis import strategies as st


def host(name="h", version=1, uid="u", consumer=None, labels=None, namespace="ns", **rest):
    obj = kinds.BARE_METAL_HOST.new(namespace, name, spec={}, **rest)
    obj["metadata"] |= {"resourceVersion": str(version), "uid": uid, "managedFields": [{"a": 1}]}
    if labels:
        obj["metadata"]["labels"] = labels
    if consumer:
        obj["spec"]["consumerRef"] = {"kind": "Metal3Machine", "name": consumer}
    return obj


@pytest.fixture
def store():
    return Store(kinds.BARE_METAL_HOST)


KEY = Key("ns", "h")


def test_managed_fields_are_not_kept(store):
    store.replace([host()], "5")
    assert "managedFields" not in store.get(KEY)["metadata"]


def test_a_list_says_what_is_new_changed_and_gone(store):
    store.replace([host("a"), host("b")], "5")
    changes = store.replace([host("b", 6), host("c", 7)], "8")
    summary = {(c.old or c.new)["metadata"]["name"]: (c.old is not None, c.new is not None) for c in changes}
    assert summary == {"a": (True, False), "b": (True, True), "c": (False, True)}


def test_a_list_that_brings_nothing_new_changes_nothing(store):
    store.replace([host("a")], "5")
    assert store.replace([host("a")], "9") == []


def test_an_event_moves_the_version_and_a_bookmark_does_only_that(store):
    store.replace([], "5")
    assert store.event("ADDED", host(version=7)).old is None
    assert store.event("BOOKMARK", {"metadata": {"resourceVersion": "12"}}) is None
    assert store.version == "12"
    assert len(store) == 1


def test_an_index_follows_the_object(store):
    store.replace([host("a", consumer="m1"), host("b", consumer="m1", namespace="other")], "5")
    assert [o["metadata"]["name"] for o in store.list("ns", index=("consumer", "Metal3Machine/m1"))] == ["a"]
    assert len(store.list(ALL_NAMESPACES, index=("consumer", "Metal3Machine/m1"))) == 2
    store.event("MODIFIED", host("a", 6, consumer="m2"))
    assert store.list("ns", index=("consumer", "Metal3Machine/m1")) == []
    store.event("DELETED", host("a", 7, consumer="m2"))
    assert store.list("ns", index=("consumer", "Metal3Machine/m2")) == []


def test_an_index_that_nobody_declared_is_a_bug(store):
    with pytest.raises(KeyError):
        store.list("ns", index=("nonsense", "x"))


def test_an_object_that_can_not_be_indexed_is_kept_all_the_same(store):
    store.replace([{**host(), "spec": {"consumerRef": "text"}}], "5")
    assert store.get(KEY) is not None


def test_labels_are_all_asked_for(store):
    store.replace([host("a", labels={"x": "1", "y": "2"}), host("b", labels={"x": "1"})], "5")
    assert [o["metadata"]["name"] for o in store.list("ns", labels={"x": "1", "y": "2"})] == ["a"]


def test_our_own_write_is_seen_before_its_event(store):
    store.replace([host(version=3)], "5")
    store.assume(host(version=6, consumer="m"))
    assert store.get(KEY)["spec"]["consumerRef"]["name"] == "m"


def test_the_event_of_our_own_write_still_tells_what_was_before_it(store):
    store.replace([host(version=3)], "5")
    store.assume(host(version=6, consumer="m"))
    change = store.event("MODIFIED", host(version=6, consumer="m"))
    assert "consumerRef" not in change.old["spec"]
    assert change.new["spec"]["consumerRef"]["name"] == "m"


def test_an_older_event_does_not_undo_our_own_write(store):
    store.replace([host(version=3)], "5")
    store.assume(host(version=9, consumer="m"))
    store.event("MODIFIED", host(version=7))
    assert store.get(KEY)["metadata"]["resourceVersion"] == "9"


def test_a_late_answer_can_not_bring_back_what_was_deleted(store):
    store.replace([host(version=3)], "5")
    store.event("DELETED", host(version=8))
    store.assume(host(version=7))
    assert store.get(KEY) is None


def test_a_list_made_before_our_creation_does_not_lose_it(store):
    store.replace([], "5")
    store.assume(host(version=9))
    assert store.replace([], "7") == []
    assert store.get(KEY) is not None
    assert store.event("ADDED", host(version=9)) == Change(None, store.get(KEY))


def test_an_object_of_a_new_uid_replaces_the_old_whatever_its_version(store):
    store.replace([host(version=50, uid="old")], "50")
    store.event("ADDED", host(version=9, uid="new"))
    assert store.get(KEY)["metadata"]["uid"] == "new"


def test_assuming_does_not_touch_the_answer(store):
    store.replace([], "5")
    answer = host(version=9)
    store.assume(answer)
    assert "managedFields" in answer["metadata"]


def test_a_thousand_hosts_share_their_cpu_flags(store):
    flags = [f"flag-{number}" for number in range(170)]
    items = [
        host(f"h{n}", status={"hardware": {"cpu": {"flags": ["".join(list(flag)) for flag in flags]}}})
        for n in range(1000)
    ]
    store.replace(items, "5")
    distinct = {id(flag) for obj in store.list("ns") for flag in obj["status"]["hardware"]["cpu"]["flags"]}
    assert len(distinct) == 170
    assert sys.intern("flag-1") in flags


def test_an_event_among_a_thousand_hosts_costs_as_much_as_among_ten():
    calls = []

    def consumer(obj):
        calls.append(obj["metadata"]["name"])
        return [obj["spec"]["consumerRef"]["name"]]

    costs = []
    for size in (10, 1000):
        store = Store(kinds.BARE_METAL_HOST, {"consumer": consumer})
        store.replace([host(f"h{number}", consumer=f"m{number}") for number in range(size)], "5")
        calls.clear()
        store.event("MODIFIED", host("h7", 6, consumer="m7"))
        assert [o["metadata"]["name"] for o in store.list("ns", index=("consumer", "m7"))] == ["h7"]
        costs.append(len(calls))
    assert costs[0] == costs[1] <= 2


def ended(version):
    obj = host(version=version)
    obj["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return obj


def test_our_write_that_takes_the_last_finalizer_ends_the_object_at_once(store):
    store.replace([host(version=3)], "5")
    store.assume(ended(9))
    assert store.get(KEY) is None
    store.event("MODIFIED", host(version=7))
    assert store.get(KEY) is None, "an older event does not bring it back"
    assert store.event("DELETED", ended(10)).old is not None
    store.event("ADDED", host(version=12, uid="new"))
    assert store.get(KEY)["metadata"]["uid"] == "new"


def test_a_new_object_of_the_name_of_one_we_ended_is_seen_even_after_a_list(store):
    store.replace([host(version=3)], "5")
    store.assume(ended(9))
    assert next(change.new for change in store.replace([host(version=12, uid="new")], "13"))["metadata"]["uid"] == "new"
    assert store.get(KEY)["metadata"]["uid"] == "new"


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["ADDED", "MODIFIED", "DELETED", "list"]), st.sampled_from("abc"), st.sampled_from("xyz")
    ),
    max_size=30,
)


@given(EVENTS)
def test_the_store_equals_a_plain_dict_and_its_index_after_any_history(history):
    store, model = Store(kinds.BARE_METAL_HOST), {}
    for version, (type_, name, consumer) in enumerate(history, start=1):
        obj = host(name, version, uid=f"{name}", consumer=consumer)
        if type_ == "list":
            model = {name: consumer}
            store.replace([obj], str(version))
        elif type_ == "DELETED":
            model.pop(name, None)
            store.event(type_, obj)
        else:
            model[name] = consumer
            store.event(type_, obj)
    assert {o["metadata"]["name"]: o["spec"]["consumerRef"]["name"] for o in store.list("ns")} == model
    for consumer in "xyz":
        found = {o["metadata"]["name"] for o in store.list("ns", index=("consumer", f"Metal3Machine/{consumer}"))}
        assert found == {name for name, value in model.items() if value == consumer}
