"""Metal3Cluster and its template between the versions (behaviour facts on CAPM3, sections 2.3 and 2.4).

Apart from the machinery: this is the table of fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capm3_api.conversion.common import FAILURE_DOMAINS, status
from capm3_api.conversion.machinery import Shape, copied, forced, nested, part, same, written
from capm3_api.model import Raw

ENDPOINT = Shape((forced("host", ""), forced("port", 0)))


def _no_cloud_provider(source: Mapping[str, Any], result: Raw) -> None:
    enabled = source.get("cloudProviderEnabled")
    if enabled is not None:
        result["noCloudProvider"] = not enabled


SPEC = Shape(
    (nested("controlPlaneEndpoint", ENDPOINT), copied("cloudProviderEnabled", bool), FAILURE_DOMAINS),
    down_hook=_no_cloud_provider,
    old_only=("noCloudProvider",),
)
CLUSTER = Shape(
    (
        part("spec", SPEC, written),
        part("status", status((FAILURE_DOMAINS, same("lastUpdated"))), written),
    )
)

RESOURCE = Shape((nested("spec", SPEC),), new_only=("metadata",))
CLUSTER_TEMPLATE = Shape((nested("spec", Shape((nested("template", RESOURCE),))),))
