"""Cases about single writes: names, versions, generation, status, patches, dry runs."""

from __future__ import annotations

from capm3_api import kinds
from capm3_api.model import Raw

from capm3_testbed.semantics.cases import WIDGET, Subject, case, refused, version_of


@case("a new object gets uid, time, version and generation 1, and loses its status")
def _create(subject: Subject) -> None:
    made = subject.made(status={"ready": True})
    metadata = made["metadata"]
    assert metadata["uid"] and metadata["creationTimestamp"].endswith("Z") and version_of(made) > 0
    assert metadata["generation"] == 1 and "status" not in made
    assert subject.read()["metadata"]["uid"] == metadata["uid"]


@case("a second object of the same name is refused")
def _exists(subject: Subject) -> None:
    subject.made()
    with refused(409, "AlreadyExists", '"w" already exists'):
        subject.made()


@case("an object that is not there is not found by get, patch and delete")
def _missing(subject: Subject) -> None:
    assert subject.client.get(WIDGET, subject.key()) is None
    with refused(404, "NotFound", f'{WIDGET.plural}.{WIDGET.group} "w" not found'):
        subject.patched({"spec": {"size": 4}})
    with refused(404, "NotFound"):
        subject.client.delete(WIDGET, subject.key())


@case("a resourceVersion on create is refused")
def _version_on_create(subject: Subject) -> None:
    with refused(500, "", "resourceVersion should not be set"):
        subject.made(metadata={"resourceVersion": "5"})


@case("generateName makes distinct names with five more letters")
def _generate_name(subject: Subject) -> None:
    names = set()
    for _ in range(3):
        obj = subject.widget()
        obj["metadata"] = {"namespace": subject.namespace, "generateName": "some-"}
        names.add(subject.client.create(obj)["metadata"]["name"])
    assert len(names) == 3 and all(name.startswith("some-") and len(name) == 10 for name in names)


@case("a name that is no DNS name is refused by field")
def _bad_name(subject: Subject) -> None:
    with refused(422, "Invalid", fields=("metadata.name",)):
        subject.made("Not_A_Name")


@case("every change makes a higher version; one that changes nothing keeps it")
def _versions(subject: Subject) -> None:
    first = subject.made()
    second = subject.patched({"spec": {"size": 4}})
    assert version_of(second) > version_of(first)
    again = subject.patched({"spec": {"size": 4}})
    assert version_of(again) == version_of(second)
    same = subject.client.update(again)
    assert version_of(same) == version_of(second)


@case("generation counts changes of the spec, not of metadata or status")
def _generation(subject: Subject) -> None:
    subject.made()
    assert subject.patched({"metadata": {"labels": {"a": "b"}}})["metadata"]["generation"] == 1
    assert subject.patched({"status": {"ready": True}}, subresource="status")["metadata"]["generation"] == 1
    assert subject.patched({"spec": {"size": 4}})["metadata"]["generation"] == 2


@case("an update made from an old version conflicts")
def _conflict(subject: Subject) -> None:
    old = subject.made()
    subject.patched({"spec": {"size": 4}})
    with refused(409, "Conflict", "the object has been modified"):
        subject.client.update(old)
    version = {"metadata": {"resourceVersion": old["metadata"]["resourceVersion"]}}
    with refused(409, "Conflict"):
        subject.patched({**version, "spec": {"size": 5}})
    with refused(409, "Conflict"):
        subject.patched({**version, "status": {"ready": True}}, subresource="status")
    assert subject.read()["spec"]["size"] == 4


@case("an update of a custom resource without a version is refused, one of a Secret is not")
def _unconditional(subject: Subject) -> None:
    subject.made()
    with refused(422, "Invalid", fields=("metadata.resourceVersion",)):
        subject.client.update(subject.widget())
    secret = kinds.SECRET.new(subject.namespace, "s", data={"a": "Yg=="})
    subject.client.create(secret)
    assert subject.client.update({**secret, "data": {"a": "Yw=="}})["data"] == {"a": "Yw=="}


@case("an update for another uid conflicts, a patch to another uid is refused by field")
def _other_uid(subject: Subject) -> None:
    made = subject.made()
    other = {"uid": "00000000-0000-0000-0000-000000000000"}
    with refused(409, "Conflict", "Precondition failed: UID in precondition"):
        subject.client.update({**made, "metadata": {**made["metadata"], **other}})
    with refused(422, "Invalid", "field is immutable", fields=("metadata.uid",)):
        subject.patched({"metadata": other})


@case("a patch can't rename, move or retype an object")
def _identity(subject: Subject) -> None:
    subject.made()
    with refused(400, "BadRequest", "does not match the name on the URL"):
        subject.patched({"metadata": {"name": "other"}})
    with refused(400, "BadRequest", "does not match the namespace"):
        subject.patched({"metadata": {"namespace": "other"}})
    with refused(422, "Invalid", "must be Widget", fields=("kind",)):
        subject.patched({"kind": "Other"})
    with refused(422, "Invalid", fields=("apiVersion",)):
        subject.patched({"apiVersion": "other/v1"})


