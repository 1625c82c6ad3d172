"""Shapes that several kinds share: references, failure domains, the status of clusters and machines.

Apart from the kinds, so that each rule is written once (behaviour facts on CAPM3, sections 2.3 to 2.8).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from capm3_api.conversion.machinery import (
    OMIT,
    ConversionError,
    Field,
    Rule,
    Shape,
    copied,
    expect,
    same,
    written,
)
from capm3_api.model import Raw

_LONG = ("apiVersion", "fieldPath", "kind", "resourceVersion", "uid")

REFERENCE = Shape((same("name"), same("namespace")), old_only=_LONG)
"""An object reference: v1beta2 keeps name and namespace only."""

SECRET = Shape((same("name"), same("namespace")))


def reference(name: str) -> Field:
    """A reference that v1beta1 always writes and v1beta2 leaves out when it names nothing."""

    def up(value: Any) -> Any:
        return OMIT if value is OMIT else REFERENCE.convert(value, "up") or OMIT

    return Field(name, name, up, written(REFERENCE, "down"))


def map_to_list(shape: Shape) -> Rule:
    """A map in v1beta1 becomes a list, sorted by name."""

    def up(value: Any) -> Any:
        if value is OMIT or not expect(value, dict):
            return OMIT
        result = []
        for name in sorted(value):
            try:
                result.append({"name": name, **shape.convert(value[name] or {}, "up")})
            except ConversionError as error:
                raise error.inside(name) from None
        return result

    return up


def list_to_map(shape: Shape) -> Rule:
    """A list in v1beta2 becomes a map by name."""

    def down(value: Any) -> Any:
        if value is OMIT or not expect(value, list):
            return OMIT
        result: Raw = {}
        for index, item in enumerate(value):
            try:
                rest = dict(expect(item, dict))
                name = expect(rest.pop("name", None) or "", str)
                result[name] = shape.convert(rest, "down")
            except ConversionError as error:
                raise error.inside(f"[{index}]") from None
        return result

    return down


FAILURE_DOMAIN = Shape((copied("controlPlane", bool), same("attributes", dict)))
FAILURE_DOMAINS = Field(
    "failureDomains",
    "failureDomains",
    map_to_list(FAILURE_DOMAIN),
    list_to_map(FAILURE_DOMAIN),
)

LEGACY = ("conditions", "failureReason", "failureMessage")
"""What v1beta2 keeps under ``status.deprecated.v1beta1``."""


def status(fields: tuple[Field, ...], *, phase: bool = False) -> Shape:
    """The status of a cluster or machine: readiness, conditions in both forms, terminal failures.

    Args:
        phase: v1beta1 has a ``phase``; a non-empty one only makes ``deprecated.v1beta1`` appear, as in Go.
    """

    def up(source: Mapping[str, Any], result: Raw) -> None:
        if source.get("ready"):
            result["initialization"] = {"provisioned": True}
        newer = _object(source, "v1beta2")
        if newer.get("conditions"):
            result["conditions"] = _list(newer, "conditions", "v1beta2")
        if any(source.get(name) is not None for name in LEGACY) or (phase and source.get("phase")):
            result["deprecated"] = {"v1beta1": _legacy(source)}

    def down(source: Mapping[str, Any], result: Raw) -> None:
        result["ready"] = bool(_object(source, "initialization").get("provisioned"))
        deprecated = _object(source, "deprecated")
        result.update(_legacy(_object(deprecated, "v1beta1")))
        if source.get("conditions") is not None:
            found = _list(source, "conditions")
            result["v1beta2"] = {"conditions": found} if found else {}

    old = ("ready", "v1beta2", *LEGACY, *(("phase",) if phase else ()))
    new = ("initialization", "deprecated", "conditions")
    return Shape(fields, up, down, old_only=old, new_only=new)


def _legacy(source: Mapping[str, Any]) -> Raw:
    result: Raw = {}
    if source.get("conditions"):
        result["conditions"] = _list(source, "conditions")
    for name in ("failureReason", "failureMessage"):
        if source.get(name) is not None:
            try:
                result[name] = expect(source[name], str)
            except ConversionError as error:
                raise error.inside(name) from None
    return result


def _object(source: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = expect(source.get(name) or {}, dict)
    except ConversionError as error:
        raise error.inside(name) from None
    return found


def _list(source: Mapping[str, Any], name: str, parent: str = "") -> list[Any]:
    try:
        return copy.deepcopy(list(expect(source[name], list)))
    except ConversionError as error:
        raise error.inside(f"{parent}.{name}" if parent else name) from None
