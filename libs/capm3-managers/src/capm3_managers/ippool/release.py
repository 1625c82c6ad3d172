"""Takes addresses back: from claims that are being deleted, and those whose claim is gone.

Apart from serving claims, because it needs no pool: a claim whose pool was deleted by force must go all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from capm3_api import meta
from capm3_api.meta import Kind
from capm3_api.model import Raw

from capm3_managers.ippool.flavours import Flavour
from capm3_managers.ippool.snapshot import Part
from capm3_managers.plan import Action, Delete, Patch


def of(part: Part) -> Iterator[Action]:
    """What lets claims and addresses go, addresses first."""
    for address in part.orphans:
        yield from _let_go(part.flavour, address)
    for claim in part.claims:
        if is_releasable(part.flavour, claim):
            name = meta.key_of(claim).name
            for address in part.addresses:
                if part.flavour.claim_name(address) == name:
                    yield from _let_go(part.flavour, address)
            yield from _without(part.flavour.claim, claim, part.flavour.claim_finalizer)


def is_releasable(flavour: Flavour, claim: Raw) -> bool:
    """Whether a claim is being deleted and nobody but us still holds it."""
    metadata = claim.get("metadata") or {}
    held_by = set(metadata.get("finalizers") or [])
    return bool(metadata.get("deletionTimestamp")) and held_by <= {flavour.claim_finalizer}


def _let_go(flavour: Flavour, address: Raw) -> Iterator[Action]:
    yield from _without(flavour.address, address, flavour.address_finalizer)
    if not (address.get("metadata") or {}).get("deletionTimestamp"):
        yield Delete(flavour.address, meta.key_of(address), meta.uid_of(address))


def _without(kind: Kind, obj: Raw, finalizer: str) -> Iterator[Action]:
    finalizers = list((obj.get("metadata") or {}).get("finalizers") or [])
    if finalizer in finalizers:
        finalizers.remove(finalizer)
        patch = {"metadata": {"finalizers": finalizers or None}}
        yield Patch(kind, meta.key_of(obj), patch, resource_version=meta.version_of(obj), missing_ok=True)
