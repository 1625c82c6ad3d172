"""The controller of IPPools, in place of ip-address-manager; off unless asked for."""

from __future__ import annotations

from capm3_api import kinds
from capm3_managers import ippool

from capm3_controller.controllers.definition import READ, STATUS, WRITE, Definition, Rule

DEFINITION = Definition(
    ippool.MANAGER,
    "ippool_concurrency",
    rules=(
        Rule(kinds.METAL3_IPAM, ("ippools", "ipclaims", "ipaddresses"), WRITE),
        Rule(kinds.METAL3_IPAM, ("ippools/status", "ipclaims/status", "ipaddresses/status"), STATUS),
        Rule(kinds.CAPI_IPAM, ("ipaddressclaims", "ipaddresses"), WRITE),
        Rule(kinds.CAPI_IPAM, ("ipaddressclaims/status",), STATUS),
        Rule(kinds.CAPI, ("clusters",), READ),
    ),
    switch="ip_pools",
)
