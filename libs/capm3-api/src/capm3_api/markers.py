"""What the CRD schema says about one field, as metadata beside its type: `Annotated[str, Schema("...", max_length=9)]`.

Apart from the models, because reading an object never applies these rules (an object stored before a rule existed must
stay readable); `capm3_api.crdgen` turns them into OpenAPI and the validators read them from there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

UNSET: Any = object()
"""Says that a field has no default, since ``None``, ``0`` and ``False`` can be one."""


@dataclasses.dataclass(frozen=True)
class Param:
    """A rule that depends on where the type is used; `Schema.bind` of an outer field gives its value.

    So one definition serves IPv4 and IPv6: the pattern of an address and the longest prefix are parameters.
    """

    name: str


@dataclasses.dataclass(frozen=True)
class Schema:
    """Constraints of one field, or of a whole type when held as ``SCHEMA`` by the class.

    Args:
        doc: description for the CRD, one or two sentences.
        required: the parent object must have the field.
        default: what the API server fills in.
        items: rules of list items or of map values.
        list_keys: makes a list of type ``map`` with these keys.
        preserve: unknown content is kept by the API server.
        type: OpenAPI type where it is not that of the Python type.
        keep_empty: an empty value is not the same as an absent one, although the Python type has an empty default.
        bind: values of the parameters used further in.
    """

    doc: str = ""
    required: bool | Param = False
    default: Any = UNSET
    enum: tuple[Any, ...] = ()
    pattern: str | Param = ""
    format: str = ""
    min_length: int | None = None
    max_length: int | None = None
    minimum: int | None = None
    maximum: int | Param | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    nullable: bool = False
    items: Schema | None = None
    list_type: str = ""
    list_keys: tuple[str, ...] = ()
    map_type: str = ""
    preserve: bool = False
    type: str = ""
    keep_empty: bool = False
    bind: Mapping[str, Any] | None = None


def required(doc: str, **rules: Any) -> Schema:
    """A field that must be there."""
    return Schema(doc, required=True, **rules)


def name512(doc: str, **rules: Any) -> Schema:
    """The commonest text of the v1beta2 types: 1 to 512 characters."""
    return Schema(doc, **{"min_length": 1, "max_length": 512, **rules})


def keyed(doc: str, *keys: str, **rules: Any) -> Schema:
    """A list with keys, 1 to 512 items unless told otherwise."""
    return Schema(doc, list_keys=keys, list_type="map", **{"min_items": 1, "max_items": 512, **rules})


REASON = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
CONDITION_TYPE = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
DNS1123 = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
KIND = r"^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$"
INTERFACE = r"^[a-zA-Z][a-zA-Z0-9._-]*$"
MAC_ANYWHERE = r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}"
MAC = f"^{MAC_ANYWHERE}$"

_OCTET = r"([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
_V4 = rf"(({_OCTET}\.){{3}}{_OCTET})"
_HEX = r"[0-9a-fA-F]{1,4}"
_V6 = (
    rf"(({_HEX}:){{7,7}}{_HEX}|({_HEX}:){{1,7}}:|({_HEX}:){{1,6}}:{_HEX}|({_HEX}:){{1,5}}(:{_HEX}){{1,2}}"
    rf"|({_HEX}:){{1,4}}(:{_HEX}){{1,3}}|({_HEX}:){{1,3}}(:{_HEX}){{1,4}}|({_HEX}:){{1,2}}(:{_HEX}){{1,5}}"
    rf"|{_HEX}:((:{_HEX}){{1,6}})|:((:{_HEX}){{1,7}}|:))"
)
ADDRESS_V4 = f"^{_V4}$"
ADDRESS_V6 = f"^{_V6}$"
ADDRESS = f"(({ADDRESS_V4})|({ADDRESS_V6}))"
SUBNET = rf"((^{_V4}/([0-9]|[1-2][0-9]|3[0-2])$)|(^{_V6}/([0-9]|[0-9][0-9]|1[0-1][0-9]|12[0-8])$))"

FAMILY_ADDRESS = Param("address")
FAMILY_PREFIX = Param("prefix")
FAMILY_POOL_REQUIRED = Param("pool_required")
IPV4 = {"address": ADDRESS_V4, "prefix": 32, "pool_required": False}
IPV6 = {"address": ADDRESS_V6, "prefix": 128, "pool_required": True}
