"""``spec.metaData`` of a Metal3DataTemplate v1beta2: the keys of the metadata and where their values come from.

Apart from the network data, because the two are rendered into two documents that have nothing in common.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from capm3_api.markers import Schema, keyed, name512, required
from capm3_api.model import Model
from capm3_api.v1beta2.common import OBJECTS


class Keyed(Model):
    """What every entry has: the key of the metadata that it fills."""

    key: Annotated[str, name512("Key in the metadata.", required=True)] = ""


class FromString(Keyed):
    value: Annotated[str, name512("The value itself.", required=True)] = ""


class FromObjectName(Keyed):
    object: Annotated[str, required("Object whose name is the value.", enum=OBJECTS)] = ""


class FromNamespace(Keyed):
    """The namespace of the Metal3Data."""


class FromIndex(Keyed):
    """A number made from the index of the Metal3Data: offset + index * step."""

    offset: Annotated[int | None, Schema("Added to the number.", minimum=0, format="int32")] = None
    step: Annotated[int | None, Schema("Times the index.", default=1, minimum=1, format="int32")] = None
    prefix: Annotated[str, name512("Text before the number.")] = ""
    suffix: Annotated[str, name512("Text after the number.")] = ""


class FromPool(Keyed):
    """A value of the address that is taken from a pool."""

    name: Annotated[str, name512("Name of the pool.", required=True)] = ""
    api_group: Annotated[str, name512("API group of the pool.", default="ipam.metal3.io")] = ""
    kind: Annotated[str, name512("Kind of the pool.", default="IPPool")] = ""


class FromHostInterface(Keyed):
    """The MAC address of an interface of the host."""

    interface: Annotated[str, name512("Name of the interface in the hardware details.")] = ""
    from_boot_mac: Annotated[
        bool | None, Field(alias="fromBootMAC"), Schema("Take spec.bootMACAddress of the host instead.")
    ] = None


class FromLabel(Keyed):
    object: Annotated[str, required("Object with the label.", enum=OBJECTS)] = ""
    label: Annotated[str, name512("Key of the label.", required=True)] = ""


class FromAnnotation(Keyed):
    object: Annotated[str, required("Object with the annotation.", enum=OBJECTS)] = ""
    annotation: Annotated[str, name512("Key of the annotation.", required=True)] = ""


class MetaData(Model):
    """Keys of the metadata, by the source of their values."""

    strings: Annotated[list[FromString], keyed("Fixed texts.", "key")] = []
    object_names: Annotated[list[FromObjectName], keyed("Names of objects.", "key")] = []
    namespaces: Annotated[list[FromNamespace], keyed("The namespace.", "key")] = []
    indexes: Annotated[list[FromIndex], keyed("Numbers made from the index.", "key")] = []
    ip_addresses_from_pool: Annotated[list[FromPool], keyed("Addresses from pools.", "key")] = []
    prefixes_from_pool: Annotated[list[FromPool], keyed("Prefix lengths from pools.", "key")] = []
    gateways_from_pool: Annotated[list[FromPool], keyed("Gateways from pools.", "key")] = []
    dns_servers_from_pool: Annotated[list[FromPool], keyed("DNS servers from pools.", "key")] = []
    from_host_interfaces: Annotated[list[FromHostInterface], keyed("MAC addresses of the host.", "key")] = []
    from_labels: Annotated[list[FromLabel], keyed("Values of labels.", "key")] = []
    from_annotations: Annotated[list[FromAnnotation], keyed("Values of annotations.", "key")] = []
