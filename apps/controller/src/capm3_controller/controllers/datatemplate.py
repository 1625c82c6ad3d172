"""The controller of Metal3DataTemplates, which hands out indexes."""

from __future__ import annotations

from capm3_api import kinds
from capm3_managers import datatemplate

from capm3_controller.controllers.definition import READ, STATUS, WRITE, Definition, Rule

DEFINITION = Definition(
    datatemplate.MANAGER,
    "metal3datatemplate_concurrency",
    reads=(kinds.CLUSTER,),
    rules=(
        Rule(kinds.INFRASTRUCTURE, ("metal3datatemplates", "metal3dataclaims", "metal3datas"), WRITE),
        Rule(
            kinds.INFRASTRUCTURE,
            ("metal3datatemplates/status", "metal3dataclaims/status", "metal3datas/status"),
            STATUS,
        ),
        Rule(kinds.CAPI, ("clusters",), READ),
    ),
)
