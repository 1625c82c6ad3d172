"""Answers the claims of a pool, each apart from the others: what is wrong with one is written on that one (report B32).

Apart from choosing addresses: here is what is written, and in which order, so that a crash or an outdated view can
neither lose an address nor give one claim two.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator

from capm3_api import condition, meta
from capm3_api.model import Raw

from capm3_managers import objectnames, owners
from capm3_managers.ippool import allocate, ranges
from capm3_managers.ippool.allocate import Given, Refused, Stock
from capm3_managers.ippool.flavours import Flavour
from capm3_managers.ippool.ranges import IP, Range
from capm3_managers.ippool.snapshot import Part
from capm3_managers.plan import Action, Create, Patch

READY = "Ready"
NOT_CREATED = "Failed to create associated IPAddress object"
BAD_PREFIX = "Invalid prefix value, it must be between 0 and 128"


@dataclasses.dataclass(frozen=True)
class Pass:
    """What all claims of a pass share."""

    pool: Raw
    stock: Stock
    rng: random.Random
    now: str


def answer(work: Pass, part: Part, claim: Raw) -> tuple[IP | None, list[Action]]:
    """Serves one claim that is not being deleted.

    Returns:
        its address, ``None`` when it was refused; and the writes that are still missing.
    """
    flavour, name = part.flavour, meta.key_of(claim).name
    existing = next((item for item in part.addresses if flavour.claim_name(item) == name), None)
    if existing is not None:
        given = ranges.parse((existing.get("spec") or {}).get("address"))
        return given, [*_protected(flavour, claim), *_told(flavour, claim, meta.key_of(existing).name, work.now)]
    chosen = _restored(work, flavour, claim) or _chosen(work, flavour, claim)
    if isinstance(chosen, Refused):
        return None, list(_refused(flavour, claim, chosen, work.now))
    work.stock.take(chosen.address, f"{flavour.claim.kind} {name}")
    address = new_address(work.pool, flavour, claim, chosen)
    made = Create(address, exists_ok=bool(flavour.answer(claim)))
    told = _told(flavour, claim, meta.key_of(address).name, work.now)
    return chosen.address, [*_protected(flavour, claim), made, *told]


def address_name(pool: Raw, address: IP) -> str:
    """``<namePrefix>-<address>`` with dashes for dots and colons; it makes an address unique on the API server too."""
    prefix = (pool.get("spec") or {}).get("namePrefix") or ""
    return f"{prefix}-{str(address).replace(':', '-').replace('.', '-')}".rstrip("-")


def new_address(pool: Raw, flavour: Flavour, claim: Raw, given: Given) -> Raw:
    """The address object that answers a claim."""
    key = meta.key_of(claim)
    labels = (claim.get("metadata") or {}).get("labels")
    address = flavour.address.new(key.namespace, address_name(pool, given.address))
    address["metadata"] |= {
        "finalizers": [flavour.address_finalizer],
        "ownerReferences": [owners.make(pool), owners.make(claim)],
        **({"labels": dict(labels)} if labels else {}),
    }
    spec: Raw = {
        "address": str(given.address),
        flavour.pool_field: flavour.pool_reference(pool),
        flavour.claim_field: flavour.reference(key.name, key.namespace),
    }
    if given.range.prefix is not None or flavour.conditions:
        spec["prefix"] = given.range.prefix or 0
    if given.range.gateway:
        spec["gateway"] = given.range.gateway
    if given.range.dns and flavour.dns:
        spec["dnsServers"] = list(given.range.dns)
    return {**address, "spec": spec}


def _chosen(work: Pass, flavour: Flavour, claim: Raw) -> Given | Refused:
    foreign = flavour.foreign_namespace(claim)
    if foreign:
        own = meta.key_of(claim).namespace
        text = f"spec.{flavour.pool_field} names namespace {foreign}; only IPPools of namespace {own} are used"
        return Refused(text)
    chosen = allocate.choose(work.stock, claim, work.rng)
    name = address_name(work.pool, chosen.address) if isinstance(chosen, Given) else ""
    if name and not objectnames.is_valid(name):
        return Refused(
            f"{NOT_CREATED}: {name[:80]!r} is not the name of an object; make spec.namePrefix of the pool one"
        )
    if isinstance(chosen, Given) and flavour.conditions and not 0 <= (chosen.range.prefix or 0) <= 128:
        return Refused(BAD_PREFIX)
    return chosen


def _restored(work: Pass, flavour: Flavour, claim: Raw) -> Given | None:
    """The address that the claim was given before its address object vanished, if nobody else has it now."""
    recorded = flavour.answer(claim)
    spec = work.pool.get("spec") or {}
    tail = recorded.removeprefix(f"{spec.get('namePrefix')}-")
    texts = (tail.replace("-", "."), tail.replace("-", ":"), tail.replace("-", ":") + "::") if recorded else ()
    for address in (ranges.parse(text) for text in texts):
        if address is None or address_name(work.pool, address) != recorded or work.stock.taken.get(address):
            continue
        item = work.stock.ranges.holding(address)
        return Given(address, item or Range(address, address, True, None, "", ()))
    return None


def _protected(flavour: Flavour, claim: Raw) -> Iterator[Action]:
    """Makes sure that the claim is as it was seen before an address is made for it: a compare-and-swap on the claim."""
    finalizers = list((claim.get("metadata") or {}).get("finalizers") or [])
    version = meta.version_of(claim)
    if flavour.claim_finalizer not in finalizers:
        added: Raw = {"metadata": {"finalizers": [*finalizers, flavour.claim_finalizer]}}
        yield Patch(flavour.claim, meta.key_of(claim), added, resource_version=version)
    elif (claim.get("status") or {}).get("errorMessage"):
        cleared: Raw = {"status": {"errorMessage": None}}
        yield Patch(flavour.claim, meta.key_of(claim), cleared, resource_version=version, subresource="status")


def _told(flavour: Flavour, claim: Raw, name: str, now: str) -> Iterator[Action]:
    """The answer in the claim's status; the condition follows in a pass of its own, since a list needs the version."""
    key = meta.key_of(claim)
    status: Raw = {}
    if flavour.answer(claim) != name:
        status[flavour.answer_field] = flavour.reference(name, key.namespace)
    if (claim.get("status") or {}).get("errorMessage"):
        status["errorMessage"] = None
    if status:
        yield Patch(flavour.claim, key, {"status": status}, subresource="status", missing_ok=True)
    elif flavour.conditions and not condition.is_true(claim, READY):
        yield from _condition(flavour, claim, ("True", "AddressAllocated", ""), now)


def _refused(flavour: Flavour, claim: Raw, refused: Refused, now: str) -> Iterator[Action]:
    if flavour.conditions:
        reason = "PoolExhausted" if refused.exhausted else "AllocationFailed"
        yield from _condition(flavour, claim, ("False", reason, refused.message), now)
    elif (claim.get("status") or {}).get("errorMessage") != refused.message:
        patch = {"status": {"errorMessage": refused.message}}
        yield Patch(flavour.claim, meta.key_of(claim), patch, subresource="status", missing_ok=True)


def _condition(flavour: Flavour, claim: Raw, said: tuple[str, str, str], now: str) -> Iterator[Action]:
    status, reason, message = said
    changed = condition.set_condition(claim, READY, status, reason, message, now=now)
    if changed != claim:
        patch = {"status": {"conditions": changed["status"]["conditions"]}}
        version = meta.version_of(claim)
        yield Patch(
            flavour.claim,
            meta.key_of(claim),
            patch,
            resource_version=version,
            subresource="status",
            missing_ok=True,
        )
