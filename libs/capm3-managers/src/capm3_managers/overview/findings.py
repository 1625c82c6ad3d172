"""What one object waits for, in its own words, and which objects that is about: a function for each kind.

Apart from `chain`, which follows them. The kinds of Cluster API and of others are in `capi`. Nothing is decided anew here:
a finding is a condition, an error or a state that the object's own controller wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from capm3_api import condition, kinds, meta, names
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import hosts, outcomes, owners, remedies
from capm3_managers.data import report
from capm3_managers.overview import capi
from capm3_managers.overview import objects as looking
from capm3_managers.overview.finding import Finding, Target, of_condition
from capm3_managers.overview.objects import Objects

__all__ = ["Finding", "Target", "of"]

Look = Callable[[Raw, Objects], Finding | None]
_FOR_CLUSTER = (outcomes.WAITING_FOR_INFRASTRUCTURE.reason, outcomes.WAITING_FOR_METAL3_CLUSTER.reason)
_AT_WORK = ("provisioned", "externally provisioned", "available", "ready")


def of(objects: Objects, target: Target) -> Finding | None:
    """What the object waits for; ``None`` when for nothing. One that does not exist is a finding too."""
    kind, key = target
    obj = objects.get(kind, key)
    if obj is None:
        return Finding("existence", "does not exist", f"Create the {kind.kind}, or mend what names it.")
    look = _LOOKS.get(kind)
    return look(obj, objects) if look is not None else None


def _metal3_cluster(obj: Raw, objects: Objects) -> Finding | None:
    if looking.deleting(obj):
        return of_condition(obj, outcomes.CLUSTER_DELETING.type) or Finding("deletion", "is being deleted")
    if condition.is_true(obj, outcomes.PAUSED.type):
        return of_condition(obj, outcomes.PAUSED.type)
    if condition.get(obj, outcomes.CLUSTER_READY) is None and not looking.provisioned(obj):
        return _unseen(obj, kinds.CLUSTER)
    if looking.provisioned(obj) and condition.is_true(obj, outcomes.CLUSTER_READY):
        return None
    return of_condition(obj, outcomes.CLUSTER_READY)


def _metal3_machine(obj: Raw, objects: Objects) -> Finding | None:
    host = _host_of(obj)
    if looking.deleting(obj):
        return (of_condition(obj, outcomes.METADATA) or Finding("deletion", "is being deleted")).of(*host)
    if condition.is_true(obj, outcomes.PAUSED.type):
        return of_condition(obj, outcomes.PAUSED.type)
    for type_ in (outcomes.ASSOCIATED, outcomes.DATA_READY, outcomes.METADATA):
        told = of_condition(obj, type_)
        if told is not None:
            return told.of(*_behind(obj, type_, objects))
    if looking.provisioned(obj):
        return None
    if condition.get(obj, outcomes.ASSOCIATED) is None:
        return _unseen(obj, kinds.MACHINE)
    return Finding("status.initialization.provisioned", "its host is not provisioned yet").of(*host)


def _behind(obj: Raw, type_: str, objects: Objects) -> Sequence[Target]:
    """What a condition of a Metal3Machine is about."""
    reason = str((condition.get(obj, type_) or {}).get("reason"))
    if reason in _FOR_CLUSTER:
        return capi.infrastructure_of_cluster(obj, objects)
    if reason == outcomes.WAITING_FOR_BOOTSTRAP.reason:
        machine = owners.owner_key(obj, kinds.MACHINE)
        return capi.bootstrap(objects.get(kinds.MACHINE, machine) or {}, objects) if machine is not None else ()
    if type_ == outcomes.ASSOCIATED:
        return _host_of(obj) if reason in outcomes.AFTER_THE_PICK else ()
    return (*_data_of(obj, objects), *_host_of(obj))


def _data_of(obj: Raw, objects: Objects) -> Sequence[Target]:
    """The Metal3Data of a machine, or the claim while there is none."""
    key = meta.key_of(obj)
    name = hosts.text(obj, "status", "renderedData", "name")
    if name:
        return [(kinds.METAL3_DATA, Key(key.namespace, name))]
    wanted = hosts.part(obj, "spec", "dataTemplate")
    return [(kinds.METAL3_DATA_CLAIM, key)] if wanted and objects.get(kinds.METAL3_DATA_CLAIM, key) else []


def _host_of(obj: Raw) -> Sequence[Target]:
    name = looking.host_name(obj)
    return [(kinds.BARE_METAL_HOST, Key(meta.key_of(obj).namespace, name))] if name else []


def _unseen(obj: Raw, owner: Kind) -> Finding:
    """An object of ours without any condition: without its owner it is left alone, with it nobody looked yet."""
    if owners.reference(obj, owner) is None:
        text = f"Cluster API has not made a {owner.kind} its owner yet"
        return Finding("ownerReferences", text, f"Create the {owner.kind} whose infrastructureRef names it.")
    return Finding("status.conditions", "no controller has looked at it yet", remedies.NOT_LOOKED_AT)


def _host(host: Raw, objects: Objects) -> Finding | None:
    state = hosts.state(host)
    error = hosts.text(host, "status", "errorMessage")
    if error:
        type_ = hosts.text(host, "status", "errorType")
        return Finding(type_ or "error", error, remedies.OF_HOSTS.get(type_, ""))
    for mark in (names.HOST_PAUSED_ANNOTATION, names.HOST_DETACHED_ANNOTATION):
        if mark in hosts.marks(host):
            word = "paused" if mark == names.HOST_PAUSED_ANNOTATION else "detached"
            return Finding(f"annotation {mark}", f"the host is {word}", "Take the annotation away.")
    if looking.deleting(host):
        return Finding("deletion", f"is being deleted, in state {state or 'new'}", remedies.OF_HOSTS.get(state, ""))
    waits = bool(hosts.part(host, "spec", "image")) and state in ("available", "ready")
    if state in _AT_WORK and not waits:
        return None
    power = {True: ", power on", False: ", power off"}.get(hosts.part(host, "status").get("poweredOn") is True)
    return Finding("state", f"{state or 'not registered'}{power}", remedies.OF_HOSTS.get(state, "Wait."))


def _data(data: Raw, objects: Objects) -> Finding | None:
    if hosts.part(data, "status").get("ready") is True and not looking.deleting(data):
        return None
    told = report.of(data)
    error = hosts.text(data, "status", "errorMessage")
    if told is not None:
        finding = Finding(told.reason, told.message, remedies.OF_DATA.get(told.reason, ""))
    else:
        finding = Finding(
            "status.ready", error or "the Secrets are not rendered yet", "" if error else remedies.NOT_LOOKED_AT
        )
    return finding.of(*_claims_of(data, objects))


def _claims_of(data: Raw, objects: Objects) -> list[Target]:
    """Its claims of addresses, by their owner."""
    wanted = (kinds.IP_CLAIM, kinds.CAPI_IP_ADDRESS_CLAIM)
    name = meta.key_of(data).name
    return [
        (kind, meta.key_of(claim))
        for kind in wanted
        for claim in objects.all(kind)
        if name in owners.names_of(claim, kinds.METAL3_DATA)
    ]


def _data_claim(claim: Raw, objects: Objects) -> Finding | None:
    key = meta.key_of(claim)
    name = hosts.text(claim, "status", "renderedData", "name")
    if name:
        behind = (kinds.METAL3_DATA, Key(key.namespace, name))
        found = of(objects, behind)
        return None if found is None else Finding("data", f"Metal3Data {name} is not ready").of(behind)
    error = hosts.text(claim, "status", "errorMessage")
    template = Key(key.namespace, hosts.text(claim, "spec", "template", "name"))
    finding = Finding("status.renderedData", error or "no Metal3Data was made for it yet", remedies.NOT_LOOKED_AT)
    return finding.of((kinds.METAL3_DATA_TEMPLATE, template))


def _address_claim(claim: Raw, objects: Objects) -> Finding | None:
    if any(hosts.text(claim, "status", answer, "name") for answer in ("address", "addressRef")):
        return None
    key = meta.key_of(claim)
    error = hosts.text(claim, "status", "errorMessage")
    pool = next((name for path in ("pool", "poolRef") if (name := hosts.text(claim, "spec", path, "name"))), "")
    remedy = "Add a range to the pool or delete claims." if error else "See whether the pool's manager runs."
    foreign = hosts.text(claim, "spec", "poolRef", "kind") not in ("", kinds.IP_POOL.kind)
    finding = Finding("address", error or f"pool {pool} has not given it an address yet", remedy)
    return finding if foreign else finding.of((kinds.IP_POOL, Key(key.namespace, pool)))


_LOOKS: Mapping[Kind, Look] = {
    **capi.LOOKS,
    kinds.METAL3_CLUSTER: _metal3_cluster,
    kinds.METAL3_MACHINE: _metal3_machine,
    kinds.BARE_METAL_HOST: _host,
    kinds.METAL3_DATA: _data,
    kinds.METAL3_DATA_CLAIM: _data_claim,
    kinds.IP_CLAIM: _address_claim,
    kinds.CAPI_IP_ADDRESS_CLAIM: _address_claim,
}
KINDS = tuple(_LOOKS)
"""The kinds that can be explained."""
