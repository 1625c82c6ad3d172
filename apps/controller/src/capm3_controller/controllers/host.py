"""The controller of BareMetalHosts, in place of the Baremetal Operator; off unless asked for."""

from __future__ import annotations

from capm3_api import kinds
from capm3_managers import host

from capm3_controller.controllers.definition import STATUS, WRITE, Definition, Rule

DEFINITION = Definition(
    host.MANAGER,
    "baremetalhost_concurrency",
    rules=(
        Rule(kinds.METAL3, ("baremetalhosts", "hardwaredata"), WRITE),
        Rule(kinds.METAL3, ("baremetalhosts/status",), STATUS),
        # HardwareData sets blockOwnerDeletion; clusters that enforce owner references ask for this right.
        Rule(kinds.METAL3, ("baremetalhosts/finalizers",), ("update",)),
        Rule("", ("secrets",), ("get", "list", "patch", "watch")),
    ),
    switch="host_manager",
)
