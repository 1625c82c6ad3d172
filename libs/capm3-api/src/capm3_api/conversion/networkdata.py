"""``spec.networkData`` of a Metal3DataTemplate between the versions (behaviour facts on CAPM3, section 2.7).

Apart from the metadata, with which it shares no shape. One table serves IPv4 and IPv6. Go also writes empty values into
the entries of v1beta1 lists; here they are left out: appliers replace such lists as a whole, so an entry that is not
read as it was written would be applied again for ever.
"""

from __future__ import annotations

import copy
from typing import Any

from capm3_api.conversion.machinery import (
    OMIT,
    ConversionError,
    Field,
    Shape,
    copied,
    expect,
    nested,
    part,
    parts,
    pointer,
    required,
    same,
    struct,
    written,
)
from capm3_api.model import Raw

ANNOTATION = Shape((same("object"), same("annotation")))
POOL = Shape((same("name"), same("kind"), same("apiGroup")))


def _pool_up(value: Any) -> Any:
    """Without name and kind it names nothing; the API server may still have put in a default group."""
    if value is OMIT:
        return OMIT
    result = POOL.convert(value, "up")
    return result if result.keys() - {"apiGroup"} else OMIT


def _pool_down(value: Any) -> Any:
    return OMIT if value is OMIT else {"kind": "", "name": "", **POOL.convert(value, "down")}


POOL_REF = Field("fromPoolRef", "fromPoolRef", _pool_up, _pool_down)


def _section(name: str, shape: Shape, *, in_list: bool = False) -> Field:
    """Rules of links, networks and services: in v1beta2 absent when v1beta1 has nothing in it at all.

    An empty list or text in it counts as something, as in Go.
    """

    def up(value: Any) -> Any:
        if value is OMIT or all(item is None for item in expect(value, dict).values()):
            return OMIT
        return shape.convert(value, "up")

    return Field(name, name, up, pointer(shape, "down") if in_list else written(shape, "down"))


MAC = Shape((same("string"), same("fromHostInterface"), part("fromAnnotation", ANNOTATION, struct)))
LINK = (copied("id"), same("name"), same("mtu", int), part("macAddress", MAC, written))


def _parameters_up(value: Any) -> Any:
    if value is OMIT or not expect(value, dict):
        return OMIT
    return [{"name": name, "value": copy.deepcopy(value[name])} for name in sorted(value)]


def _parameters_down(value: Any) -> Any:
    if value is OMIT or not expect(value, list):
        return OMIT
    result: Raw = {}
    for position, item in enumerate(value):
        try:
            entry = expect(item, dict)
        except ConversionError as error:
            raise error.inside(f"[{position}]") from None
        result[str(entry.get("name") or "")] = copy.deepcopy(entry.get("value"))
    return result


# Go writes bondXmitHashPolicy as "" into v1beta1, where its enum does not allow it; here it is left out.
BOND = Shape(
    (
        *LINK,
        copied("bondMode"),
        same("bondXmitHashPolicy"),
        same("bondLinks", list),
        Field("parameters", "parameters", _parameters_up, _parameters_down),
    )
)
LINKS = Shape(
    (
        parts("ethernets", Shape((*LINK, copied("type")))),
        parts("bonds", BOND),
        parts("vlans", Shape((*LINK, required("vlanID", 0), copied("vlanLink")))),
    )
)

SERVICES = Shape((same("dns", list), same("dnsFromIPPool")))
GATEWAY = Shape((copied("string"), same("fromIPPool"), POOL_REF, part("fromPoolAnnotation", ANNOTATION, struct)))
ROUTE = Shape(
    (
        copied("network"),
        copied("prefix", int),
        nested("gateway", GATEWAY),
        _section("services", SERVICES, in_list=True),
    )
)
ON_LINK = (copied("id"), copied("link"), parts("routes", ROUTE))
DHCP = Shape(ON_LINK)
FROM_POOL = (POOL_REF, part("fromPoolAnnotation", ANNOTATION, struct))
NETWORKS = Shape(
    (
        parts("ipv4", Shape((*ON_LINK, *FROM_POOL, same("ipAddressFromIPPool")))),
        parts("ipv6", Shape((*ON_LINK, *FROM_POOL, same("ipAddressFromIPPool")))),
        parts("ipv4DHCP", DHCP),
        parts("ipv6DHCP", DHCP),
        parts("ipv6SLAAC", DHCP),
    )
)
NETWORK_DATA = Shape(
    (
        _section("links", LINKS),
        _section("networks", NETWORKS),
        _section("services", SERVICES),
    )
)
