"""The two kinds of claims that an IPPool answers: Metal3's IPClaim and Cluster API's IPAddressClaim, a row each.

Apart from the steps, which treat both alike: what differs is only where the same things are written. Sources: the
behaviour facts on IPAM, 1 and 3.
"""

from __future__ import annotations

import dataclasses

from capm3_api import kinds, meta
from capm3_api.meta import Kind
from capm3_api.model import Raw

from capm3_managers import hosts

POOL_FINALIZER = "ippool.ipam.metal3.io"
REQUEST_ANNOTATION = "ipAddress"
"""On a claim: the address that it asks for."""

EXHAUSTED = "Exhausted IP Pools"


@dataclasses.dataclass(frozen=True)
class Flavour:
    """One kind of claim and the kind of address that answers it.

    Args:
        claim_finalizer, address_finalizer: ours on either.
        pool_field: in the spec of both, the reference to the pool.
        claim_field: in the spec of the address, the reference to the claim.
        answer_field: in the status of the claim, the reference to the address.
        typed_pool: the reference says group and kind, which must be those of an IPPool.
        namespaced_refs: references carry a namespace.
        conditions: success and failure are told by the condition Ready, not by ``status.errorMessage``.
        dns: addresses can carry DNS servers.
    """

    claim: Kind
    address: Kind
    claim_finalizer: str
    address_finalizer: str
    pool_field: str
    claim_field: str
    answer_field: str
    typed_pool: bool
    namespaced_refs: bool
    conditions: bool
    dns: bool

    def pool_name(self, obj: Raw) -> str:
        """The IPPool that a claim or an address names; ``""`` when it names a pool of another provider."""
        ref = hosts.part(obj, "spec", self.pool_field)
        if self.typed_pool and (ref.get("apiGroup"), ref.get("kind")) != (kinds.METAL3_IPAM, kinds.IP_POOL.kind):
            return ""
        return str(ref.get("name") or "")

    def foreign_namespace(self, obj: Raw) -> str:
        """The other namespace in which a claim looks for its pool, ``""`` when it stays in its own."""
        namespace = str(hosts.part(obj, "spec", self.pool_field).get("namespace") or "")
        return "" if namespace == meta.key_of(obj).namespace else namespace

    def claim_name(self, address: Raw) -> str:
        """The claim that an address answers."""
        return str(hosts.part(address, "spec", self.claim_field).get("name") or "")

    def answer(self, claim: Raw) -> str:
        """The name of the address that a claim was given; ``""`` while there is none."""
        return str(hosts.part(claim, "status", self.answer_field).get("name") or "")

    def reference(self, name: str, namespace: str) -> Raw:
        """How claim and address name each other."""
        return {"name": name, "namespace": namespace} if self.namespaced_refs else {"name": name}

    def pool_reference(self, pool: Raw) -> Raw:
        key = meta.key_of(pool)
        if self.typed_pool:
            return {"name": key.name, "kind": kinds.IP_POOL.kind, "apiGroup": kinds.METAL3_IPAM}
        return {"name": key.name, "namespace": key.namespace}


METAL3 = Flavour(
    claim=kinds.IP_CLAIM,
    address=kinds.IP_ADDRESS,
    claim_finalizer="ipclaim.ipam.metal3.io",
    address_finalizer="ipaddress.ipam.metal3.io",
    pool_field="pool",
    claim_field="claim",
    answer_field="address",
    typed_pool=False,
    namespaced_refs=True,
    conditions=False,
    dns=True,
)
CAPI = Flavour(
    claim=kinds.CAPI_IP_ADDRESS_CLAIM,
    address=kinds.CAPI_IP_ADDRESS,
    claim_finalizer="ipam.metal3.io/ipaddressclaim",
    address_finalizer="ipam.metal3.io/ipaddress",
    pool_field="poolRef",
    claim_field="claimRef",
    answer_field="addressRef",
    typed_pool=True,
    namespaced_refs=False,
    conditions=True,
    dns=False,
)
FLAVOURS = (METAL3, CAPI)


def of(obj: Raw) -> Flavour | None:
    """The flavour that a claim or an address belongs to."""
    group, kind = meta.group_of(str(obj.get("apiVersion") or "")), obj.get("kind")
    for flavour in FLAVOURS:
        if group == flavour.claim.group and kind in (flavour.claim.kind, flavour.address.kind):
            return flavour
    return None
