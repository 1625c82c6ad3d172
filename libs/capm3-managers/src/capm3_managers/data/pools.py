"""Which pools a template takes addresses from: one walk over it, shared by claiming, rendering and releasing.

The Go program has three such walks that disagree: some gateways are claimed but never rendered or the reverse, and pools
named by annotations are never released (behaviour facts on CAPM3, section 10, item 39). Here a place of the template has
exactly one source, found by one function, whoever asks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from capm3_api import kinds
from capm3_api.v1beta2.common import ObjectAnnotation, PoolRef
from capm3_api.v1beta2.metal3datatemplate import Metal3DataTemplateSpec
from capm3_api.v1beta2.networkdata import Gateway, Network, NetworkDHCP, Networks, Services
from capm3_api.v1beta2.templatemetadata import FromPool, MetaData

from capm3_managers import objectnames
from capm3_managers.data import objects, report
from capm3_managers.data.objects import Objects


@dataclasses.dataclass(frozen=True, order=True)
class Pool:
    """A pool of addresses in the namespace of the Metal3Data."""

    name: str
    group: str = kinds.METAL3_IPAM
    kind: str = kinds.IP_POOL.kind

    @property
    def is_metal3(self) -> bool:
        """Whether it answers IPClaims; all others answer Cluster API's IPAddressClaims."""
        return (self.group, self.kind) == (kinds.METAL3_IPAM, kinds.IP_POOL.kind)


@dataclasses.dataclass(frozen=True)
class Source:
    """Where the name of a pool comes from: one of the two is set."""

    pool: Pool | None = None
    annotation: ObjectAnnotation | None = None


def of_metadata(item: FromPool) -> Source:
    """The pool of an entry of a ``...FromPool`` list."""
    return Source(Pool(item.name, item.api_group or kinds.METAL3_IPAM, item.kind or kinds.IP_POOL.kind))


def of_network(network: Network) -> Source | None:
    """The pool of an address: ``fromPoolAnnotation``, then ``fromPoolRef``, then ``ipAddressFromIPPool``."""
    return _first(network.from_pool_annotation, network.from_pool_ref, network.ip_address_from_ip_pool)


def of_gateway(gateway: Gateway) -> Source | None:
    """The pool of a gateway: none when it is given as ``string``; else as for an address, lastly ``fromIPPool``."""
    if gateway.string:
        return None
    return _first(gateway.from_pool_annotation, gateway.from_pool_ref, gateway.from_ip_pool)


def of_services(services: Services | None) -> Source | None:
    """The pool of DNS servers."""
    return Source(Pool(services.dns_from_ip_pool)) if services is not None and services.dns_from_ip_pool else None


def walk(spec: Metal3DataTemplateSpec) -> Iterator[Source]:
    """Every source of the template, in the order of rendering; the same pool may come more than once."""
    yield from (source for source in _places(spec) if source is not None)


def resolve(source: Source, around: Objects) -> Pool:
    """The pool of a source.

    Raises:
        report.Unrenderable: the annotation is missing or empty, or the name can't be that of an object.
    """
    if source.pool is not None:
        pool = source.pool
    else:
        ref = source.annotation or ObjectAnnotation()
        name = objects.annotation(around, ref.object, ref.annotation)
        if not name:
            text = f"annotation {ref.annotation} not found or empty on {ref.object}"
            raise report.refuse(report.ANNOTATION_NOT_FOUND, text, f"{text} {objects.name(around, ref.object)}")
        pool = Pool(name)
    if not objectnames.is_valid(pool.name):
        raise report.refuse(report.POOL_NAME_INVALID, f"pool name {pool.name[:80]!r} is not the name of an object")
    return pool


def wanted(spec: Metal3DataTemplateSpec, around: Objects) -> tuple[Pool, ...]:
    """The pools that one machine needs an address of, each once, in the order of first use.

    Raises:
        report.Unrenderable: as `resolve`; or two pools share a name, so that their claims would too.
    """
    found: Mapping[Pool, None] = dict.fromkeys(resolve(source, around) for source in walk(spec))
    by_name: dict[str, Pool] = {}
    for pool in found:
        if by_name.setdefault(pool.name, pool) != pool:
            text = "multiple references with the same name but different resource types"
            raise report.refuse(report.POOL_REFERENCES_CONFLICT, text, f"{text}: {_both(pool, by_name[pool.name])}")
    return tuple(found)


def _both(one: Pool, other: Pool) -> str:
    return f"{one.name} is a {one.kind}.{one.group} in one place and a {other.kind}.{other.group} in another"


def _first(annotation: ObjectAnnotation, ref: PoolRef, name: str) -> Source | None:
    if annotation.annotation:
        return Source(annotation=annotation)
    if ref.name:
        return Source(Pool(ref.name, ref.api_group or kinds.METAL3_IPAM, ref.kind or kinds.IP_POOL.kind))
    return Source(Pool(name)) if name else None


def _places(spec: Metal3DataTemplateSpec) -> Iterator[Source | None]:
    if spec.meta_data is not None:
        yield from (of_metadata(item) for item in _metadata_items(spec.meta_data))
    data = spec.network_data
    if data is None:
        return
    networks = data.networks or Networks()
    for network in (*networks.ipv4, *networks.ipv6):
        yield of_network(network)
        yield from _routes(network)
    for dynamic in (*networks.ipv4_dhcp, *networks.ipv6_dhcp, *networks.ipv6_slaac):
        yield from _routes(dynamic)
    yield of_services(data.services)


def _metadata_items(data: MetaData) -> Iterable[FromPool]:
    yield from data.ip_addresses_from_pool
    yield from data.prefixes_from_pool
    yield from data.gateways_from_pool
    yield from data.dns_servers_from_pool


def _routes(network: NetworkDHCP) -> Iterator[Source | None]:
    for route in network.routes:
        yield of_gateway(route.gateway)
        yield of_services(route.services)


def names(found: Iterable[Any]) -> str:
    """Pools as people read them."""
    return ", ".join(sorted(pool.name for pool in found))
