"""The CRDs that ship with the package, by kind: what ``capm3 validate``, ``capm3 crds`` and the defaulting read.

Apart from `capm3_api.crdgen`, which makes these files, and from `capm3_api.schema`, which applies any schema: this is
only the table of the shipped ones. They are read once, on first use.
"""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Mapping
from typing import Any

import yaml

from capm3_api import schema
from capm3_api.model import Raw

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@functools.cache
def crds() -> Mapping[tuple[str, str], Raw]:
    """Every shipped CustomResourceDefinition by (group, kind)."""
    found: dict[tuple[str, str], Raw] = {}
    for entry in sorted(importlib.resources.files("capm3_api").joinpath("crds").iterdir(), key=lambda file: file.name):
        if entry.name.endswith(".yaml"):
            crd = yaml.load(entry.read_text(encoding="utf-8"), Loader=_LOADER)
            found[crd["spec"]["group"], crd["spec"]["names"]["kind"]] = crd
    return found


def crd_of(api_version: str, kind: str) -> Raw | None:
    """The CRD that has this kind in the group of `api_version`, whatever versions it serves."""
    return crds().get((api_version.rpartition("/")[0], kind))


@functools.cache
def of(api_version: str, kind: str) -> Mapping[str, Any] | None:
    """The schema of one kind in one version; ``None`` when none is shipped or the version is not served."""
    crd = crd_of(api_version, kind)
    return None if crd is None else schema.version_schema(crd, api_version.rpartition("/")[2])


def has_status(api_version: str, kind: str) -> bool:
    """Whether the version has the status subresource."""
    crd = crd_of(api_version, kind)
    name = api_version.rpartition("/")[2]
    entries = crd["spec"]["versions"] if crd else []
    return any(entry["name"] == name and "status" in (entry.get("subresources") or {}) for entry in entries)
