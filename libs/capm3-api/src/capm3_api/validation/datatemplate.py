"""Metal3DataTemplate: what it asks for can be rendered, and it stays as it was made.

Source: behaviour facts on CAPM3 3.6, field reports B15 and B36.
"""

from __future__ import annotations

from capm3_api import defaults
from capm3_api.validation import errors, links
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import Change, at, items, normal, text

CLUSTER_NAME_WARNING = (
    "spec.clusterName is deprecated and will be removed in a future release. It is no longer used by the controllers."
)


def warnings(change: Change) -> list[str]:
    return [CLUSTER_NAME_WARNING] if text(at(change.new, "spec", "clusterName")) else []


def check(change: Change) -> list[FieldError]:
    """The create rules, or on update that ``metaData`` and ``networkData`` stayed."""
    return _unchanged(change) if change.old is not None else _create(change)


def _create(change: Change) -> list[FieldError]:
    found = _interfaces(change)
    for family in ("ipv4", "ipv6"):
        path = f"spec.networkData.networks.{family}"
        for index, network in enumerate(items(at(change.new, "spec", "networkData", "networks", family))):
            named = text(at(network, "fromPoolRef", "name")) or text(network.get("ipAddressFromIPPool"))
            if not named and not text(at(network, "fromPoolAnnotation", "object")):
                detail = "fromPoolRef needs to contain a reference to an IPPool"
                found.append(errors.required(f"{path}[{index}].fromPoolRef.name", detail))
    return found + links.check(at(change.new, "spec", "networkData"), "spec.networkData")


def _interfaces(change: Change) -> list[FieldError]:
    found = []
    for index, item in enumerate(items(at(change.new, "spec", "metaData", "fromHostInterfaces"))):
        path = f"spec.metaData.fromHostInterfaces[{index}].interface"
        interface = text(item.get("interface"))
        if item.get("fromBootMAC") is True and interface:
            found.append(errors.invalid(path, interface, "interface must be empty when fromBootMAC is true"))
        elif item.get("fromBootMAC") is not True and not interface:
            found.append(errors.required(path, "interface must be specified when fromBootMAC is false"))
    return found


def _unchanged(change: Change) -> list[FieldError]:
    old, new = (defaults.schema_defaults(obj or {}) for obj in (change.old, change.new))
    found = []
    for field in ("metaData", "networkData"):
        if normal(at(old, "spec", field)) != normal(at(new, "spec", field)):
            found.append(errors.invalid(f"spec.{field}", at(change.new, "spec", field), "cannot be modified"))
    return found
