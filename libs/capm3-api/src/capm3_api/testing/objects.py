"""Where two answered objects differ, and whether the difference is a registered one.

Apart from the comparisons of recordings, which share it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from capm3_api import names

EMPTIES = "empty strings and maps that mean nothing are not written into v1beta1 objects"
KEPT = "explicit zero values survive in the preserved data"
SURVIVES = "what only v1beta1 can hold comes back from the stored version"


CLUSTER_TEMPLATE = "cluster templates are converted; the Go program's CRD only renames their version"
_CONVERTED = ("metadata.annotations.cluster.x-k8s.io/conversion-data", "spec.template.spec.failureDomains")


def differences(ours: Any, theirs: Any, sent: Any) -> set[str]:
    """The reasons why two answered objects differ; one that is not registered starts with ``?``.

    Args:
        sent: the object that both programs were given.
    """
    renamed = sent.get("kind") == "Metal3ClusterTemplate" and str(sent.get("apiVersion")).endswith("/v1beta1")
    starts = tuple(f"?{path}" for path in _CONVERTED)
    found = _differences(ours, theirs, sent)
    return {CLUSTER_TEMPLATE if renamed and reason.startswith(starts) else reason for reason in found}


def _differences(ours: Any, theirs: Any, sent: Any, path: str = "") -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            inner = sent.get(key) if isinstance(sent, dict) else None
            yield from _differences(ours.get(key), theirs.get(key), inner, f"{path}.{key}" if path else key)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (left, right) in enumerate(zip(ours, theirs, strict=True)):
            inner = sent[index] if isinstance(sent, list) and index < len(sent) else None
            yield from _differences(left, right, inner, f"{path}[{index}]")
    elif ours != theirs:
        yield _reason(ours, theirs, sent, path)


def _reason(ours: Any, theirs: Any, sent: Any, path: str) -> str:
    if ours is None and _means_nothing(theirs):
        return EMPTIES
    if ours == sent and (theirs is None or path.endswith(".noCloudProvider")):
        return SURVIVES
    if path.endswith(names.CONVERSION_DATA_ANNOTATION) and _only_more_zeros(ours, theirs):
        return KEPT
    return f"?{path}: theirs {theirs!r}, ours {ours!r}"


def _only_more_zeros(ours: Any, theirs: Any) -> bool:
    """Whether two annotations differ only in that ours also has zero values."""
    left, right = (json.loads(text) if isinstance(text, str) and text else None for text in (ours, theirs))
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
