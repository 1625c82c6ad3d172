"""No object, however odd, ends a pass, an index or a wake-up with anything but an error that means something."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
import functools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_api.testing import builders, strategies
from capm3_managers import cluster, considering, data, datatemplate, host, indexes, ippool, machine, watches
from capm3_managers.env import Env
from capm3_managers.manager import Manager, Ports
from capm3_managers.plan import Plan
from capm3_managers.ports import ALL_NAMESPACES, ApiError, ContractError
from capm3_managers.testing import datasite, fixtures, peers, servers
from capm3_managers.testing.scenario import START, NeverSettled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MANAGERS = (cluster.MANAGER, machine.MANAGER, datatemplate.MANAGER, data.MANAGER, ippool.MANAGER, host.MANAGER)
OURS = (
    *(kinds.METAL3_CLUSTER, kinds.METAL3_MACHINE, kinds.METAL3_MACHINE_TEMPLATE),
    *(kinds.METAL3_DATA_TEMPLATE, kinds.METAL3_DATA_CLAIM, kinds.METAL3_DATA),
)
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, "", "text", "0", 0, -1, 2**40, True, False, 1.5, [], {}, ["x"], [None], [{}], {"x": 1}, {"name": 3}, [[1]]]
)


class Objects:
    """A reader over plain objects; refuses nothing, so that every shape gets through."""

    def __init__(self, objects: Sequence[Raw]) -> None:
        self.objects = objects

    def get(self, kind: Kind, key: Key, *, live: bool = False) -> Raw | None:
        return next((obj for obj in self._of(kind) if meta.key_of(obj) == key), None)

    def list(
        self,
        kind: Kind,
        namespace: str,
        *,
        labels: Mapping[str, str] | None = None,
        index: tuple[str, str] | None = None,
        live: bool = False,
    ) -> Sequence[Raw]:
        found = [obj for obj in self._of(kind) if namespace in (ALL_NAMESPACES, meta.key_of(obj).namespace)]
        if index is not None:
            found = [obj for obj in found if index[1] in set(entries(kind, index[0], obj))]
        return found

    def _of(self, kind: Kind) -> Iterator[Raw]:
        for obj in self.objects:
            if obj["kind"] == kind.kind and meta.group_of(obj["apiVersion"]) == kind.group:
                yield obj


def entries(kind: Kind, name: str, obj: Raw) -> list[str]:
    """As the controller's store, which leaves out what can't be indexed."""
    try:
        return list(indexes.INDEXES[kind][name](obj))
    except (AttributeError, TypeError):
        return []


@functools.cache
def worlds() -> tuple[tuple[Raw, ...], ...]:
    """Everything that exists at several moments in the life of a small cluster, from the beginning to a deletion."""
    site = datasite.site(2)
    scenario = datasite.scenario(site)
    moments = [tuple(site.all())]
    for passes in (3, 8, 15, 30):
        with contextlib.suppress(NeverSettled):
            scenario.until_settled(passes)
        moments.append(tuple(site.all()))
    scenario.until_settled()
    moments.append(tuple(site.all()))
    for kind, name in ((kinds.METAL3_MACHINE, "m0"), (kinds.IP_POOL, "pool1"), (kinds.METAL3_DATA_TEMPLATE, "dt1")):
        site.delete(kind, fixtures.key(name))
        moments.append(tuple(site.all()))
    site = datasite.site(1, template=FOREIGN_POOL)
    with contextlib.suppress(NeverSettled):
        datasite.scenario(site).until_settled(30)
    return (*moments, tuple(site.all()))


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value in an object."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*path, key))


FOREIGN_POOL: Raw = {
    "metaData": {"ipAddressesFromPool": [{"key": "a", "name": "p", "apiGroup": "example.com", "kind": "Pool"}]},
}
IDENTITY = {("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"), ("metadata", "namespace")}


def mutated(draw: Any, obj: Raw) -> Raw:
    """One value of the object is gone, or something else."""
    result = copy.deepcopy(obj)
    path = draw(st.sampled_from([path for path in paths(result) if path not in IDENTITY]))
    here: Any = result
    for part in path[:-1]:
        here = here[part]
    if draw(st.booleans()) and isinstance(here, dict):
        del here[path[-1]]
    else:
        here[path[-1]] = draw(ODD)
    return result


NODE = builders.node("n1", metadata={"labels": {"kubernetes.io/hostname": "x"}}, spec={"providerID": "metal3://a/b/c"})


def every_pass(objects: Sequence[Raw], node: Raw = NODE) -> None:
    """Every manager over every key, every wake-up and every index; fails on any other error than those of the seams."""
    reader = Objects(objects)
    ports = Ports(reader, peers.Workloads({fixtures.CLUSTER: [node]}), servers.Servers({}))
    env = Env(START + datetime.timedelta(hours=1), random.Random(1))
    for manager in MANAGERS:
        keys = {meta.key_of(obj) for obj in objects if obj["kind"] == manager.kind.kind}
        for row in watches.WATCHES[manager.name].rows:
            for obj in reader.list(row.kind, ALL_NAMESPACES):
                for old in (None, obj):
                    keys.update(watches.wakes(watches.WATCHES[manager.name], row, old, obj, reader, "a"))
                keys.update(watches.wakes(watches.WATCHES[manager.name], row, obj, None, reader))
        for key in sorted(keys):
            try:
                considering.consider(manager, ports, key, env)
            except (ApiError, ContractError):
                pass


@settings(max_examples=strategies.examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_values_of_a_wrong_shape_are_named_and_end_nothing(data: st.DataObject) -> None:
    objects = list(data.draw(st.sampled_from(worlds())))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(objects) - 1))
        objects[at] = mutated(data.draw, objects[at])
    every_pass(objects, mutated(data.draw, NODE))


@settings(max_examples=strategies.examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_whatever_a_schema_accepts_can_be_judged(data: st.DataObject) -> None:
    objects = list(data.draw(st.sampled_from(worlds())))
    kind = data.draw(st.sampled_from([kind for kind in OURS if any(obj["kind"] == kind.kind for obj in objects)]))
    places = [at for at, obj in enumerate(objects) if obj["kind"] == kind.kind]
    at = data.draw(st.sampled_from(places))
    odd = data.draw(strategies.objects(kind.kind, kind.version))
    kept = objects[at]["metadata"]
    objects[at] = {**odd, "metadata": {**odd["metadata"], **{k: kept[k] for k in ("name", "namespace", "uid")}}}
    if data.draw(st.booleans()):
        objects[at]["metadata"] = {
            **kept,
            **{k: odd["metadata"][k] for k in ("labels", "annotations") if k in odd["metadata"]},
        }
    every_pass(objects)


def pass_over(manager: Manager, objects: Sequence[Raw], name: str) -> Plan:
    ports = Ports(Objects(objects), peers.Workloads(), servers.Servers({}))
    return considering.consider(manager, ports, fixtures.key(name), Env(START, random.Random(1)))[1]


def test_an_object_that_can_not_be_read_is_named_with_its_field_and_nothing_is_done() -> None:
    settled = {(obj["kind"], meta.key_of(obj).name): copy.deepcopy(obj) for obj in worlds()[5]}
    settled["Metal3DataClaim", "m0"]["spec"]["template"] = "dt1"
    settled["Metal3DataClaim", "m0"].pop("status")
    settled["Metal3DataTemplate", "dt1"]["status"]["indexes"] = {"m0": 0}
    settled["Metal3Data", "dt1-0"]["spec"]["claim"] = "m0"
    plan = pass_over(datatemplate.MANAGER, list(settled.values()), "dt1")
    assert plan.wanted == settled["Metal3DataTemplate", "dt1"]
    assert not plan.actions and plan.requeue_after and not plan.retry
    assert "Metal3Data site-a/dt1-0: spec.claim: " in plan.because


def test_a_failure_over_well_formed_objects_is_a_bug_and_is_raised() -> None:
    def broken(snapshot: Any, env: Env) -> Plan:
        raise KeyError("of ours")

    manager = dataclasses.replace(datatemplate.MANAGER, decide=broken)
    with pytest.raises(KeyError, match="of ours"):
        pass_over(manager, worlds()[5], "dt1")
