"""Objects of Cluster API in v1beta1 as its v1beta2 shows them: the fields that this project reads.

Apart from the views, which know one shape. Pure, and only forwards: nothing of a Cluster or Machine is ever written back.
Source: the conversion of Cluster API between its contracts, as its migration notes describe it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capm3_api import kinds, meta
from capm3_api.model import Raw

OLD, NEW = "v1beta1", "v1beta2"
_GROUPS = (kinds.CAPI, kinds.CAPI_IPAM, kinds.CAPI_CONTROL_PLANE)
_FLAGS: Mapping[str, Mapping[str, str]] = {
    "Cluster": {"infrastructureReady": "infrastructureProvisioned"},
    "Machine": {"bootstrapReady": "bootstrapDataSecretCreated", "infrastructureReady": "infrastructureProvisioned"},
}
_LEGACY = ("conditions", "failureReason", "failureMessage")
_REFERENCES = ("infrastructureRef", "controlPlaneRef", "configRef")


def lift(obj: Raw) -> Raw:
    """The object in v1beta2; anything that is no v1beta1 object of Cluster API is given back as it is."""
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    if version != OLD or group not in _GROUPS:
        return obj
    result = {**obj, "apiVersion": f"{group}/{NEW}"}
    if isinstance(obj.get("spec"), dict):
        result["spec"] = _spec(obj["spec"])
    if isinstance(obj.get("status"), dict):
        result["status"] = _status(str(obj.get("kind")), obj["status"])
    return result


def _spec(value: Any) -> Any:
    """References name a group instead of a version, wherever they stand."""
    if isinstance(value, list):
        return [_spec(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _reference(item) if key in _REFERENCES else _spec(item) for key, item in value.items()}


def _reference(value: Any) -> Any:
    if not isinstance(value, dict) or "apiVersion" not in value:
        return value
    rest = {key: value[key] for key in ("kind", "name") if key in value}
    return {"apiGroup": meta.group_of(str(value["apiVersion"])), **rest}


def _status(kind: str, status: Raw) -> Raw:
    flags = _FLAGS.get(kind, {})
    newer = status.get("v1beta2")
    moved = {*flags, "v1beta2", *_LEGACY}
    result = {key: value for key, value in status.items() if key not in moved}
    if isinstance(newer, dict) and newer.get("conditions"):
        result["conditions"] = newer["conditions"]
    initialization = {new: True for old, new in flags.items() if status.get(old) is True}
    if kind == "Cluster" and _is_true(status.get("conditions"), "ControlPlaneInitialized"):
        initialization["controlPlaneInitialized"] = True
    if initialization:
        result["initialization"] = initialization
    legacy = {name: status[name] for name in _LEGACY if status.get(name)}
    if legacy:
        result["deprecated"] = {"v1beta1": legacy}
    if isinstance(status.get("failureDomains"), dict):
        domains = sorted(status["failureDomains"].items())
        result["failureDomains"] = [{"name": name, **(domain or {})} for name, domain in domains]
    return result


def _is_true(conditions: Any, type_: str) -> bool:
    found = conditions if isinstance(conditions, list) else []
    return any(isinstance(item, dict) and item.get("type") == type_ and item.get("status") == "True" for item in found)
