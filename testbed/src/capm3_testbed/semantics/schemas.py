"""Cases about CRD schemas: defaults, pruning, refusals by field, versions."""

from __future__ import annotations

from capm3_testbed.semantics.cases import WIDGET, Subject, case, refused, version_of


@case("defaults are set where a field is missing, also inside objects that are there", "schema")
def _defaults(subject: Subject) -> None:
    made = subject.made(spec={"nested": {"must": "a"}})
    assert made["spec"] == {"size": 3, "nested": {"must": "a", "mode": "auto"}}
    assert subject.made("bare")["spec"] == {"size": 3}
    assert subject.patched({"spec": {"size": None}})["spec"]["size"] == 3


@case("unknown fields are pruned, except where they are to be kept", "schema")
def _pruned(subject: Subject) -> None:
    made = subject.made(spec={"extra": 1, "free": {"extra": {"deep": 1}}, "nested": {"must": "a", "more": 2}})
    assert made["spec"] == {"size": 3, "free": {"extra": {"deep": 1}}, "nested": {"must": "a", "mode": "auto"}}


@case("strict field validation refuses unknown fields and names them", "schema")
def _strict(subject: Subject) -> None:
    obj = subject.widget(spec={"extra": 1, "nested": {"must": "a", "more": 2}})
    with refused(400, "BadRequest", 'unknown field "spec.extra"', 'unknown field "spec.nested.more"'):
        subject.client.create(obj, validation="Strict")


@case("an invalid object is refused with every bad field", "schema")
def _invalid(subject: Subject) -> None:
    bad = {"size": 99, "colour": "blue", "tags": ["a", "b", "c", "d"], "nested": {"must": "UPPER"}}
    fields = ("spec.size", "spec.colour", "spec.tags", "spec.nested.must")
    with refused(422, "Invalid", f'Widget.{WIDGET.group} "w" is invalid', fields=fields):
        subject.made(spec=bad)


@case("a missing required field is named", "schema")
def _required(subject: Subject) -> None:
    with refused(422, "Invalid", "Required value", fields=("spec.nested.must",)):
        subject.made(spec={"nested": {}})


@case("a value of the wrong type is refused by field", "schema")
def _wrong_type(subject: Subject) -> None:
    with refused(422, "Invalid", fields=("spec.size",)):
        subject.made(spec={"size": "three"})


@case("a status is validated too, and a map list refuses a key twice", "schema")
def _status(subject: Subject) -> None:
    subject.made()
    with refused(422, "Invalid", fields=("status.count",)):
        subject.patched({"status": {"count": -1}}, subresource="status")
    twice = [{"type": "A", "status": "True"}, {"type": "A", "status": "False"}]
    with refused(422, "Invalid", "Duplicate value", fields=("status.conditions[1]",)):
        subject.patched({"status": {"conditions": twice}}, subresource="status")


@case("a patch to an invalid object changes nothing", "schema")
def _invalid_patch(subject: Subject) -> None:
    made = subject.made()
    with refused(422, "Invalid", fields=("spec.size",)):
        subject.patched({"spec": {"size": 0}})
    assert subject.read() == made


@case("each served version shows the same object under its own apiVersion", "schema")
def _versions(subject: Subject) -> None:
    made = subject.made()
    beta = WIDGET.at("v1beta1")
    seen = subject.client.get(beta, subject.key())
    assert seen and seen == {**made, "apiVersion": beta.api_version}
    changed = subject.client.patch(beta, subject.key(), {"spec": {"size": 8}})
    assert changed["apiVersion"] == beta.api_version and version_of(changed) > version_of(made)
    assert subject.read()["spec"]["size"] == 8 and subject.read()["apiVersion"] == WIDGET.api_version
    listed = subject.client.list(beta, subject.namespace).items
    assert [obj["apiVersion"] for obj in listed] == [beta.api_version]
