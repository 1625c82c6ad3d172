"""The metadata document: a flat map of texts, filled source by source in a fixed order.

Apart from the network data, with which it shares only the sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from capm3_api import meta
from capm3_api.v1beta2.templatemetadata import FromHostInterface, FromIndex, FromPool, MetaData

from capm3_managers.data import objects, pools, report
from capm3_managers.data.render import sources as sourcing
from capm3_managers.data.render.sources import Address, Sources

PROVIDER_ID = "providerid"
"""Key of ``<namespace>/<host>/<Metal3Machine>``; always there, and a user can't set it."""


def render(data: MetaData, sources: Sources) -> dict[str, str]:
    """Key -> value; where two sources fill one key the later list wins (behaviour facts on CAPM3, 5.4.3).

    Raises:
        report.Unrenderable: a value can't be had.
    """
    result = dict(_pairs(data, sources))
    machine = meta.key_of(sources.around.metal3machine)
    host = meta.key_of(sources.around.host).name
    result[PROVIDER_ID] = f"{machine.namespace}/{host}/{machine.name}"
    return result


def _pairs(data: MetaData, sources: Sources) -> Iterator[tuple[str, str]]:
    around = sources.around
    yield from ((item.key, _mac(item, sources)) for item in data.from_host_interfaces)
    yield from ((item.key, _from(item, sources).address) for item in data.ip_addresses_from_pool)
    yield from ((item.key, _prefix(item, sources)) for item in data.prefixes_from_pool)
    yield from ((item.key, _from(item, sources).gateway) for item in data.gateways_from_pool)
    yield from ((item.key, ",".join(_from(item, sources).dns)) for item in data.dns_servers_from_pool)
    yield from ((item.key, numbered(item, sources.index)) for item in data.indexes)
    yield from ((item.key, sources.namespace) for item in data.namespaces)
    yield from ((item.key, objects.name(around, item.object)) for item in data.object_names)
    yield from ((item.key, objects.label(around, item.object, item.label)) for item in data.from_labels)
    yield from ((item.key, objects.annotation(around, item.object, item.annotation)) for item in data.from_annotations)
    yield from ((item.key, item.value) for item in data.strings)


def numbered(item: FromIndex, index: int) -> str:
    """``prefix`` + (offset + index * step) + ``suffix``; the number wraps at 32 bits, as in the Go program."""
    number = (item.offset or 0) + index * (item.step or 1)
    wrapped = (number + 2**31) % 2**32 - 2**31
    return f"{item.prefix}{wrapped}{item.suffix}"


def _mac(item: FromHostInterface, sources: Sources) -> str:
    if item.from_boot_mac:
        return objects.boot_mac(sources.around, item.key)
    return objects.interface_mac(sources.around, item.interface)


def _from(item: FromPool, sources: Sources) -> Address:
    return sourcing.address(sources, pools.of_metadata(item))


def _prefix(item: FromPool, sources: Sources) -> str:
    prefix: Any = _from(item, sources).prefix
    if prefix is None:
        text = f"metadata key {item.key!r}: the address of pool {item.name} has no prefix"
        raise report.refuse(report.ADDRESS_NOT_ALLOCATED, text)
    return str(prefix)
