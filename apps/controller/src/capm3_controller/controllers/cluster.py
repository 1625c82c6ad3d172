"""The controller of Metal3Clusters."""

from __future__ import annotations

from capm3_api import kinds
from capm3_managers import cluster

from capm3_controller.controllers.definition import READ, STATUS, WRITE, Definition, Rule

DEFINITION = Definition(
    cluster.MANAGER,
    "metal3cluster_concurrency",
    reads=(kinds.BARE_METAL_HOST,),
    rules=(
        Rule(kinds.INFRASTRUCTURE, ("metal3clusters",), WRITE),
        Rule(kinds.INFRASTRUCTURE, ("metal3clusters/status",), STATUS),
        Rule(kinds.INFRASTRUCTURE, ("metal3machines",), READ),
        Rule(kinds.METAL3, ("baremetalhosts",), (*READ, "patch")),
        Rule(kinds.CAPI, ("clusters", "clusters/status"), READ),
        Rule(kinds.CAPI, ("machines",), READ),
    ),
)
