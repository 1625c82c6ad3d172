"""Reads what one pass over a Metal3Data needs, and judges nothing.

Hosts and Secrets are read live when something is rendered; everything else comes from the caches, whose age the steps
survive: claims have fixed names, so making one twice is harmless, and what a lagging cache hid from a release is found when
the object is gone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from capm3_api import kinds, meta, names
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_api.v1beta2.metal3datatemplate import Metal3DataTemplate

from capm3_managers import owners
from capm3_managers.data import claims, pools, report, secrets
from capm3_managers.data.claims import Claim
from capm3_managers.data.objects import Objects
from capm3_managers.data.pools import Pool
from capm3_managers.data.snapshot import Snapshot
from capm3_managers.env import Env
from capm3_managers.manager import Ports
from capm3_managers.ports import Reader


def observe(ports: Ports, key: Key, env: Env) -> Snapshot:
    """One Metal3Data and what surrounds it."""
    reader = ports.reader
    data = reader.get(kinds.METAL3_DATA, key)
    if data is None:
        return Snapshot(None, held=_abandoned(reader, key))
    cluster = owners.find_cluster(reader, data)
    claim = _referenced(reader, data, "claim")
    if claims.is_leaving(data):
        held = _held(reader, key, _referenced(reader, data, "template")) if claim is None else ()
        return Snapshot(data, cluster, claim, held=held)
    template = _referenced(reader, data, "template")
    metal3machine = owners.find(reader, claim, kinds.METAL3_MACHINE) if claim else None
    found = Snapshot(data, cluster, claim, template, metal3machine)
    if template is None or metal3machine is None or claims.is_leaving(claim or {}):
        return found
    return _with_secrets(reader, found, template, metal3machine)


def _with_secrets(reader: Reader, found: Snapshot, template: Raw, metal3machine: Raw) -> Snapshot:
    """Adds the Secrets and, when one is missing, what is needed to render it."""
    data = found.observed or {}
    rest = _Rest(found, template, metal3machine, owners.find(reader, metal3machine, kinds.MACHINE))
    if _has_looked(data):
        waiting = rest.snapshot(reader, {}, live=False)
        if any(claim.found is not None and claim.address is None for claim in waiting.claims):
            return waiting
    namespace = meta.key_of(data).namespace
    parts = secrets.wanted(template)
    looked = {
        part.field: reader.get(kinds.SECRET, Key(namespace, secrets.name_of(part, data, metal3machine)), live=True)
        for part in parts
    }
    existing: Mapping[str, Raw] = {field: secret for field, secret in looked.items() if secret is not None}
    if len(existing) == len(parts):
        return dataclasses.replace(found, secrets=existing)
    return rest.snapshot(reader, existing, live=True)


def _has_looked(data: Raw) -> bool:
    """Whether an earlier pass found Secrets missing: then nothing but the addresses can have changed that since.

    Written together with the first claims; an object that was moved or restored without its status is looked at anew.
    """
    return (data.get("status") or {}).get("ready") is False


@dataclasses.dataclass(frozen=True)
class _Rest:
    """What rendering needs besides the Secrets that exist."""

    found: Snapshot
    template: Raw
    metal3machine: Raw
    machine: Raw | None

    def snapshot(self, reader: Reader, existing: Mapping[str, Raw], *, live: bool) -> Snapshot:
        """With host and claims; the host from the cache while addresses are only waited for."""
        host = _host(reader, self.metal3machine, live=live)
        wanted: tuple[Claim, ...] = ()
        if self.machine is not None and host is not None:
            around = Objects(self.machine, self.metal3machine, host)
            wanted = _claims(reader, self.found.observed or {}, self.template, around)
        return dataclasses.replace(self.found, machine=self.machine, host=host, secrets=existing, claims=wanted)


def _referenced(reader: Reader, data: Raw, field: str) -> Raw | None:
    """Template or claim of a Metal3Data, always in its own namespace."""
    kind = kinds.METAL3_DATA_CLAIM if field == "claim" else kinds.METAL3_DATA_TEMPLATE
    name = ((data.get("spec") or {}).get(field) or {}).get("name")
    return reader.get(kind, Key(meta.key_of(data).namespace, name)) if name else None


def _host(reader: Reader, metal3machine: Raw, *, live: bool) -> Raw | None:
    """The host that the annotation names; its namespace there is not looked at, as in the Go program."""
    text = ((metal3machine.get("metadata") or {}).get("annotations") or {}).get(names.HOST_ANNOTATION) or ""
    name = text.rpartition("/")[2]
    key = Key(meta.key_of(metal3machine).namespace, name)
    return reader.get(kinds.BARE_METAL_HOST, key, live=live) if name else None


def _claims(reader: Reader, data: Raw, template: Raw, around: Objects) -> tuple[Claim, ...]:
    """The claim of every wanted pool; none at all when the template can't even name its pools."""
    try:
        wanted = pools.wanted(Metal3DataTemplate.from_raw(template).spec, around)
    except report.Unrenderable:
        return ()
    host = meta.key_of(around.host).name
    return tuple(_claim(reader, meta.key_of(data), pool, host) for pool in wanted)


