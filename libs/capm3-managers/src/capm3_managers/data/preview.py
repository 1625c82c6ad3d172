"""Renders a template for given objects, without a cluster: what a machine on a certain host would get.

Apart from the manager, which waits and writes: this is for ``capm3 render``, for checking a template against all hosts
before it is used (report B26), and for tests.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from capm3_api import kinds, meta
from capm3_api.model import Raw
from capm3_api.v1beta2.metal3datatemplate import Metal3DataTemplate

from capm3_managers.data import objects, pools, report, secrets
from capm3_managers.data.objects import Objects
from capm3_managers.data.pools import Pool
from capm3_managers.data.render.sources import Address, Sources
from capm3_managers.data.report import Report
from capm3_managers.ippool import allocate, ranges


@dataclasses.dataclass(frozen=True)
class Preview:
    """Args:
    texts: ``metaData`` and ``networkData`` -> the document, for the parts that the template has and that worked.
    pools: the pools that addresses are wanted from.
    error: what ``status.errorMessage`` of the Metal3Data would say; ``""`` when everything worked.
    report: the details of the error.
    """

    texts: Mapping[str, str]
    pools: tuple[Pool, ...] = ()
    error: str = ""
    report: Report | None = None


def render(template: Raw, host: Raw, *, machine: str, index: int = 0, addresses: Mapping[str, Address]) -> Preview:
    """What a machine would get.

    Args:
        template: a v1beta2 Metal3DataTemplate.
        host: a BareMetalHost.
        machine: name of both Machine and Metal3Machine; both are taken to be without labels and annotations.
        addresses: pool name -> an address of it; `sample` makes one up from an IPPool.
    """
    namespace = meta.key_of(template).namespace
    stand_in = kinds.MACHINE.new(namespace, machine)
    around = Objects(stand_in, kinds.METAL3_MACHINE.new(namespace, machine), host)
    return of(template, around, index=index, addresses=addresses)


def of(template: Raw, around: Objects, *, index: int = 0, addresses: Mapping[str, Address]) -> Preview:
    """The same with the real Machine and Metal3Machine."""
    typed = Metal3DataTemplate.from_raw(template)
    texts: dict[str, str] = {}
    wanted: tuple[Pool, ...] = ()
    try:
        wanted = pools.wanted(typed.spec, around)
        given = {pool: addresses[pool.name] for pool in wanted if pool.name in addresses}
        sources = Sources(meta.key_of(template).namespace, index, around, given)
        for part in secrets.wanted(template):
            texts[part.field] = secrets.text(part, typed.spec, sources)
    except report.Unrenderable as reason:
        return Preview(texts, wanted, reason.error, reason.report)
    return Preview(texts, wanted)


def sample(pool: Raw, index: int = 0) -> Address | None:
    """The address at a place of an IPPool that nothing was taken from yet; ``None`` when it has none there.

    Args:
        index: counted over all ranges; an address that the pool reserves is passed over for the next one.
    """
    reserved = set(allocate.reservations(pool).values())
    for item in ranges.of(pool).usable:
        for place in range(index, min(item.size, index + len(reserved) + 1)):
            address = item.at(place)
            if address not in reserved:
                return Address(str(address), item.prefix, item.gateway, item.dns)
        index = max(0, index - item.size)
    return None


def check(template: Raw, host: Raw) -> list[str]:
    """Every interface that the template asks for and the host does not have; empty when it fits."""
    around = Objects({}, {}, host)
    problems: list[str] = []
    for interface in dict.fromkeys(_interfaces(template)):
        try:
            objects.interface_mac(around, interface)
        except report.Unrenderable as reason:
            problems.append(reason.report.message)
    return list(dict.fromkeys(problems))


def _interfaces(template: Raw) -> list[str]:
    """The names of host interfaces anywhere in the template."""
    spec = Metal3DataTemplate.from_raw(template).spec
    found = [item.interface for item in (spec.meta_data.from_host_interfaces if spec.meta_data else [])]
    links: Any = spec.network_data.links if spec.network_data else None
    if links is not None:
        found += [link.mac_address.from_host_interface for link in (*links.bonds, *links.ethernets, *links.vlans)]
    return [name for name in found if name]
