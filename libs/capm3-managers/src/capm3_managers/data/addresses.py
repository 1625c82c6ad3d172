"""What the claims of a Metal3Data have brought so far: addresses, a reason to wait, or an error.

Apart from making claims: this reads what the pool's manager, whoever that is, wrote about them.
"""

from __future__ import annotations

from collections.abc import Sequence

from capm3_api import meta
from capm3_api.model import Raw

from capm3_managers.data import claims, report
from capm3_managers.data.claims import Claim
from capm3_managers.data.pools import Pool
from capm3_managers.data.render.sources import Address

_INT32 = 2**31


def collect(found: Sequence[Claim], data: Raw) -> dict[Pool, Address]:
    """The address of every pool.

    Raises:
        report.Unrenderable: a pool refused (an error), or not all addresses are there yet (``waits``).
    """
    waiting: list[report.Unrenderable] = []
    result: dict[Pool, Address] = {}
    for claim in found:
        try:
            result[claim.pool] = _address(claim, data)
        except report.Unrenderable as reason:
            if not reason.waits:
                raise
            waiting.append(reason)
    if waiting:
        raise next((item for item in waiting if item.report.reason != report.ADDRESS_NOT_ALLOCATED), waiting[0])
    return result


def _address(claim: Claim, data: Raw) -> Address:
    pool, found = claim.pool, claim.found
    name = claims.name_of(meta.key_of(data).name, pool) if found is None else meta.key_of(found).name
    if found is None or (pool.is_metal3 and not claims.is_ours(found, data)) or _replaced(claim):
        raise _not_ours(name, found)
    if claims.error(found):
        text = f"IP Allocation for {pool.name} failed : {claims.error(found)}"
        raise report.refuse(report.ADDRESS_NOT_ALLOCATED, text)
    if claim.address is None:
        raise _unanswered(claim, name)
    return read(claim.address, pool)


def _replaced(claim: Claim) -> bool:
    """Whether a claim of Cluster API's kind is being deleted, whose address must not be used any more."""
    return claim.found is not None and not claim.pool.is_metal3 and claims.is_leaving(claim.found)


def _not_ours(name: str, found: Raw | None) -> report.Unrenderable:
    if found is None or claims.is_leaving(found):
        text = f"claim {name} of another user is being deleted" if found else f"claim {name} is being made"
        return report.Unrenderable("", report.Report(report.ADDRESS_NOT_ALLOCATED, text), waits=True)
    text = (
        f"claim {name} exists but was not made by this Metal3Data, so it is not used; delete it, "
        "or reserve the address with preAllocations of the pool"
    )
    return report.Unrenderable("", report.Report(report.CLAIM_NOT_OURS, text), waits=True)


def _unanswered(claim: Claim, name: str) -> report.Unrenderable:
    if claim.pool_missing:
        details = report.Report(report.POOL_NOT_FOUND, f"IPPool {claim.pool.name} does not exist; claim {name} waits")
    else:
        text = f"claim {name} has no address yet from {claim.pool.kind} {claim.pool.name}"
        details = report.Report(report.ADDRESS_NOT_ALLOCATED, text)
    return report.Unrenderable("", details, waits=True)


def read(raw: Raw, pool: Pool) -> Address:
    """An address object of either kind.

    Raises:
        report.Unrenderable: its prefix is out of range.
    """
    spec = raw.get("spec") or {}
    prefix = spec.get("prefix")
    if prefix is None and pool.is_metal3:
        prefix = 0
    if prefix is not None and not -_INT32 <= prefix < _INT32:
        raise report.refuse(report.ADDRESS_NOT_ALLOCATED, f"prefix out of range: {prefix}")
    dns = tuple(str(item) for item in spec.get("dnsServers") or [])
    return Address(str(spec.get("address") or ""), prefix, str(spec.get("gateway") or ""), dns)
