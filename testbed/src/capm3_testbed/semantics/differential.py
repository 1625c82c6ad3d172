"""Random sequences of writes, the same on two servers, whose answers must agree step by step.

Apart from the cases, which say what somebody thought of: this finds what nobody did. Answers are compared without what
must differ (uids, times, version numbers); of versions it is compared whether they moved.
"""

from __future__ import annotations

import copy
import dataclasses
import random
from typing import Any

from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_managers.ports import ApiError

from capm3_testbed.semantics.cases import WIDGET, Client

_NAMES = ("a", "b")
_SPECS: tuple[Any, ...] = (
    {"size": 4},
    {"size": None},
    {"size": 99},
    {"size": "x"},
    {"size": 2.5},
    {"size": 4.0},
    {"colour": "red"},
    {"colour": "blue"},
    {"colour": None},
    {"tags": ["a", "b"]},
    {"tags": []},
    {"tags": None},
    {"tags": ["a", 1]},
    {"tags": ["1", "2", "3", "4"]},
    {"nested": {}},
    {"nested": {"must": "ok"}},
    {"nested": {"must": "NO", "mode": None}},
    {"nested": None},
    {"nested": []},
    {"free": {"x": {"y": [1, None, {"z": True}]}}},
    {"free": {"x": None}},
    {"free": None},
    {"unknown": 1},
    {"replicas": 3},
    None,
    [],
    {},
)
_STATUSES: tuple[Any, ...] = (
    {"ready": True},
    {"ready": None},
    {"ready": "yes"},
    {"count": -1},
    {"count": 2},
    {"conditions": [{"type": "A", "status": "True"}]},
    {"conditions": [{"type": "A", "status": "True"}, {"type": "A", "status": "False"}]},
    {"conditions": [{"type": "A"}]},
    {"conditions": None},
    {"unknown": 1},
    None,
)
_METADATA: tuple[Raw, ...] = (
    {"labels": {"a": "1"}},
    {"labels": {"a": None, "b": "2"}},
    {"labels": {"bad key!": "1"}},
    {"labels": {"a": "bad value!"}},
    {"labels": None},
    {"annotations": {"x/y": "any thing"}},
    {"annotations": {}},
    {"finalizers": ["t.io/one"]},
    {"finalizers": ["t.io/one", "t.io/two"]},
    {"finalizers": []},
    {"finalizers": None},
    {"ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "u"}]},
    {"ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "s"}]},
    {"ownerReferences": None},
    {"generation": 77},
    {"creationTimestamp": None},
    {"uid": "00000000-0000-0000-0000-000000000000"},
    {"name": "other"},
    {"resourceVersion": "1"},
)
_OPERATIONS: tuple[list[Raw], ...] = (
    [{"op": "add", "path": "/spec/tags/-", "value": "n"}],
    [{"op": "add", "path": "/spec/tags", "value": ["n"]}],
    [{"op": "remove", "path": "/spec/tags/0"}],
    [{"op": "replace", "path": "/spec/size", "value": 7}],
    [{"op": "test", "path": "/spec/size", "value": 3}, {"op": "replace", "path": "/spec/size", "value": 5}],
    [{"op": "test", "path": "/spec/colour", "value": None}, {"op": "add", "path": "/spec/colour", "value": "green"}],
    [{"op": "move", "from": "/spec/colour", "path": "/spec/free"}],
    [{"op": "copy", "from": "/spec/tags", "path": "/spec/free"}],
    [{"op": "remove", "path": "/metadata/finalizers"}],
    [{"op": "replace", "path": "/kind", "value": "Other"}],
    [{"op": "add", "path": "/spec/nested/must", "value": "abc"}],
    [{"op": "remove", "path": "/spec"}],
    [],
)


@dataclasses.dataclass(frozen=True)
class Step:
    """One write.

    Args:
        verb: ``create``, ``patch``, ``status``, ``json``, ``update``, ``stale`` or ``delete``.
    """

    verb: str
    name: str
    body: Any

    def __str__(self) -> str:
        return f"{self.verb} {self.name} {self.body}"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a server made of a step: a refusal, or the object (``None``: gone) and whether its version moved."""

    refusal: tuple[int, str, tuple[str, ...]] | None
    obj: Raw | None
    moved: bool


def steps(seed: int, count: int) -> list[Step]:
    """A random sequence that is the same for the same seed."""
    draw = random.Random(seed)
    return [_step(draw) for _ in range(count)]


def _step(draw: random.Random) -> Step:
    verb = draw.choice(("create", "create", "patch", "patch", "patch", "status", "json", "update", "stale", "delete"))
    name = draw.choice(_NAMES)
    spec = copy.deepcopy(draw.choice(_SPECS))
    if verb == "create":
        metadata = draw.choice(_METADATA) if draw.random() < 0.5 else {}
        parts: Raw = {"spec": spec} if draw.random() < 0.8 else {}
        return Step(verb, name, {"metadata": copy.deepcopy(metadata), **parts})
    if verb == "patch":
        body = {"metadata": copy.deepcopy(draw.choice(_METADATA))} if draw.random() < 0.5 else {"spec": spec}
        return Step(verb, name, body)
    if verb == "status":
        return Step(verb, name, {"status": copy.deepcopy(draw.choice(_STATUSES))})
    if verb == "json":
        return Step(verb, name, copy.deepcopy(draw.choice(_OPERATIONS)))
    return Step(verb, name, spec)


class Runner:
    """Takes the steps on one server, in one namespace."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._old: dict[str, Raw] = {}

    def take(self, step: Step) -> Outcome:
        key = Key(self._namespace, step.name)
        before = self._client.get(WIDGET, key)
        if before is not None and step.name not in self._old:
            self._old[step.name] = before
        refusal = None
        try:
            self._act(step, key, before)
        except ApiError as error:
            fields = sorted({cause.field for cause in getattr(error, "causes", ())} - _UNCOMPARED)
            refusal = (error.status, error.reason, tuple(fields))
        after = self._client.get(WIDGET, key)
        moved = (before or {}).get("metadata", {}).get("resourceVersion") != (after or {}).get("metadata", {}).get(
            "resourceVersion"
        )
        return Outcome(refusal, _comparable(after), moved)

    def _act(self, step: Step, key: Key, before: Raw | None) -> None:
        if step.verb == "create":
            metadata = {"namespace": self._namespace, **step.body["metadata"], "name": step.name}
            body = {"apiVersion": WIDGET.api_version, "kind": WIDGET.kind, **step.body, "metadata": metadata}
            self._client.create(body)
        elif step.verb == "patch":
            self._client.patch(WIDGET, key, step.body)
        elif step.verb == "status":
            self._client.patch(WIDGET, key, step.body, subresource="status")
        elif step.verb == "json":
            self._client.json_patch(WIDGET, key, step.body)
        elif step.verb == "delete":
            self._client.delete(WIDGET, key)
        else:
            base = before if step.verb == "update" else self._old.get(step.name)
            if base is not None:
                self._client.update({**base, "spec": step.body})


def _comparable(obj: Raw | None) -> Raw | None:
    """The object without what two servers can't agree on."""
    if obj is None:
        return None
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _OWN}
    for name in ("uid", "creationTimestamp", "deletionTimestamp"):
        if name in obj["metadata"]:
            metadata[name] = "set"
    return {**obj, "metadata": metadata}


# The fields of causes that are left out: a JSON patch's text has none, and the two others are remarks beside a cause:
# "some validation rules were not checked", and the scale subresource's view of a spec that is no object.
_UNCOMPARED = frozenset({"", "<nil>", ".spec.replicas"})
_OWN = frozenset({"uid", "creationTimestamp", "deletionTimestamp", "resourceVersion", "managedFields", "namespace"})
