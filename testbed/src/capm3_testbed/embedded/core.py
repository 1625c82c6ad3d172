"""The built-in resources: names, columns of their tables, and the little that their strategies do.

A table of rows, apart from CRDs, whose like information stands in objects. Kinds without a strategy (Pod, Service,
RBAC) are stored as they come: nothing runs or enforces them here.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from capm3_api import kinds
from capm3_api.meta import Kind
from capm3_api.model import Raw
from capm3_managers.testing import world_definitions, world_errors
from capm3_managers.testing.world_errors import Cause
from capm3_managers.testing.world_types import Definition, Request

from capm3_testbed.embedded import crds

POD = Kind("", "v1", "Pod", "pods")
SERVICE = Kind("", "v1", "Service", "services")
_RBAC = "rbac.authorization.k8s.io"
_ADMISSION = "admissionregistration.k8s.io"
VALIDATING = Kind(
    _ADMISSION, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", namespaced=False
)
MUTATING = Kind(_ADMISSION, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", namespaced=False)

_TOP = ("apiVersion", "kind", "metadata")
_KNOWN: Mapping[str, tuple[str, ...]] = {
    "Secret": (*_TOP, "data", "stringData", "type", "immutable"),
    "ConfigMap": (*_TOP, "data", "binaryData", "immutable"),
    "Namespace": (*_TOP, "spec", "status"),
    "Node": (*_TOP, "spec", "status"),
    "Lease": (*_TOP, "spec"),
    "CustomResourceDefinition": (*_TOP, "spec", "status"),
    "ServiceAccount": (*_TOP, "secrets", "imagePullSecrets", "automountServiceAccountToken"),
}


@dataclasses.dataclass(frozen=True)
class Row:
    """Args:
    columns: as in ``additionalPrinterColumns``; a ``compute`` entry is the name of a function of `tables`.
    """

    kind: Kind
    definition: Definition
    short_names: tuple[str, ...] = ()
    columns: tuple[Raw, ...] = ()
    status: bool = False


def column(name: str, path: str = "", type_: str = "string", *, compute: str = "", priority: int = 0) -> Raw:
    return {"name": name, "type": type_, "jsonPath": path, "compute": compute, "priority": priority}


_AGE = column("Age", ".metadata.creationTimestamp", "date")
AGE_ONLY = (_AGE,)


def decode(obj: Raw, request: Request) -> Raw:
    """Strict field checks of the top level, and the defaults of the kinds that have some."""
    known = _KNOWN.get(request.kind.kind)
    unknown = sorted(set(obj) - set(known)) if known else []
    if unknown:
        crds.report_unknown(unknown, request)
        obj = {key: value for key, value in obj.items() if key not in unknown}
    prepare = _PREPARE.get(request.kind.kind)
    return prepare(obj, request) if prepare else obj


def _secret(obj: Raw, request: Request) -> Raw:
    result = {key: value for key, value in obj.items() if key != "stringData"}
    data = dict(obj.get("data") or {})
    for key, value in data.items():
        _check_base64(key, value, request)
    for key, value in (obj.get("stringData") or {}).items():
        data[key] = base64.b64encode(str(value).encode()).decode()
    if data or "data" in obj:
        result["data"] = data
    result.setdefault("type", "Opaque")
    return result


def _check_base64(key: str, value: Any, request: Request) -> None:
    try:
        base64.b64decode(value or "", validate=True)
    except (binascii.Error, TypeError, ValueError):
        text = f'Secret in version "v1" cannot be handled as a Secret: data[{key}]: illegal base64 data'
        raise world_errors.bad_request(text) from None


def _config_map(obj: Raw, request: Request) -> Raw:
    for key, value in (obj.get("data") or {}).items():
        if not isinstance(value, str):
            text = f'ConfigMap in version "v1" cannot be handled as a ConfigMap: data[{key}] must be a string'
            raise world_errors.bad_request(text)
    return obj


def _namespace(obj: Raw, request: Request) -> Raw:
    metadata = dict(obj.get("metadata") or {})
    name = metadata.get("name") or ""
    metadata["labels"] = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": name}
    spec = {"finalizers": ["kubernetes"], **(obj.get("spec") or {})}
    return {**obj, "metadata": metadata, "spec": spec, "status": {"phase": "Active", **(obj.get("status") or {})}}


def _crd(obj: Raw, request: Request) -> Raw:
    spec = dict(obj.get("spec") or {})
    spec.setdefault("conversion", {"strategy": "None"})
    names = dict(spec.get("names") or {})
    if names.get("kind"):
        names = {"singular": names["kind"].lower(), "listKind": f"{names['kind']}List", **names}
    return {**obj, "spec": {**spec, "names": names}}


_PREPARE: Mapping[str, Callable[[Raw, Request], Raw]] = {
    "Secret": _secret,
    "ConfigMap": _config_map,
    "Namespace": _namespace,
    "CustomResourceDefinition": _crd,
}


def _validate(new: Raw, old: Raw | None, request: Request) -> list[Cause]:
    """Immutable Secrets and ConfigMaps, the type of a Secret, and CRDs that could not be served."""
    if request.kind == kinds.CRD:
        return crds.problems(new)
    if old is None or request.kind not in (kinds.SECRET, kinds.CONFIG_MAP):
        return []
    fields = ["data"] if old.get("immutable") else []
    fields += ["type"] if request.kind == kinds.SECRET else []
    changed = [name for name in fields if new.get(name) != old.get(name)]
    return [Cause("FieldValueInvalid", name, "Invalid value: field is immutable") for name in changed]


def _row(kind: Kind, short: str, columns: tuple[Raw, ...], *, status: bool = False, generation: bool = False) -> Row:
    free = kind not in (kinds.LEASE, kinds.CRD)
    definition = Definition(kind, status, generation, True, free, decode, _validate)
    return Row(kind, definition, tuple(short.split()), columns, status)


def _plain(kind: Kind, short: str = "") -> Row:
    return _row(kind, short, AGE_ONLY)


TABLE: tuple[Row, ...] = (
    _row(kinds.NAMESPACE, "ns", (column("Status", ".status.phase"), _AGE), status=True),
    _row(kinds.SECRET, "", (column("Type", ".type"), column("Data", type_="integer", compute="data"), _AGE)),
    _row(kinds.CONFIG_MAP, "cm", (column("Data", type_="integer", compute="data"), _AGE)),
    _row(
        kinds.NODE,
        "no",
        (
            column("Status", compute="node_status"),
            column("Roles", compute="node_roles"),
            _AGE,
            column("Version", ".status.nodeInfo.kubeletVersion"),
            column("Internal-IP", compute="node_address", priority=1),
            column("OS-Image", ".status.nodeInfo.osImage", priority=1),
        ),
        status=True,
    ),
    _row(
        kinds.EVENT,
        "ev",
        (
            column("Last Seen", ".lastTimestamp", "date"),
            column("Type", ".type"),
            column("Reason", ".reason"),
            column("Object", compute="event_object"),
            column("Message", ".message"),
        ),
    ),
    _row(kinds.LEASE, "", (column("Holder", ".spec.holderIdentity"), _AGE)),
    _row(kinds.CRD, "crd crds", (column("Created At", ".metadata.creationTimestamp"),), status=True, generation=True),
    _plain(world_definitions.SERVICE_ACCOUNT, "sa"),
    _row(POD, "po", (column("Status", ".status.phase"), _AGE), status=True),
    _row(SERVICE, "svc", (column("Type", ".spec.type"), column("Cluster-IP", ".spec.clusterIP"), _AGE), status=True),
    _row(VALIDATING, "", (column("Webhooks", type_="integer", compute="webhooks"), _AGE), generation=True),
    _row(MUTATING, "", (column("Webhooks", type_="integer", compute="webhooks"), _AGE), generation=True),
    _plain(Kind(_RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False)),
    _plain(Kind(_RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False)),
    _plain(Kind(_RBAC, "v1", "Role", "roles")),
    _plain(Kind(_RBAC, "v1", "RoleBinding", "rolebindings")),
)
