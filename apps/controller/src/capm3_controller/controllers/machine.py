"""The controller of Metal3Machines.

Node rights are used in workload clusters; they are in the management cluster's role because a cluster may manage itself.
"""

from __future__ import annotations

from capm3_api import kinds
from capm3_managers import machine

from capm3_controller.controllers.definition import READ, STATUS, WRITE, Definition, Rule

DEFINITION = Definition(
    machine.MANAGER,
    "metal3machine_concurrency",
    rules=(
        Rule(kinds.INFRASTRUCTURE, ("metal3machines", "metal3dataclaims"), WRITE),
        Rule(kinds.INFRASTRUCTURE, ("metal3machines/status", "metal3dataclaims/status"), STATUS),
        Rule(
            kinds.INFRASTRUCTURE,
            ("metal3clusters", "metal3datas", "metal3datatemplates", "metal3machinetemplates"),
            READ,
        ),
        Rule(kinds.CAPI, ("clusters", "machines", "machinesets", "machinedeployments"), READ),
        Rule(kinds.CAPI_CONTROL_PLANE, ("kubeadmcontrolplanes",), READ),
        Rule(kinds.METAL3, ("baremetalhosts",), WRITE),
        Rule(kinds.METAL3, ("baremetalhosts/status",), STATUS),
        Rule("", ("secrets",), WRITE),
        Rule("", ("nodes",), ("get", "list", "patch", "update", "watch")),
    ),
)
