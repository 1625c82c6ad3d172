"""``spec.networkData`` of a Metal3DataTemplate v1beta2: links, networks and services.

Apart from the metadata, because the two are rendered into two documents that have nothing in common. One definition
serves IPv4 and IPv6: the field that holds it binds the pattern of addresses and the longest prefix.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from capm3_api.markers import (
    ADDRESS,
    FAMILY_ADDRESS,
    FAMILY_PREFIX,
    INTERFACE,
    IPV4,
    IPV6,
    Schema,
    keyed,
    name512,
    required,
)
from capm3_api.model import Model
from capm3_api.v1beta2.common import ObjectAnnotation, PoolRef

ETHERNET_TYPES = ("bridge", "dvs", "hw_veb", "hyperv", "ovs", "tap", "vhostuser", "vif", "phy")
BOND_MODES = ("balance-rr", "active-backup", "balance-xor", "broadcast", "balance-tlb", "balance-alb", "802.3ad")
HASH_POLICIES = ("layer2", "layer3+4", "layer2+3")

_FROM_POOL = "IPPool in the namespace of the template; the older way to name a pool."


class MacAddress(Model):
    """A MAC address; one of the three says where it comes from."""

    string: Annotated[str, name512("The address itself.")] = ""
    from_host_interface: Annotated[str, name512("Interface of the host in the hardware details.")] = ""
    from_annotation: Annotated[ObjectAnnotation, Schema("Annotation with the address.")] = ObjectAnnotation()


class Link(Model):
    """What every kind of link has."""

    id: Annotated[str, name512("Name by which networks and other links refer to this one.", required=True)] = ""
    name: Annotated[
        str, Schema("Name of the interface in the system.", pattern=INTERFACE, min_length=1, max_length=15)
    ] = ""
    mtu: Annotated[
        int | None,
        Schema("Largest packet in bytes.", default=1500, minimum=1280, maximum=9000, format="int32"),
    ] = None
    mac_address: Annotated[MacAddress, required("MAC address of the link.")] = MacAddress()


class Ethernet(Link):
    type: Annotated[str, required("Kind of interface.", enum=ETHERNET_TYPES)] = ""


class BondParameter(Model):
    name: Annotated[str, name512("Name of the parameter.", required=True)] = ""
    value: Annotated[Any, Schema("Its value.", type="object", preserve=True)] = None


class Bond(Link):
    bond_mode: Annotated[str, required("How packets are spread.", enum=BOND_MODES)] = ""
    bond_xmit_hash_policy: Annotated[str, Schema("What decides which link is used.", enum=HASH_POLICIES)] = ""
    bond_links: Annotated[
        list[str],
        Schema(
            "Ids of the links in the bond.",
            max_items=512,
            list_type="set",
            items=Schema(min_length=1, max_length=512),
        ),
    ] = []
    parameters: Annotated[
        list[BondParameter], keyed("Further parameters, copied as they are.", "name", required=True)
    ] = []


class Vlan(Link):
    vlan_id: Annotated[
        int | None,
        Field(alias="vlanID"),
        required("Number of the VLAN.", minimum=0, maximum=4096, format="int32"),
    ] = None
    vlan_link: Annotated[str, name512("Id of the link that carries it.", required=True)] = ""


class Links(Model):
    ethernets: Annotated[list[Ethernet], keyed("Network cards.", "id", max_items=32)] = []
    bonds: Annotated[list[Bond], keyed("Bonds of several links.", "id")] = []
    vlans: Annotated[list[Vlan], keyed("VLANs on a link.", "vlanID")] = []


class Gateway(Model):
    """A gateway; one of the four says where it comes from."""

    string: Annotated[str | None, Schema("The address itself.", pattern=FAMILY_ADDRESS)] = None
    from_ip_pool: Annotated[str, Field(alias="fromIPPool"), name512(_FROM_POOL)] = ""
    from_pool_ref: Annotated[PoolRef, Schema("Pool whose gateway is meant.")] = PoolRef()
    from_pool_annotation: Annotated[ObjectAnnotation, Schema("Annotation with the name of the IPPool.")] = (
        ObjectAnnotation()
    )


class Services(Model):
    """DNS servers; `SCHEMA` of the field says of which family."""

    dns: Annotated[
        list[str],
        Schema(
            "Addresses of DNS servers.",
            min_items=1,
            max_items=512,
            list_type="set",
            items=Schema(pattern=FAMILY_ADDRESS),
        ),
    ] = []
    dns_from_ip_pool: Annotated[str, Field(alias="dnsFromIPPool"), name512("IPPool whose DNS servers are meant.")] = ""


class Route(Model):
    network: Annotated[str, required("Address of the network.", pattern=FAMILY_ADDRESS)] = ""
    prefix: Annotated[
        int | None, Schema("Prefix length of the network.", minimum=0, maximum=FAMILY_PREFIX, format="int32")
    ] = None
    gateway: Annotated[Gateway, required("Where packets to it are sent.")] = Gateway()
    services: Annotated[Services | None, Schema("Services of the route.")] = None


class NetworkDHCP(Model):
    """A network whose address the system finds on its own (DHCP or SLAAC)."""

    id: Annotated[str, name512("Name of the network.", required=True)] = ""
    link: Annotated[str, name512("Id of the link it is on.", required=True)] = ""
    routes: Annotated[list[Route], keyed("Routes through it.", "network")] = []


class Network(NetworkDHCP):
    """A network with an address from a pool."""

    ip_address_from_ip_pool: Annotated[str, Field(alias="ipAddressFromIPPool"), name512(_FROM_POOL)] = ""
    from_pool_ref: Annotated[PoolRef, Schema("Pool that the address is taken from.")] = PoolRef()
    from_pool_annotation: Annotated[ObjectAnnotation, Schema("Annotation with the name of the IPPool.")] = (
        ObjectAnnotation()
    )


class Networks(Model):
    ipv4: Annotated[list[Network], keyed("IPv4 networks with addresses from pools.", "id", bind=IPV4)] = []
    ipv6: Annotated[list[Network], keyed("IPv6 networks with addresses from pools.", "id", bind=IPV6)] = []
    ipv4_dhcp: Annotated[
        list[NetworkDHCP], Field(alias="ipv4DHCP"), keyed("IPv4 networks with DHCP.", "id", bind=IPV4)
    ] = []
    ipv6_dhcp: Annotated[
        list[NetworkDHCP], Field(alias="ipv6DHCP"), keyed("IPv6 networks with DHCP.", "id", bind=IPV6)
    ] = []
    ipv6_slaac: Annotated[
        list[NetworkDHCP], Field(alias="ipv6SLAAC"), keyed("IPv6 networks with SLAAC.", "id", bind=IPV6)
    ] = []


class NetworkData(Model):
    links: Annotated[Links | None, Schema("Links of the host.")] = None
    networks: Annotated[Networks | None, Schema("Networks on the links.")] = None
    services: Annotated[Services | None, Schema("Services of the whole host.", bind={"address": ADDRESS})] = None
