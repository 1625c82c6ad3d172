"""Cases about deletion: finalizers, preconditions, owners."""

from __future__ import annotations

from capm3_api import kinds
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_testbed import net
from capm3_testbed.semantics.cases import WIDGET, Subject, case, refused, version_of

_HOLD = "testbed.metal3.io/hold"
_SECONDS = 30.0


@case("an object without finalizers is gone at once")
def _plain(subject: Subject) -> None:
    subject.made()
    subject.client.delete(WIDGET, subject.key())
    assert subject.client.get(WIDGET, subject.key()) is None


@case("finalizers hold a deleted object until the last is taken away")
def _finalizers(subject: Subject) -> None:
    subject.made(metadata={"finalizers": [_HOLD, f"{_HOLD}-2"]})
    subject.client.delete(WIDGET, subject.key())
    held = subject.read()
    assert held["metadata"]["deletionTimestamp"] and held["metadata"]["generation"] == 2
    assert held["metadata"]["deletionGracePeriodSeconds"] == 0
    subject.client.delete(WIDGET, subject.key())
    assert version_of(subject.read()) == version_of(held)
    subject.patched({"metadata": {"finalizers": [_HOLD]}})
    subject.patched({"metadata": {"finalizers": None}})
    assert subject.client.get(WIDGET, subject.key()) is None


@case("an object that is being deleted takes no new finalizer but may still change")
def _no_new_finalizer(subject: Subject) -> None:
    subject.made(metadata={"finalizers": [_HOLD]})
    subject.client.delete(WIDGET, subject.key())
    with refused(422, "Invalid", "no new finalizers can be added", fields=("metadata.finalizers",)):
        subject.patched({"metadata": {"finalizers": [_HOLD, f"{_HOLD}-2"]}})
    assert subject.patched({"status": {"ready": False}}, subresource="status")["status"] == {"ready": False}
    assert subject.patched({"spec": {"size": 7}})["metadata"]["generation"] == 3
    subject.patched({"metadata": {"finalizers": []}})


@case("deletionTimestamp can't be set or taken back by a client")
def _timestamp(subject: Subject) -> None:
    subject.made(metadata={"finalizers": [_HOLD]})
    for field, value in (("deletionTimestamp", "2001-01-01T00:00:00Z"), ("deletionGracePeriodSeconds", 5)):
        with refused(422, "Invalid", "field is immutable", fields=(f"metadata.{field}",)):
            subject.patched({"metadata": {field: value}})
    subject.client.delete(WIDGET, subject.key())
    assert subject.patched({"metadata": {"deletionTimestamp": None}})["metadata"]["deletionTimestamp"]
    subject.patched({"metadata": {"finalizers": None}})


@case("a delete meant for another uid conflicts")
def _precondition(subject: Subject) -> None:
    uid = subject.made()["metadata"]["uid"]
    with refused(409, "Conflict"):
        subject.client.delete(WIDGET, subject.key(), uid="00000000-0000-0000-0000-000000000000")
    subject.client.delete(WIDGET, subject.key(), uid=uid)
    assert subject.client.get(WIDGET, subject.key()) is None


@case("a new object of an old name has another uid")
def _reborn(subject: Subject) -> None:
    first = subject.made()
    subject.client.delete(WIDGET, subject.key())
    assert subject.made()["metadata"]["uid"] != first["metadata"]["uid"]


@case("dependents go with their last owner", "gc")
def _collected(subject: Subject) -> None:
    first, second = subject.made("first"), subject.made("second")
    subject.client.create(_owned(subject, "both", first, second))
    subject.client.create(_owned(subject, "one", first))
    subject.client.delete(WIDGET, subject.key("first"), propagation="Background")
    net.wait_until("the only child is gone", lambda: _secret(subject, "one") is None, _SECONDS)
    net.wait_until("the dead owner is dropped", lambda: _owners(subject, "both") == ["second"], _SECONDS)
    subject.client.delete(WIDGET, subject.key("second"))
    net.wait_until("the other child is gone", lambda: _secret(subject, "both") is None, _SECONDS)


@case("a dependent of an owner that never was is collected", "gc")
def _absent_owner(subject: Subject) -> None:
    ghost = subject.made("ghost")
    ghost["metadata"]["uid"] = "00000000-0000-0000-0000-000000000001"
    subject.client.create(_owned(subject, "lost", ghost))
    net.wait_until("it is gone", lambda: _secret(subject, "lost") is None, _SECONDS)


@case("foreground deletion keeps the owner until its blocking dependents are gone", "gc")
def _foreground(subject: Subject) -> None:
    child = _owned(subject, "child", subject.made())
    child["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = True
    child["metadata"]["finalizers"] = [_HOLD]
    subject.client.create(child)
    subject.client.delete(WIDGET, subject.key(), propagation="Foreground")
    assert subject.read()["metadata"]["finalizers"] == ["foregroundDeletion"]
    net.wait_until("the child is being deleted", lambda: _deleting(subject, "child"), _SECONDS)
    subject.client.patch(kinds.SECRET, subject.key("child"), {"metadata": {"finalizers": None}})
    net.wait_until("the owner is gone", lambda: subject.client.get(WIDGET, subject.key()) is None, _SECONDS)


@case("orphaned dependents stay, without the reference", "gc")
def _orphan(subject: Subject) -> None:
    subject.client.create(_owned(subject, "child", subject.made()))
    subject.client.delete(WIDGET, subject.key(), propagation="Orphan")
    net.wait_until("the owner is gone", lambda: subject.client.get(WIDGET, subject.key()) is None, _SECONDS)
    assert _owners(subject, "child") == []


@case("a deleted namespace empties before it goes", "gc")
def _namespace(subject: Subject) -> None:
    subject.made(metadata={"finalizers": [_HOLD]})
    subject.client.create(kinds.SECRET.new(subject.namespace, "s"))
    key = Key("", subject.namespace)
    subject.client.delete(kinds.NAMESPACE, key)
    net.wait_until("the secret is gone", lambda: _secret(subject, "s") is None, _SECONDS)
    space = subject.client.get(kinds.NAMESPACE, key)
    assert space and space["status"]["phase"] == "Terminating"
    with refused(403, "Forbidden", "because it is being terminated"):
        subject.made("late")
    subject.patched({"metadata": {"finalizers": None}})
    net.wait_until("the namespace is gone", lambda: subject.client.get(kinds.NAMESPACE, key) is None, _SECONDS)


def _owned(subject: Subject, name: str, *owners: Raw) -> Raw:
    secret = kinds.SECRET.new(subject.namespace, name)
    secret["metadata"]["ownerReferences"] = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
        }
        for owner in owners
    ]
    return secret


def _secret(subject: Subject, name: str) -> Raw | None:
    return subject.client.get(kinds.SECRET, subject.key(name))


def _owners(subject: Subject, name: str) -> list[str]:
    metadata = (_secret(subject, name) or {}).get("metadata") or {}
    return [owner["name"] for owner in metadata.get("ownerReferences") or []]


def _deleting(subject: Subject, name: str) -> bool:
    return bool(((_secret(subject, name) or {}).get("metadata") or {}).get("deletionTimestamp"))
