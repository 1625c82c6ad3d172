"""Strategic merge patches of the core kinds: merge patches in which some lists are merged by a key.

Apart from plain merge patches, because it needs to know which lists those are. kubectl sends this form for Secrets,
Namespaces, Nodes and the like; custom resources never take it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capm3_api.model import Raw
from capm3_managers.testing.world_types import copied

_KEYS: Mapping[str, str] = {
    "ownerReferences": "uid",
    "conditions": "type",
    "addresses": "type",
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "env": "name",
    "volumeMounts": "mountPath",
    "imagePullSecrets": "name",
    "secrets": "name",
    "ports": "port",
    "webhooks": "name",
    "matchConditions": "name",
}
_SETS = frozenset({"finalizers", "podCIDRs"})
_DIRECTIVES = ("$patch", "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/")


def apply(target: Any, patch: Raw) -> Raw:
    """`target` with the patch applied; the arguments are left alone."""
    if patch.get("$patch") == "replace":
        return {key: copied(value) for key, value in patch.items() if not _directive(key)}
    result: Raw = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            name = key.partition("/")[2]
            result[name] = [item for item in result.get(name) or [] if item not in value]
    if "$retainKeys" in patch:
        result = {key: value for key, value in result.items() if key in patch["$retainKeys"]}
    for key, value in patch.items():
        if not _directive(key):
            _set(result, key, value)
    return result


def _directive(key: str) -> bool:
    return key.startswith(_DIRECTIVES)


def _set(result: Raw, key: str, value: Any) -> None:
    if value is None:
        result.pop(key, None)
    elif isinstance(value, dict):
        if value.get("$patch") == "delete":
            result.pop(key, None)
        else:
            result[key] = apply(result.get(key), value)
    elif isinstance(value, list) and key in _KEYS and all(isinstance(item, dict) for item in value):
        result[key] = _merged(result.get(key) or [], value, _KEYS[key])
    elif isinstance(value, list) and key in _SETS:
        old = result.get(key) or []
        result[key] = [*old, *(item for item in value if item not in old)]
    else:
        result[key] = copied(value)


def _merged(old: list[Any], patch: list[Any], key: str) -> list[Any]:
    """A list of objects merged by `key`; a patch item with ``$patch: delete`` removes, ``replace`` alone replaces all."""
    if any(item.get("$patch") == "replace" and len(item) == 1 for item in patch):
        return [copied(item) for item in patch if item != {"$patch": "replace"}]
    result = [dict(item) for item in old]
    for item in patch:
        places = [index for index, known in enumerate(result) if known.get(key) == item.get(key)]
        if item.get("$patch") == "delete":
            result = [known for known in result if known.get(key) != item.get(key)]
        elif places:
            result[places[0]] = apply(result[places[0]], item)
        else:
            result.append(copied(item))
    return result
