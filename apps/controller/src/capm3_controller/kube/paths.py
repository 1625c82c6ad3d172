"""The URL paths of the Kubernetes API, and the table of the kinds that can be written.

Apart from the client, because the tests' servers and the RBAC table read the same rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_managers.ports import ContractError

KNOWN: Mapping[tuple[str, str], Kind] = {
    (value.group, value.kind): value for value in vars(kinds).values() if isinstance(value, Kind)
}
"""(group, kind) -> kind, of everything in `capm3_api.kinds`."""


def root(kind: Kind) -> str:
    """``/api/v1`` or ``/apis/GROUP/VERSION``."""
    return f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"


def collection(kind: Kind, namespace: str) -> str:
    """Where objects are listed and created; all namespaces when `namespace` is ``""``."""
    scope = f"/namespaces/{quote(namespace, safe='')}" if kind.namespaced and namespace else ""
    return f"{root(kind)}{scope}/{kind.plural}"


def of(kind: Kind, key: Key, subresource: str = "") -> str:
    """One object, or a subresource of it."""
    if not key.name or (kind.namespaced and not key.namespace):
        raise ContractError(
            f"an object of kind {kind.kind} needs a name{' and a namespace' if kind.namespaced else ''}"
        )
    rest = f"/{subresource}" if subresource else ""
    return f"{collection(kind, key.namespace)}/{quote(key.name, safe='')}{rest}"


def kind_of(obj: Mapping[str, Any]) -> Kind:
    """The kind of a raw object in the version it is written in.

    Raises:
        ContractError: not in `capm3_api.kinds`, so nothing of ours can have made it.
    """
    api_version = str(obj.get("apiVersion") or "")
    found = KNOWN.get((meta.group_of(api_version), str(obj.get("kind") or "")))
    if found is None:
        raise ContractError(f"no known kind: apiVersion {api_version!r}, kind {obj.get('kind')!r}")
    return found.at(api_version.rpartition("/")[2])
