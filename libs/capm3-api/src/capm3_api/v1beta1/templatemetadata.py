"""``spec.metaData`` of a Metal3DataTemplate v1beta1.

Apart from the network data, because the two are rendered into two documents that have nothing in common.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from capm3_api.markers import Schema, required
from capm3_api.model import Model
from capm3_api.v1beta2.common import OBJECTS


class Keyed(Model):
    """What every entry has: the key of the metadata that it fills."""

    key: Annotated[str, required("Key in the metadata.")] = ""


class FromString(Keyed):
    value: Annotated[str, required("The value itself.")] = ""


class FromObjectName(Keyed):
    object: Annotated[str, required("Object whose name is the value.", enum=OBJECTS)] = ""


class FromNamespace(Keyed):
    """The namespace of the Metal3Data."""


class FromIndex(Keyed):
    """A number made from the index of the Metal3Data: offset + index * step."""

    offset: Annotated[int, Schema("Added to the number.")] = 0
    step: Annotated[int, Schema("Times the index.", default=1)] = 0
    prefix: Annotated[str, Schema("Text before the number.")] = ""
    suffix: Annotated[str, Schema("Text after the number.")] = ""


class FromPool(Keyed):
    """A value of the address that is taken from a pool. Group and kind are optional, unlike in the Go schema."""

    name: Annotated[str, required("Name of the pool.")] = ""
    api_group: Annotated[str, Schema("API group of the pool.", default="ipam.metal3.io")] = ""
    kind: Annotated[str, Schema("Kind of the pool.", default="IPPool")] = ""


class FromHostInterface(Keyed):
    """The MAC address of an interface of the host."""

    interface: Annotated[str, Schema("Name of the interface in the hardware details.")] = ""
    from_boot_mac: Annotated[
        bool, Field(alias="fromBootMAC"), Schema("Take spec.bootMACAddress of the host instead.")
    ] = False


class FromLabel(Keyed):
    object: Annotated[str, required("Object with the label.", enum=OBJECTS)] = ""
    label: Annotated[str, required("Key of the label.")] = ""


class FromAnnotation(Keyed):
    object: Annotated[str, required("Object with the annotation.", enum=OBJECTS)] = ""
    annotation: Annotated[str, required("Key of the annotation.")] = ""


class MetaData(Model):
    """Keys of the metadata, by the source of their values."""

    strings: Annotated[list[FromString], Schema("Fixed texts.")] = []
    object_names: Annotated[list[FromObjectName], Schema("Names of objects.")] = []
    namespaces: Annotated[list[FromNamespace], Schema("The namespace.")] = []
    indexes: Annotated[list[FromIndex], Schema("Numbers made from the index.")] = []
    ip_addresses_from_ip_pool: Annotated[
        list[FromPool], Field(alias="ipAddressesFromIPPool"), Schema("Addresses from pools.")
    ] = []
    prefixes_from_ip_pool: Annotated[
        list[FromPool], Field(alias="prefixesFromIPPool"), Schema("Prefix lengths from pools.")
    ] = []
    gateways_from_ip_pool: Annotated[
        list[FromPool], Field(alias="gatewaysFromIPPool"), Schema("Gateways from pools.")
    ] = []
    dns_servers_from_ip_pool: Annotated[
        list[FromPool], Field(alias="dnsServersFromIPPool"), Schema("DNS servers from pools.")
    ] = []
    from_host_interfaces: Annotated[list[FromHostInterface], Schema("MAC addresses of the host.")] = []
    from_labels: Annotated[list[FromLabel], Schema("Values of labels.")] = []
    from_annotations: Annotated[list[FromAnnotation], Schema("Values of annotations.")] = []
