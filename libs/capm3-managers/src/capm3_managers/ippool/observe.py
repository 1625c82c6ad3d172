"""Reads what one pass over an IPPool needs, and judges nothing.

Cached reads, with three exceptions, each for what an old view could break: a claim that carries our finalizer but has
neither answer nor error may have been answered a moment ago; addresses of two kinds don't exclude each other by their
names; and an address is given up as an orphan only when its claim is really gone.
"""

from __future__ import annotations

from collections.abc import Sequence

from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers.env import Env
from capm3_managers.ippool import flavours
from capm3_managers.ippool.flavours import Flavour
from capm3_managers.ippool.snapshot import Part, Snapshot
from capm3_managers.manager import Ports
from capm3_managers.ports import Reader


def observe(ports: Ports, key: Key, env: Env) -> Snapshot:
    """One IPPool, its claims and its addresses."""
    reader = ports.reader
    pool = reader.get(kinds.IP_POOL, key)
    listed = [(flavour, _claims(reader, key, flavour)) for flavour in flavours.FLAVOURS]
    both = all(claims for _, claims in listed)
    parts = tuple(_part(reader, key, flavour, claims, live=both) for flavour, claims in listed)
    spec = (pool or {}).get("spec") or {}
    cluster_name, prefix = spec.get("clusterName"), spec.get("namePrefix")
    cluster = reader.get(kinds.CLUSTER, Key(key.namespace, cluster_name)) if cluster_name else None
    foreign = _foreign(reader, key, str(prefix)) if prefix else ()
    return Snapshot(pool, cluster, parts, foreign)


def _claims(reader: Reader, key: Key, flavour: Flavour) -> list[Raw]:
    found = reader.list(flavour.claim, key.namespace, index=("pool", key.name))
    looked = (
        reader.get(flavour.claim, meta.key_of(claim), live=True) if is_doubtful(flavour, claim) else claim
        for claim in found
    )
    return sorted((claim for claim in looked if claim is not None), key=_age)


def _part(reader: Reader, key: Key, flavour: Flavour, claims: Sequence[Raw], *, live: bool) -> Part:
    pending = any(not flavour.answer(claim) and not _is_leaving(claim) for claim in claims)
    if (live and pending) or any(is_doubtful(flavour, claim) for claim in claims):
        listed = reader.list(flavour.address, key.namespace, live=True)
        addresses = tuple(address for address in listed if flavour.pool_name(address) == key.name)
    else:
        addresses = tuple(reader.list(flavour.address, key.namespace, index=("pool", key.name)))
    known = {meta.key_of(claim).name for claim in claims}
    orphans = tuple(address for address in addresses if _is_orphan(reader, flavour, address, known))
    return Part(flavour, tuple(claims), addresses, orphans)


def is_doubtful(flavour: Flavour, claim: Raw) -> bool:
    """Whether the claim may have been answered since this view of it, with nothing that a write would trip over."""
    status = claim.get("status") or {}
    told = bool(status.get("errorMessage") or status.get("conditions"))
    ours = flavour.claim_finalizer in ((claim.get("metadata") or {}).get("finalizers") or [])
    return ours and not told and not flavour.answer(claim) and not _is_leaving(claim)


def _is_orphan(reader: Reader, flavour: Flavour, address: Raw, known: set[str]) -> bool:
    """Whether an address that was made for a claim outlived it.

    One that somebody made by hand lacks our finalizer and is left alone. The owner reference tells nothing: garbage
    collection drops one whose owner is gone.
    """
    name = flavour.claim_name(address)
    finalizers = (address.get("metadata") or {}).get("finalizers") or []
    if name in known or flavour.address_finalizer not in finalizers:
        return False
    return reader.get(flavour.claim, Key(meta.key_of(address).namespace, name), live=True) is None


def _foreign(reader: Reader, key: Key, prefix: str) -> tuple[Raw, ...]:
    listed = reader.list(kinds.IP_ADDRESS, key.namespace, index=("prefix", prefix))
    return tuple(address for address in listed if flavours.METAL3.pool_name(address) != key.name)


def _is_leaving(obj: Raw) -> bool:
    return bool((obj.get("metadata") or {}).get("deletionTimestamp"))


def _age(claim: Raw) -> tuple[str, str]:
    metadata = claim.get("metadata") or {}
    return str(metadata.get("creationTimestamp") or ""), str(metadata.get("name") or "")
