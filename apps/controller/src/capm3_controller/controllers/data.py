"""The controller of Metal3Datas, which renders the Secrets of a machine."""

from __future__ import annotations

from capm3_api import kinds
from capm3_managers import data

from capm3_controller.controllers.definition import READ, STATUS, WRITE, Definition, Rule

DEFINITION = Definition(
    data.MANAGER,
    "metal3data_concurrency",
    reads=(
        kinds.METAL3_DATA_TEMPLATE,
        kinds.MACHINE,
        kinds.CLUSTER,
        kinds.IP_POOL,
        kinds.IP_ADDRESS,
        kinds.CAPI_IP_ADDRESS,
    ),
    rules=(
        Rule(kinds.INFRASTRUCTURE, ("metal3datas",), WRITE),
        Rule(kinds.INFRASTRUCTURE, ("metal3datas/status",), STATUS),
        Rule(kinds.INFRASTRUCTURE, ("metal3datatemplates", "metal3dataclaims", "metal3machines"), READ),
        Rule(kinds.CAPI, ("clusters", "machines"), READ),
        Rule(kinds.METAL3_IPAM, ("ipclaims",), WRITE),
        Rule(kinds.METAL3_IPAM, ("ipclaims/status",), ("get", "watch")),
        Rule(kinds.METAL3_IPAM, ("ipaddresses", "ippools"), READ),
        Rule(kinds.CAPI_IPAM, ("ipaddressclaims",), WRITE),
        Rule(kinds.CAPI_IPAM, ("ipaddressclaims/status",), ("get", "watch")),
        Rule(kinds.CAPI_IPAM, ("ipaddresses",), READ),
        Rule(kinds.METAL3, ("baremetalhosts",), READ),
        Rule("", ("secrets",), WRITE),
    ),
)
