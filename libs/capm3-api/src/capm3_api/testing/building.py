"""Parts that builders of test objects are made of: merge patches, owners, conditions.

Apart from `builders`, which has one function a kind and nothing else.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Mapping
from typing import Any

from capm3_api.meta import Kind
from capm3_api.model import Raw

NAMESPACE = "site-a"


def merge(target: Any, patch: Any) -> Any:
    """JSON merge patch (RFC 7386), without changing either argument."""
    if not isinstance(patch, Mapping):
        return copy.deepcopy(patch)
    result: Raw = copy.deepcopy(dict(target)) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def build(kind: Kind, name: str, /, namespace: str = NAMESPACE, *layers: Mapping[str, Any], **changes: Any) -> Raw:
    """An object of `kind`: metadata with a uid made from the name, then `layers`, then `changes`."""
    metadata: Raw = {"name": name, "uid": f"uid-{kind.kind.lower()}-{name}", "generation": 1}
    if kind.namespaced:
        metadata["namespace"] = namespace
    obj: Any = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
    for layer in (*layers, changes):
        obj = merge(obj, layer)
    return dict(obj)


def owned_by(owner: Mapping[str, Any], *, controller: bool | None = True) -> Raw:
    """An entry of ``metadata.ownerReferences``."""
    reference: Raw = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
    }
    if controller is not None:
        reference |= {"controller": controller, "blockOwnerDeletion": True}
    return reference


def owners(*objects: Mapping[str, Any], controller: bool | None = True) -> Raw:
    """A layer with these owners: ``build(..., **owners(machine))``."""
    return {"metadata": {"ownerReferences": [owned_by(obj, controller=controller) for obj in objects]}}


def condition(type_: str, status: str = "True", reason: str = "", message: str = "", **rest: Any) -> Raw:
    """A condition in the new form."""
    return {
        "type": type_,
        "status": status,
        "reason": reason or type_,
        "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        **rest,
    }


def legacy_condition(type_: str, status: str = "True", **rest: Any) -> Raw:
    """A condition in the older form."""
    return {"type": type_, "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z", **rest}


def b64(text: str | bytes) -> str:
    """Text as the data of a Secret has it."""
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()
