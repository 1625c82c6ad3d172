"""``spec.networkData`` of a Metal3DataTemplate v1beta1: parameters of bonds are a free map.

Apart from the metadata, because the two are rendered into two documents that have nothing in common. One definition
serves IPv4 and IPv6, as in v1beta2.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from capm3_api.markers import (
    ADDRESS,
    FAMILY_ADDRESS,
    FAMILY_POOL_REQUIRED,
    FAMILY_PREFIX,
    INTERFACE,
    IPV4,
    IPV6,
    Schema,
    required,
)
from capm3_api.model import Model
from capm3_api.v1beta1.common import ObjectAnnotation, TypedLocalObjectReference
from capm3_api.v1beta2.networkdata import BOND_MODES, ETHERNET_TYPES, HASH_POLICIES

_FROM_POOL = "IPPool in the namespace of the template; the older way to name a pool."


class MacAddress(Model):
    """A MAC address; one of the three says where it comes from."""

    string: Annotated[str | None, Schema("The address itself.")] = None
    from_host_interface: Annotated[str | None, Schema("Interface of the host in the hardware details.")] = None
    from_annotation: Annotated[ObjectAnnotation | None, Schema("Annotation with the address.")] = None


class Link(Model):
    """What every kind of link has."""

    id: Annotated[str, required("Name by which networks and other links refer to this one.")] = ""
    name: Annotated[str, Schema("Name of the interface in the system.", pattern=INTERFACE, max_length=15)] = ""
    mtu: Annotated[int, Schema("Largest packet in bytes.", default=1500, maximum=9000)] = 0
    mac_address: Annotated[MacAddress, required("MAC address of the link.")] = MacAddress()


class Ethernet(Link):
    type: Annotated[str, required("Kind of interface.", enum=ETHERNET_TYPES)] = ""


class Bond(Link):
    bond_mode: Annotated[str, required("How packets are spread.", enum=BOND_MODES)] = ""
    bond_xmit_hash_policy: Annotated[str, Schema("What decides which link is used.", enum=HASH_POLICIES)] = ""
    bond_links: Annotated[list[str], Schema("Ids of the links in the bond.")] = []
    parameters: Annotated[
        dict[str, Any], Schema("Further parameters, copied as they are.", items=Schema(preserve=True))
    ] = {}


class Vlan(Link):
    vlan_id: Annotated[int, Field(alias="vlanID"), required("Number of the VLAN.", maximum=4096)] = 0
    vlan_link: Annotated[str, required("Id of the link that carries it.")] = ""


class Links(Model):
    ethernets: Annotated[list[Ethernet], Schema("Network cards.")] = []
    bonds: Annotated[list[Bond], Schema("Bonds of several links.")] = []
    vlans: Annotated[list[Vlan], Schema("VLANs on a link.")] = []


class Gateway(Model):
    """A gateway; one of the four says where it comes from."""

    string: Annotated[str | None, Schema("The address itself.", pattern=FAMILY_ADDRESS)] = None
    from_ip_pool: Annotated[str | None, Field(alias="fromIPPool"), Schema(_FROM_POOL)] = None
    from_pool_ref: Annotated[TypedLocalObjectReference | None, Schema("Pool whose gateway is meant.")] = None
    from_pool_annotation: Annotated[ObjectAnnotation | None, Schema("Annotation with the name of the IPPool.")] = None


class Services(Model):
    """DNS servers of the family that the field binds."""

    dns: Annotated[list[str], Schema("Addresses of DNS servers.", items=Schema(pattern=FAMILY_ADDRESS))] = []
    dns_from_ip_pool: Annotated[
        str | None, Field(alias="dnsFromIPPool"), Schema("IPPool whose DNS servers are meant.")
    ] = None


class Route(Model):
    network: Annotated[str, required("Address of the network.", pattern=FAMILY_ADDRESS)] = ""
    prefix: Annotated[int, Schema("Prefix length of the network.", maximum=FAMILY_PREFIX)] = 0
    gateway: Annotated[Gateway, required("Where packets to it are sent.")] = Gateway()
    services: Annotated[Services, Schema("Services of the route.")] = Services()


class NetworkDHCP(Model):
    """A network whose address the system finds on its own (DHCP or SLAAC)."""

    id: Annotated[str, required("Name of the network.")] = ""
    link: Annotated[str, required("Id of the link it is on.")] = ""
    routes: Annotated[list[Route], Schema("Routes through it.")] = []


class Network(NetworkDHCP):
    """A network with an address from a pool."""

    ip_address_from_ip_pool: Annotated[
        str, Field(alias="ipAddressFromIPPool"), Schema(_FROM_POOL, required=FAMILY_POOL_REQUIRED)
    ] = ""
    from_pool_ref: Annotated[TypedLocalObjectReference | None, Schema("Pool that the address is taken from.")] = None
    from_pool_annotation: Annotated[ObjectAnnotation | None, Schema("Annotation with the name of the IPPool.")] = None


class Networks(Model):
    ipv4: Annotated[list[Network], Schema("IPv4 networks with addresses from pools.", bind=IPV4)] = []
    ipv6: Annotated[list[Network], Schema("IPv6 networks with addresses from pools.", bind=IPV6)] = []
    ipv4_dhcp: Annotated[list[NetworkDHCP], Field(alias="ipv4DHCP"), Schema("IPv4 networks with DHCP.", bind=IPV4)] = []
    ipv6_dhcp: Annotated[list[NetworkDHCP], Field(alias="ipv6DHCP"), Schema("IPv6 networks with DHCP.", bind=IPV6)] = []
    ipv6_slaac: Annotated[
        list[NetworkDHCP], Field(alias="ipv6SLAAC"), Schema("IPv6 networks with SLAAC.", bind=IPV6)
    ] = []


class NetworkData(Model):
    links: Annotated[Links, Schema("Links of the host.")] = Links()
    networks: Annotated[Networks, Schema("Networks on the links.")] = Networks()
    services: Annotated[Services, Schema("Services of the whole host.", bind={"address": ADDRESS})] = Services()
