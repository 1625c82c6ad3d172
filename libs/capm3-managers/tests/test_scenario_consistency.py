"""The rules of possible worlds: each refuses a world that breaks it, and lets the others pass."""

from __future__ import annotations

import pytest
from capm3_api import names
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers.testing import consistency


def machine(name: str, **changes: object) -> Raw:
    return builders.metal3_machine(name, metadata={"finalizers": [names.MACHINE_FINALIZER], **changes})


def host(name: str, consumer: str) -> Raw:
    ref = {"kind": "Metal3Machine", "name": consumer, "namespace": builders.NAMESPACE}
    return builders.host(name, spec={"consumerRef": ref})


def data(name: str, index: int, claim: str) -> Raw:
    return builders.data(name, spec={"index": index, "claim": {"name": claim}})


def twice() -> Raw:
    ready = builders.condition("Ready")
    return builders.metal3_machine(status={"conditions": [ready, ready]})


FINE = [machine("m1"), host("h1", "m1"), builders.host("h2"), data("d-0", 0, "a"), data("d-1", 1, "b")]
BROKEN = [
    ("two hosts", [machine("m1"), host("h1", "m1"), host("h2", "m1")], "holds the hosts h1, h2"),
    ("consumer gone", [host("h1", "m1")], "held by the machine m1, which is gone or has no finalizer"),
    ("no finalizer", [builders.metal3_machine("m1"), host("h1", "m1")], "has no finalizer"),
    ("index twice", [data("d-0", 0, "a"), data("d-1", 0, "b")], "index 0 of template dt1 belongs to d-0, d-1"),
    ("claim twice", [data("d-0", 0, "a"), data("d-1", 1, "a")], "claim a belongs to d-0, d-1"),
    ("address twice", [builders.ip_address("a"), builders.ip_address("b")], "belongs to a, b"),
    ("condition twice", [twice()], "has a condition twice"),
]


def test_a_possible_world_passes() -> None:
    consistency.check(FINE)


@pytest.mark.parametrize(("objects", "text"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_an_impossible_world_is_refused(objects: list[Raw], text: str) -> None:
    with pytest.raises(consistency.Impossible, match=text):
        consistency.check([*objects, builders.host("unrelated")])


def test_worlds_that_differ_by_chance_alone_are_equal() -> None:
    def world(uid: str, time: str, version: str) -> list[Raw]:
        owner = builders.machine("m1", metadata={"uid": uid, "resourceVersion": version})
        item = builders.condition("Ready", lastTransitionTime=time, observedGeneration=int(version))
        return [owner, builders.metal3_machine("m1", **builders.owners(owner), status={"conditions": [item]})]

    first, second = (consistency.plain(world(*values)) for values in (("u1", "t1", "1"), ("u2", "t2", "2")))
    assert first == second
    assert "<uid:Machine/m1>" in str(first)


def test_worlds_that_differ_in_substance_are_not() -> None:
    first, second = (consistency.plain([builders.host("h1", spec={"online": value})]) for value in (True, False))
    assert first != second
