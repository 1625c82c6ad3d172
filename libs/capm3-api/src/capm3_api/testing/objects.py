"""Where two answered objects differ, and whether the difference is a registered one.

Apart from the comparisons of recordings, which share it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from capm3_api import names
from capm3_api.conversion import hub

Sides = tuple[Any, Any]
"""The object as it was sent, and what a conversion there and back leaves of it: both at one path."""

EMPTIES = "empty strings and maps that mean nothing are not written into v1beta1 objects"
KEPT = "explicit zero values survive in the preserved data"
SURVIVES = "what only v1beta1 can hold comes back from the stored version"


CLUSTER_TEMPLATE = "cluster templates are converted; the Go program's CRD only renames their version"
_CONVERTED = (
    "metadata.annotations.cluster.x-k8s.io/conversion-data",
    "spec.template.spec.failureDomains",
    "spec.template.spec.noCloudProvider",
)


def differences(ours: Any, theirs: Any, sent: Any) -> set[str]:
    """The reasons why two answered objects differ; one that is not registered starts with ``?``.

    Args:
        sent: the object that both programs were given.
    """
    renamed = sent.get("kind") == "Metal3ClusterTemplate" and _is_old(sent)
    starts = tuple(f"?{path}" for path in _CONVERTED)
    found = _differences(ours, theirs, (sent, _forgetful(sent)))
    return {CLUSTER_TEMPLATE if renamed and reason.startswith(starts) else reason for reason in found}


def _is_old(sent: Any) -> bool:
    return str(sent.get("apiVersion")).endswith("/v1beta1")


def _forgetful(sent: Any) -> Any:
    """What is left of an object of v1beta1 that goes to v1beta2 and back without preserved data."""
    if not _is_old(sent) or sent.get("kind") not in hub.SPOKES:
        return sent
    return {**sent, **hub.plain({**hub.plain(sent, "up"), "kind": sent["kind"]}, "down")}


def _differences(ours: Any, theirs: Any, sides: Sides, path: str = "") -> Iterator[str]:
    ours, theirs = _level(ours, theirs), _level(theirs, ours)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            yield from _differences(ours.get(key), theirs.get(key), _in(sides, key), f"{path}.{key}" if path else key)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (left, right) in enumerate(zip(ours, theirs, strict=True)):
            yield from _differences(left, right, _in(sides, index), f"{path}[{index}]")
    elif ours != theirs:
        yield _reason(ours, theirs, sides, path)


def _level(side: Any, other: Any) -> Any:
    """An object for an absent one, so that each field which only the other has is explained by itself."""
    return {} if side is None and isinstance(other, dict) and other else side


def _in(sides: Sides, key: str | int) -> Sides:
    return _item(sides[0], key), _item(sides[1], key)


def _item(value: Any, key: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(key)
    return value[key] if isinstance(value, list) and isinstance(key, int) and key < len(value) else None


def _reason(ours: Any, theirs: Any, sides: Sides, path: str) -> str:
    sent, forgetful = sides
    if ours is None and _means_nothing(theirs):
        return EMPTIES
    if ours == sent and forgetful != ours and (theirs is None or path.endswith(".noCloudProvider")):
        return SURVIVES
    annotation = path.endswith(names.CONVERSION_DATA_ANNOTATION)
    if annotation and theirs is None and ours == sent:
        return SURVIVES
    explicit_zero = theirs is None and ours == sent and ours in (0, False)
    if explicit_zero or (annotation and _only_more_zeros(ours, theirs)):
        return KEPT
    return f"?{path}: theirs {theirs!r}, ours {ours!r}"


def _only_more_zeros(ours: Any, theirs: Any) -> bool:
    """Whether two annotations differ only in that ours also has zero values."""
    try:
        left, right = json.loads(ours or "null"), json.loads(theirs or "null")
    except (TypeError, ValueError, RecursionError):
        return False
    return left is not None and _without_zeros(left) == _without_zeros(right)


def _without_zeros(value: Any) -> Any:
    if isinstance(value, dict):
        found = {key: _without_zeros(item) for key, item in value.items()}
        return {key: item for key, item in found.items() if not _means_nothing(item)}
    return [_without_zeros(item) for item in value] if isinstance(value, list) else value


def _means_nothing(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_means_nothing, value.values()))
    return value in ("", False, None, [])
