"""CustomResourceDefinitions as an earlier installation has them: other versions stored or served, fewer defaults.

Apart from the generator of definitions, which knows one shape: the present one.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from capm3_api import crdgen, kinds
from capm3_api.model import Raw

_OURS = {crdgen.crd_name(kind) for kind in kinds.OURS}


def serving(definition: Raw, versions: Sequence[str]) -> Raw:
    """A definition with one open version, served as these; that one version is stored. Nothing is converted."""
    (stored,) = definition["spec"]["versions"]
    wanted = dict.fromkeys((*versions, stored["name"]))
    made = [
        {**copy.deepcopy(stored), "name": name, "served": name in versions, "storage": name == stored["name"]}
        for name in wanted
    ]
    return {**definition, "spec": {**definition["spec"], "versions": made}}


def ours(conversion: crdgen.Webhook | None = None) -> list[Raw]:
    """The nine kinds as we ship them."""
    return [item for item in crdgen.all_crds(conversion) if item["metadata"]["name"] in _OURS]


def foreign_of_ours() -> list[Raw]:
    """The definitions that we ship besides the nine: hosts and address pools, each in its one version."""
    return [item for item in crdgen.all_crds() if item["metadata"]["name"] not in _OURS]


def only(definition: Raw, version: str) -> Raw:
    """A release that had nothing but this version: no conversion, and no defaults of pool references."""
    kept = [{**copy.deepcopy(entry), "storage": True} for entry in definition["spec"]["versions"]]
    spec = {key: value for key, value in definition["spec"].items() if key != "conversion"}
    versions = [_without_pool_defaults(entry) for entry in kept if entry["name"] == version]
    return {**definition, "spec": {**spec, "versions": versions}}


def _without_pool_defaults(value: Any) -> Any:
    if isinstance(value, dict):
        found = {key: _without_pool_defaults(item) for key, item in value.items()}
        properties = found.get("properties")
        if isinstance(properties, dict) and {"apiGroup", "kind", "name"} <= properties.keys():
            for name in ("apiGroup", "kind"):
                properties[name].pop("default", None)
        return found
    return [_without_pool_defaults(item) for item in value] if isinstance(value, list) else value
