"""Metal3DataTemplate between the versions: metadata and status (behaviour facts on CAPM3, section 2.7).

Apart from the network data, which is the larger half and stands in `networkdata`.
"""

from __future__ import annotations

from typing import Any

from capm3_api.conversion.machinery import (
    OMIT,
    ConversionError,
    Field,
    Shape,
    always,
    copied,
    expect,
    forced,
    nested,
    non_zero,
    part,
    parts,
    pointer,
    same,
    written,
)
from capm3_api.conversion.networkdata import NETWORK_DATA
from capm3_api.model import Raw

FROM_POOL = Shape((copied("key"), copied("name"), forced("apiGroup", ""), forced("kind", "")))


def _entries(*names: str) -> Shape:
    return Shape(tuple(copied(name) for name in ("key", *names)))


METADATA = Shape(
    (
        parts("strings", _entries("value")),
        parts("objectNames", _entries("object")),
        parts("namespaces", _entries()),
        parts(
            "indexes",
            Shape((copied("key"), copied("offset", int), same("step", int), same("prefix"), same("suffix"))),
        ),
        parts("ipAddressesFromIPPool", FROM_POOL, new="ipAddressesFromPool"),
        parts("prefixesFromIPPool", FROM_POOL, new="prefixesFromPool"),
        parts("gatewaysFromIPPool", FROM_POOL, new="gatewaysFromPool"),
        parts("dnsServersFromIPPool", FROM_POOL, new="dnsServersFromPool"),
        parts(
            "fromHostInterfaces",
            Shape(
                (
                    copied("key"),
                    same("interface"),
                    Field("fromBootMAC", "fromBootMAC", always(False), non_zero(bool)),
                )
            ),
        ),
        parts("fromLabels", _entries("object", "label")),
        parts("fromAnnotations", _entries("object", "annotation")),
    )
)


def _indexes_up(value: Any) -> Any:
    if value is OMIT or not expect(value, dict):
        return OMIT
    found = [{"name": name, "index": _index(name, index)} for name, index in value.items()]
    return sorted(found, key=lambda item: (item["index"], item["name"]))


def _indexes_down(value: Any) -> Any:
    if value is OMIT or not expect(value, list):
        return OMIT
    result: Raw = {}
    for position, item in enumerate(value):
        entry = item if isinstance(item, dict) else {}
        result[str(entry.get("name") or "")] = _index(f"[{position}].index", entry.get("index"))
    return result


def _index(where: str, value: Any) -> int:
    try:
        return int(expect(value, int))
    except ConversionError as error:
        raise error.inside(where) from None


DATA_TEMPLATE = Shape(
    (
        nested(
            "spec",
            Shape(
                (
                    forced("clusterName", ""),
                    part("metaData", METADATA, pointer),
                    part("networkData", NETWORK_DATA, pointer),
                ),
                old_only=("templateReference",),
            ),
        ),
        part(
            "status",
            Shape((same("lastUpdated"), Field("indexes", "indexes", _indexes_up, _indexes_down))),
            written,
        ),
    )
)
