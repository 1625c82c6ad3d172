"""Rules that hold in every moment of every world, and the plain form in which two worlds can be compared.

Apart from the tests, because the rules are checked after each write of every scenario, of whichever manager.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.meta import Kind
from capm3_api.model import Raw

Rule = Callable[[Sequence[Raw]], Iterator[str]]


class Impossible(AssertionError):
    """The world broke a rule."""


def check(objects: Sequence[Raw]) -> None:
    """Raises `Impossible` that names every broken rule."""
    broken = [text for rule in RULES for text in rule(objects)]
    if broken:
        raise Impossible("; ".join(broken))


def one_host_a_machine(objects: Sequence[Raw]) -> Iterator[str]:
    """No machine is the consumer of two hosts (report B01)."""
    hosts: dict[tuple[str, ...], list[str]] = {}
    for host in _of(objects, kinds.BARE_METAL_HOST):
        ref = (host.get("spec") or {}).get("consumerRef")
        if ref and ref.get("kind") == kinds.METAL3_MACHINE.kind:
            hosts.setdefault((ref.get("namespace") or "", ref["name"]), []).append(_name(host))
    for machine, held in hosts.items():
        if len(held) > 1:
            yield f"machine {'/'.join(machine)} holds the hosts {', '.join(sorted(held))}"


def one_machine_a_host(objects: Sequence[Raw]) -> Iterator[str]:
    """No two machines name the same host, unless one of them is only waiting to be refused (report B01).

    The annotation of a machine counts once the host agrees, or while the host has no consumer.
    """
    consumers = {_ref(host): _consumer(host) for host in _of(objects, kinds.BARE_METAL_HOST)}
    claims: dict[str, list[str]] = {}
    for machine in _of(objects, kinds.METAL3_MACHINE):
        value = ((machine["metadata"].get("annotations")) or {}).get(names.HOST_ANNOTATION)
        if value and consumers.get(value) == _name(machine):
            claims.setdefault(value, []).append(_name(machine))
    for host, claimed in claims.items():
        if len(claimed) > 1:
            yield f"host {host} is claimed by {', '.join(sorted(claimed))}"


def finalizer_guards_the_host(objects: Sequence[Raw]) -> Iterator[str]:
    """A host's consumer exists or is being created: a machine never vanishes while it holds a host."""
    guarded = {
        _ref(machine)
        for machine in _of(objects, kinds.METAL3_MACHINE)
        if names.MACHINE_FINALIZER in (machine["metadata"].get("finalizers") or [])
    }
    for host in _of(objects, kinds.BARE_METAL_HOST):
        ref = (host.get("spec") or {}).get("consumerRef") or {}
        ours = ref.get("kind") == kinds.METAL3_MACHINE.kind
        if ours and f"{ref.get('namespace') or host['metadata'].get('namespace')}/{ref.get('name')}" not in guarded:
            yield f"host {_name(host)} is held by the machine {ref.get('name')}, which is gone or has no finalizer"


def one_object_an_index(objects: Sequence[Raw]) -> Iterator[str]:
    """No two Metal3Data of a template have one index, and no two of them serve one claim."""
    taken: dict[tuple[Any, ...], list[str]] = {}
    for data in _of(objects, kinds.METAL3_DATA):
        spec, namespace = data.get("spec") or {}, data["metadata"].get("namespace")
        template, claim = (spec.get("template") or {}).get("name"), (spec.get("claim") or {}).get("name")
        taken.setdefault((namespace, f"index {spec.get('index')} of template {template}"), []).append(_name(data))
        taken.setdefault((namespace, f"claim {claim}"), []).append(_name(data))
    for (_, what), held in taken.items():
        if len(held) > 1:
            yield f"{what} belongs to {', '.join(sorted(held))}"


def one_claim_an_address(objects: Sequence[Raw]) -> Iterator[str]:
    """No two IPAddresses of a pool are equal (report B50)."""
    for kind, pool_field in ((kinds.IP_ADDRESS, "pool"), (kinds.CAPI_IP_ADDRESS, "poolRef")):
        taken: dict[tuple[Any, ...], list[str]] = {}
        for address in _of(objects, kind):
            spec = address.get("spec") or {}
            pool = (spec.get(pool_field) or {}).get("name")
            where = (address["metadata"].get("namespace"), pool, spec.get("address"))
            taken.setdefault(where, []).append(_name(address))
        for (_, pool, value), held in taken.items():
            if len(held) > 1:
                yield f"address {value} of pool {pool} belongs to {', '.join(sorted(held))}"


def conditions_are_unique(objects: Sequence[Raw]) -> Iterator[str]:
    """Each condition type stands once in a list."""
    for obj in objects:
        status = obj.get("status") or {}
        legacy = ((status.get("deprecated") or {}).get("v1beta1") or {}).get("conditions")
        for items in (status.get("conditions"), legacy):
            types = [item.get("type") for item in items or []]
            if len(types) != len(set(types)):
                yield f"{obj.get('kind')} {_name(obj)} has a condition twice"


RULES: tuple[Rule, ...] = (
    one_host_a_machine,
    one_machine_a_host,
    finalizer_guards_the_host,
    one_object_an_index,
    one_claim_an_address,
    conditions_are_unique,
)


def plain(objects: Iterable[Mapping[str, Any]]) -> list[Raw]:
    """Objects without what chance and time decide: versions, times, generations; each uid becomes ``<uid:Kind/name>``.

    Two worlds that took different ways to the same end have the same plain form.
    """
    objects = list(objects)
    uids = {meta.uid_of(obj): f"<uid:{obj.get('kind')}/{meta.key_of(obj).name}>" for obj in objects if meta.uid_of(obj)}
    text = json.dumps([_without_chance(obj) for obj in objects], sort_keys=True)
    if uids:
        text = re.sub("|".join(map(re.escape, uids)), lambda match: uids[match.group()], text)
    found: list[Raw] = json.loads(text)
    return sorted(found, key=lambda obj: (obj.get("kind") or "", str(meta.key_of(obj))))


_CHANCE = {"resourceVersion", "managedFields", "creationTimestamp", "generation", "deletionGracePeriodSeconds"}
_TIMES = {"lastTransitionTime", "lastUpdated", "deletionTimestamp"}


def _without_chance(value: Any, *, inside: str = "") -> Any:
    if isinstance(value, dict):
        dropped = _CHANCE if inside == "metadata" else {"observedGeneration"} if inside == "conditions" else set()
        return {
            name: "<time>" if name in _TIMES and part else _without_chance(part, inside=name)
            for name, part in value.items()
            if name not in dropped
        }
    if isinstance(value, list):
        return [_without_chance(part, inside=inside) for part in value]
    return value


def _of(objects: Sequence[Raw], kind: Kind) -> Iterator[Raw]:
    for obj in objects:
        if obj.get("kind") == kind.kind and meta.group_of(obj.get("apiVersion") or "") == kind.group:
            yield obj


def _consumer(host: Raw) -> str:
    return str(((host.get("spec") or {}).get("consumerRef") or {}).get("name") or "")


def _name(obj: Raw) -> str:
    return meta.key_of(obj).name


def _ref(obj: Raw) -> str:
    return str(meta.key_of(obj))
