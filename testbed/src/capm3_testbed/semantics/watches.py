"""Cases about watches: order, resuming, selectors, bookmarks, lost history."""

from __future__ import annotations

from capm3_api.model import Raw

from capm3_testbed.semantics.cases import WIDGET, Subject, case, version_of


def _story(events: list[Raw]) -> list[tuple[str, str]]:
    return [(event["type"], event["object"]["metadata"]["name"]) for event in events]


@case("a watch tells every change once, in the order of versions")
def _order(subject: Subject) -> None:
    start = subject.client.list(WIDGET, subject.namespace).version
    subject.made("a")
    subject.made("b")
    subject.patched({"spec": {"size": 4}}, "a")
    subject.patched({"spec": {"size": 4}}, "a")
    subject.client.delete(WIDGET, subject.key("b"))
    subject.made("c")
    events = subject.events(5, start)
    assert _story(events) == [("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b"), ("ADDED", "c")]
    versions = [version_of(event["object"]) for event in events]
    assert versions == sorted(set(versions)) and versions[0] > int(start)


@case("a watch resumes right after the version it names")
def _resume(subject: Subject) -> None:
    made = subject.made("a")
    subject.patched({"spec": {"size": 4}}, "a")
    subject.patched({"spec": {"size": 5}}, "a")
    first = subject.events(2, made["metadata"]["resourceVersion"])
    assert [event["object"]["spec"]["size"] for event in first] == [4, 5]
    second = subject.events(1, first[0]["object"]["metadata"]["resourceVersion"])
    assert [event["object"]["spec"]["size"] for event in second] == [5]


@case("a watch without a version starts with what there is")
def _from_nothing(subject: Subject) -> None:
    subject.made("a")
    subject.made("b")
    assert sorted(_story(subject.events(2, ""))) == [("ADDED", "a"), ("ADDED", "b")]


@case("an object that a selector stops choosing is deleted for that watch, and comes back as added")
def _selected(subject: Subject) -> None:
    start = subject.client.list(WIDGET, subject.namespace).version
    subject.made("a", metadata={"labels": {"x": "1"}})
    subject.made("b")
    subject.patched({"metadata": {"labels": {"x": "2"}}}, "a")
    subject.patched({"metadata": {"labels": {"x": "1"}}}, "a")
    last = subject.patched({"spec": {"size": 5}}, "a")
    events = subject.events(4, start, {"labelSelector": "x=1"})
    assert [event["type"] for event in events] == ["ADDED", "DELETED", "ADDED", "MODIFIED"]
    assert events[3]["object"] == last
    versions = [version_of(event["object"]) for event in events]
    assert versions == sorted(set(versions))


@case("a watch of one name sees only that object")
def _one_name(subject: Subject) -> None:
    start = subject.client.list(WIDGET, subject.namespace).version
    for name in ("a", "b", "c"):
        subject.made(name)
    assert _story(subject.events(1, start, {"fieldSelector": "metadata.name=b"})) == [("ADDED", "b")]


@case("the last finalizer's removal shows as a deletion")
def _finalized(subject: Subject) -> None:
    start = subject.made("a", metadata={"finalizers": ["testbed.metal3.io/hold"]})["metadata"]["resourceVersion"]
    subject.client.delete(WIDGET, subject.key("a"))
    subject.patched({"metadata": {"finalizers": None}}, "a")
    events = subject.events(3, start)
    types = [event["type"] for event in events]
    assert types[0] == "MODIFIED" and types[-1] == "DELETED"
    assert events[0]["object"]["metadata"]["deletionTimestamp"]


@case("a bookmark ends a watch that asks for bookmarks and has a time limit", "soon")
def _bookmark(subject: Subject) -> None:
    made = subject.made("a")
    query = {"allowWatchBookmarks": "true", "timeoutSeconds": "4"}
    events = subject.events(5, made["metadata"]["resourceVersion"], query)
    assert events and {event["type"] for event in events} == {"BOOKMARK"}
    assert version_of(events[-1]["object"]) >= version_of(made)


@case("streamed initial events end with an annotated bookmark", "bookmarks")
def _initial_events(subject: Subject) -> None:
    subject.made("a")
    query = {
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
    }
    events = subject.events(2, "", query)
    assert [event["type"] for event in events] == ["ADDED", "BOOKMARK"]
    assert events[1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


@case("a watch from a version that the server forgot is told 410")
def _forgotten(subject: Subject) -> None:
    for name in ("a", "b"):
        subject.made(name)
    old = subject.client.forget(WIDGET, subject.namespace)
    events = subject.events(1, old)
    assert [event["type"] for event in events] == ["ERROR"]
    assert events[0]["object"]["code"] == 410 and events[0]["object"]["reason"] == "Expired"
