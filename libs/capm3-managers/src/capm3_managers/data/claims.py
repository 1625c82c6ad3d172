"""The claims of addresses that a Metal3Data makes: their names, how they look, and whose they are.

Metal3's IPClaim and Cluster API's IPAddressClaim are one thing with two spellings here: a row of `FLAVOURS` each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.meta import Kind
from capm3_api.model import Raw

from capm3_managers import objectnames, owners
from capm3_managers.data.pools import Pool


@dataclasses.dataclass(frozen=True)
class Flavour:
    """One kind of claim.

    Args:
        claim: what is created.
        address: what answers it.
        spec: pool, namespace -> the claim's spec.
        answer: path in the claim's status to the name of the address.
    """

    claim: Kind
    address: Kind
    spec: Callable[[Pool, str], Raw]
    answer: str


METAL3 = Flavour(
    kinds.IP_CLAIM,
    kinds.IP_ADDRESS,
    lambda pool, namespace: {"pool": {"name": pool.name, "namespace": namespace}},
    "address",
)
CAPI = Flavour(
    kinds.CAPI_IP_ADDRESS_CLAIM,
    kinds.CAPI_IP_ADDRESS,
    lambda pool, namespace: {"poolRef": {"name": pool.name, "kind": pool.kind, "apiGroup": pool.group}},
    "addressRef",
)
FLAVOURS = (METAL3, CAPI)


def flavour_of(pool: Pool) -> Flavour:
    """Which kind of claim a pool answers."""
    return METAL3 if pool.is_metal3 else CAPI


def name_of(holder: str, pool: Pool) -> str:
    """The claim's name.

    Args:
        holder: name of the Metal3Data, or of the host when claims are named by hosts.
    """
    return f"{holder}-{pool.name}"


@dataclasses.dataclass(frozen=True)
class Claim:
    """A wanted pool and what was found for it.

    Args:
        found: the claim; ``None`` when there is none yet.
        address: the object that answers it; ``None`` when it is not there yet.
        pool_missing: the Metal3 pool does not exist (looked at only while there is no answer).
    """

    pool: Pool
    found: Raw | None = None
    address: Raw | None = None
    pool_missing: bool = False


def new(data: Raw, pool: Pool, host: str = "") -> Raw:
    """A claim for a Metal3Data.

    Args:
        host: name the claim by this host instead (``--enable-bmh-name-based-preallocation``); Metal3 pools only.
    """
    flavour = flavour_of(pool)
    key = meta.key_of(data)
    by_host = bool(host) and pool.is_metal3
    labels = dict((data.get("metadata") or {}).get("labels") or {})
    if by_host:
        marks = {names.DATA_NAME_LABEL: key.name, names.POOL_NAME_LABEL: pool.name}
        labels |= {name: value for name, value in marks.items() if objectnames.is_label(value)}
    claim = flavour.claim.new(key.namespace, name_of(host if by_host else key.name, pool))
    claim["metadata"] |= {
        "finalizers": [names.DATA_FINALIZER],
        "ownerReferences": [owners.make(data, controller=True)],
        **({"labels": labels} if labels else {}),
    }
    return {**claim, "spec": flavour.spec(pool, key.namespace)}


def answer(pool: Pool, claim: Raw) -> str:
    """The name of the address that answers a claim; ``""`` while there is none."""
    found: Any = (claim.get("status") or {}).get(flavour_of(pool).answer) or {}
    return str(found.get("name") or "")


def error(claim: Raw) -> str:
    """Why the pool gave no address, in its own words; ``""`` when it does not say."""
    return str((claim.get("status") or {}).get("errorMessage") or "")


def is_ours(claim: Raw, data: Raw) -> bool:
    """Whether this very Metal3Data made the claim."""
    return any(item.get("uid") == meta.uid_of(data) for item in owners.references(claim))


def is_left_over(claim: Raw, data: Raw) -> bool:
    """Whether an earlier Metal3Data of the same name made the claim, which therefore serves nobody any more."""
    owner = owners.reference(claim, kinds.METAL3_DATA)
    return owner is not None and owner["name"] == meta.key_of(data).name and not is_ours(claim, data)


def is_leaving(obj: Raw) -> bool:
    """Whether the object is being deleted."""
    return bool((obj.get("metadata") or {}).get("deletionTimestamp"))
