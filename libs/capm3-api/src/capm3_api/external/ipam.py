"""IPPool, IPClaim and IPAddress of Metal3's ip-address-manager, complete.

Apart from Cluster API's claims, because these have their own group and shape, and our `ippool` manager serves them:
the CRDs that we ship come from here.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.external.core import ObjectReference
from capm3_api.markers import ADDRESS, SUBNET, Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model

_ADDRESS = Schema(pattern=ADDRESS)


class Pool(Model):
    """One range of addresses: `start` to `end`, or those of `subnet`, or `subnet` cut down by the two."""

    start: Annotated[str, Schema("First address.", pattern=ADDRESS)] = ""
    end: Annotated[str, Schema("Last address, itself included.", pattern=ADDRESS)] = ""
    subnet: Annotated[str, Schema("Network the addresses are taken from.", pattern=SUBNET)] = ""
    prefix: Annotated[int | None, Schema("Prefix length; overrides that of the pool.", maximum=128)] = None
    gateway: Annotated[str, Schema("Gateway; overrides that of the pool.", pattern=ADDRESS)] = ""
    dns_servers: Annotated[list[str], Schema("DNS servers; override those of the pool.", items=_ADDRESS)] = []


class IPPoolSpec(Model):
    cluster_name: Annotated[str, Schema("Cluster that owns the pool and with which it is deleted and moved.")] = ""
    pools: Annotated[list[Pool], Schema("Ranges, in the order in which they are used.")] = []
    pre_allocations: Annotated[
        dict[str, str], Schema("Fixed addresses: name of a claim to its address.", items=_ADDRESS)
    ] = {}
    prefix: Annotated[int | None, Schema("Prefix length of the addresses.", maximum=128)] = None
    gateway: Annotated[str, Schema("Gateway of the network.", pattern=ADDRESS)] = ""
    dns_servers: Annotated[list[str], Schema("DNS servers of the network.", items=_ADDRESS)] = []
    name_prefix: Annotated[str, required("Start of the names of the IPAddress objects.", min_length=1)] = ""
    allocation_strategy: Annotated[
        str,
        Schema("Which free address is taken: the lowest or any.", default="sequential", enum=("sequential", "random")),
    ] = ""


class IPPoolStatus(Model):
    last_updated: Annotated[str, Schema("When the status was last written.", format="date-time")] = ""
    indexes: Annotated[
        dict[str, str], Schema("Addresses in use: name of the claim to its address.", items=_ADDRESS)
    ] = {}


class IPPool(Object):
    """A pool of IP addresses that claims are served from."""

    API_VERSION = "ipam.metal3.io/v1alpha1"
    KIND = "IPPool"

    spec: Annotated[IPPoolSpec, Schema("What the pool holds.")] = IPPoolSpec()
    status: Annotated[IPPoolStatus, Schema("What of it is in use.")] = IPPoolStatus()


class IPClaimSpec(Model):
    pool: Annotated[ObjectReference, required("Pool to take an address from.")] = ObjectReference()


class IPClaimStatus(Model):
    address: Annotated[ObjectReference | None, Schema("The IPAddress that was given.")] = None
    error_message: Annotated[str | None, Schema("Why no address could be given.")] = None


class IPClaim(Object):
    """A request for one address of a pool."""

    API_VERSION = "ipam.metal3.io/v1alpha1"
    KIND = "IPClaim"

    spec: Annotated[IPClaimSpec, Schema("What is asked for.")] = IPClaimSpec()
    status: Annotated[IPClaimStatus, Schema("What was given.")] = IPClaimStatus()


class IPAddressSpec(Model):
    claim: Annotated[ObjectReference, required("Claim that the address answers.")] = ObjectReference()
    pool: Annotated[ObjectReference, required("Pool that the address is from.")] = ObjectReference()
    prefix: Annotated[int | None, Schema("Prefix length of the network.", maximum=128)] = None
    gateway: Annotated[str, Schema("Gateway of the network.", pattern=ADDRESS)] = ""
    address: Annotated[str, required("The address.", pattern=ADDRESS)] = ""
    dns_servers: Annotated[list[str], Schema("DNS servers of the network.", items=_ADDRESS)] = []


class IPAddress(Object):
    """One address in use."""

    API_VERSION = "ipam.metal3.io/v1alpha1"
    KIND = "IPAddress"

    spec: Annotated[IPAddressSpec, Schema("The address and its network.")] = IPAddressSpec()
