"""What a rendering draws from: the objects around the machine, its index and the addresses it was given.

Apart from the renderers of metadata, links and networks, which all draw from it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from capm3_api.v1beta2.networkdata import MacAddress

from capm3_managers.data import objects, pools, report
from capm3_managers.data.objects import Objects
from capm3_managers.data.pools import Pool, Source

_MAC = re.compile(r"([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2})")


@dataclasses.dataclass(frozen=True)
class Address:
    """An address from a pool.

    Args:
        prefix: length; ``None`` when the pool does not say.
        gateway: ``""`` when there is none.
    """

    address: str
    prefix: int | None
    gateway: str = ""
    dns: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Sources:
    """Args:
    namespace: of the Metal3Data.
    index: of the Metal3Data within its template.
    addresses: one for each pool that `pools.wanted` names.
    """

    namespace: str
    index: int
    around: Objects
    addresses: Mapping[Pool, Address]


def address(sources: Sources, source: Source, missing: str = "pool not found in cache") -> Address:
    """The address that a place of the template means.

    Raises:
        report.Unrenderable: there is none; or the place names no pool.
    """
    pool = pools.resolve(source, sources.around)
    found = sources.addresses.get(pool)
    if found is None:
        raise report.refuse(report.ADDRESS_NOT_ALLOCATED, missing, f"there is no address of pool {pool.name}")
    return found


def mac(sources: Sources, source: MacAddress, link: str) -> str:
    """A MAC address as it is written in its source.

    Args:
        link: the link it is for.

    Raises:
        report.Unrenderable: the source is missing, or holds no MAC address.
    """
    ref = source.from_annotation
    if source.string:
        found, where = source.string, "string"
    elif source.from_host_interface:
        found = objects.interface_mac(sources.around, source.from_host_interface)
        where = f"interface {source.from_host_interface}"
    elif ref.annotation:
        found = objects.annotation(sources.around, ref.object, ref.annotation)
        where = f"annotation {ref.annotation} of {ref.object} {objects.name(sources.around, ref.object)}"
    else:
        found, where = "", "nothing: set one of string, fromHostInterface, fromAnnotation"
    if not _MAC.fullmatch(found):
        text = f"link {link}: the MAC address comes from {where}, which holds {found!r}"
        raise report.refuse(report.MAC_ADDRESS_INVALID, f"bad MAC address: {found}", text)
    return found
