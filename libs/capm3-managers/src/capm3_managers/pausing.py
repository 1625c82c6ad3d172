"""Whether an object is paused, and its condition Paused.

Apart from the managers, because three of them say it in the same words (behaviour facts on CAPM3, 4.1 step 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capm3_api import names

CLUSTER_PAUSED = "Cluster spec.paused is set to true"


def has_annotation(obj: Mapping[str, Any]) -> bool:
    """Whether the object itself is paused, whatever the annotation's value."""
    return names.PAUSED_ANNOTATION in ((obj.get("metadata") or {}).get("annotations") or {})


def cluster_is_paused(cluster: Mapping[str, Any] | None) -> bool:
    """``Cluster.spec.paused``; a missing Cluster is not paused."""
    return bool(((cluster or {}).get("spec") or {}).get("paused"))


def is_paused(cluster: Mapping[str, Any] | None, obj: Mapping[str, Any]) -> bool:
    """Whether the object's Cluster or the object itself is paused."""
    return cluster_is_paused(cluster) or has_annotation(obj)


def message(cluster: Mapping[str, Any] | None, obj: Mapping[str, Any]) -> str:
    """Why it is paused, in the words of Cluster API; ``""`` when it is not."""
    parts = [CLUSTER_PAUSED] if cluster_is_paused(cluster) else []
    if has_annotation(obj):
        parts.append(f"{obj.get('kind')} has the {names.PAUSED_ANNOTATION} annotation")
    return ", ".join(parts)