@case("a label value that is none is refused")
def _label_value(subject: Subject) -> None:
    with refused(422, "Invalid", "a valid label must be", fields=("metadata.labels",)):
        subject.made(metadata={"labels": {"a": "b c"}})


@case("an owner reference without name or uid is refused by field")
def _owner_fields(subject: Subject) -> None:
    owner = {"apiVersion": "v1", "kind": "Secret"}
    with refused(422, "Invalid", fields=("metadata.ownerReferences.name", "metadata.ownerReferences.uid")):
        subject.made(metadata={"ownerReferences": [owner]})


@case("the main endpoint ignores status, the status endpoint everything else")
def _status_split(subject: Subject) -> None:
    subject.made()
    body = subject.patched({"spec": {"size": 4}, "status": {"ready": True}})
    assert body["spec"]["size"] == 4 and "status" not in body
    change = {"spec": {"size": 5}, "metadata": {"labels": {"a": "b"}}, "status": {"ready": True}}
    body = subject.patched(change, subresource="status")
    assert body["status"] == {"ready": True} and body["spec"]["size"] == 4 and "labels" not in body["metadata"]
    current = subject.read()
    body = subject.client.update({**current, "status": {"ready": False}}, subresource="status")
    assert body["status"] == {"ready": False}
    body = subject.client.update({**body, "spec": {"size": 6}, "status": {"ready": True}})
    assert body["status"] == {"ready": False} and body["spec"]["size"] == 6


@case("null in a merge patch removes the field, lists are replaced whole")
def _merge_patch(subject: Subject) -> None:
    subject.made(spec={"colour": "red", "tags": ["a", "b"]}, metadata={"labels": {"a": "1", "b": "2"}})
    body = subject.patched({"spec": {"colour": None, "tags": ["c"]}, "metadata": {"labels": {"a": None, "c": "3"}}})
    assert "colour" not in body["spec"] and body["spec"]["tags"] == ["c"]
    assert body["metadata"]["labels"] == {"b": "2", "c": "3"}
    body = subject.patched({"metadata": {"labels": None}})
    assert "labels" not in body["metadata"]


@case("what the server owns in metadata can't be changed")
def _server_fields(subject: Subject) -> None:
    made = subject.made()
    body = subject.patched({"metadata": {"creationTimestamp": "2001-01-01T00:00:00Z", "generation": 9}})
    assert body["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]
    assert body["metadata"]["generation"] == 1 and version_of(body) == version_of(made)


@case("a JSON patch changes step by step, and a failed test changes nothing")
def _json_patch(subject: Subject) -> None:
    subject.made(spec={"tags": ["a"], "free": {"x/y": 1}})
    operations: list[Raw] = [
        {"op": "test", "path": "/spec/tags/0", "value": "a"},
        {"op": "add", "path": "/spec/tags/-", "value": "b"},
        {"op": "replace", "path": "/spec/free/x~1y", "value": 2},
        {"op": "remove", "path": "/spec/tags/0"},
    ]
    body = subject.client.json_patch(WIDGET, subject.key(), operations)
    assert body["spec"]["tags"] == ["b"] and body["spec"]["free"] == {"x/y": 2}
    failing: list[Raw] = [{"op": "test", "path": "/spec/tags/0", "value": "z"}, {"op": "remove", "path": "/spec/tags"}]
    with refused(422, "Invalid"):
        subject.client.json_patch(WIDGET, subject.key(), failing)
    with refused(422, "Invalid"):
        subject.client.json_patch(WIDGET, subject.key(), [{"op": "remove", "path": "/spec/absent"}])
    assert subject.read()["spec"]["tags"] == ["b"]


@case("a dry run answers as the write would and leaves nothing behind")
def _dry_run(subject: Subject) -> None:
    tried = subject.client.create(subject.widget(), dry_run=True)
    assert tried["spec"]["size"] == 3 and subject.client.get(WIDGET, subject.key()) is None
    made = subject.made()
    tried = subject.client.patch(WIDGET, subject.key(), {"spec": {"size": 5}}, dry_run=True)
    assert tried["spec"]["size"] == 5 and tried["metadata"]["generation"] == 2
    assert subject.read() == made


@case("two controllers among the owners are refused")
def _two_controllers(subject: Subject) -> None:
    owner = {"apiVersion": "v1", "kind": "Secret", "controller": True}
    owners = [{**owner, "name": "a", "uid": "1"}, {**owner, "name": "b", "uid": "2"}]
    with refused(422, "Invalid", fields=("metadata.ownerReferences",)):
        subject.made(metadata={"ownerReferences": owners})