def _claim(reader: Reader, data: Key, pool: Pool, host: str) -> Claim:
    """The pool's claim, under the name made from the Metal3Data or, for Metal3 pools, from the host."""
    flavour = claims.flavour_of(pool)
    holders = (data.name, host) if pool.is_metal3 else (data.name,)
    named = (Key(data.namespace, claims.name_of(holder, pool)) for holder in holders)
    found = next((claim for key in named if (claim := reader.get(flavour.claim, key)) is not None), None)
    answer = claims.answer(pool, found) if found is not None else ""
    address = reader.get(flavour.address, Key(data.namespace, answer)) if answer else None
    unknown = pool.is_metal3 and address is None and reader.get(kinds.IP_POOL, Key(data.namespace, pool.name)) is None
    return Claim(pool, found, address, unknown)


def _held(reader: Reader, data: Key, template: Raw | None) -> tuple[Raw, ...]:
    """Every claim that a Metal3Data may hold: those it owns, and those with the names it would give them.

    The latter are read live: a claim that was made a moment ago may not be in the cache yet.
    """
    found = {_identity(claim): claim for claim in _owned(reader, data)}
    sources = pools.walk(Metal3DataTemplate.from_raw(template).spec) if template is not None else ()
    for pool in dict.fromkeys(source.pool for source in sources if source.pool is not None):
        kind = claims.flavour_of(pool).claim
        claim = reader.get(kind, Key(data.namespace, claims.name_of(data.name, pool)), live=True)
        if claim is not None and _is_held(claim, data):
            found[_identity(claim)] = claim
    return tuple(found.values())


def _abandoned(reader: Reader, data: Key) -> tuple[Raw, ...]:
    """Claims that still carry our finalizer for a Metal3Data that is gone."""
    left = [claim for claim in _owned(reader, data) if names.DATA_FINALIZER in _finalizers(claim)]
    if left and reader.get(kinds.METAL3_DATA, data, live=True) is not None:
        return ()
    return tuple(left)


def _owned(reader: Reader, data: Key) -> list[Raw]:
    index = ("owner", f"{kinds.METAL3_DATA.kind}/{data.name}")
    listed: list[Raw] = []
    for flavour in claims.FLAVOURS:
        listed.extend(reader.list(flavour.claim, data.namespace, index=index))
    return [claim for claim in listed if data.name in owners.names_of(claim, kinds.METAL3_DATA)]


def _is_held(claim: Raw, data: Key) -> bool:
    return names.DATA_FINALIZER in _finalizers(claim) or data.name in owners.names_of(claim, kinds.METAL3_DATA)


def _finalizers(claim: Raw) -> Sequence[str]:
    return (claim.get("metadata") or {}).get("finalizers") or ()


def _identity(claim: Raw) -> tuple[str, Key]:
    return str(claim.get("kind")), meta.key_of(claim)
