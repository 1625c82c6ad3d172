"""The hardware of the made-up server as Redfish resources: one card, one disk, one processor.

Apart from `redfish_machine`, because it never changes.
"""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]
SYSTEM = "/redfish/v1/Systems/1"


def members(*paths: str) -> Body:
    return {"Members": [{"@odata.id": path} for path in paths], "Members@odata.count": len(paths)}


_NIC, _STORAGE = f"{SYSTEM}/EthernetInterfaces", f"{SYSTEM}/Storage"
HARDWARE: dict[str, Body] = {
    _NIC: members(f"{_NIC}/1"),
    f"{_NIC}/1": {"Id": "1", "MACAddress": "02:00:00:00:00:01", "SpeedMbps": 25000, "LinkStatus": "LinkUp"},
    _STORAGE: members(f"{_STORAGE}/1"),
    f"{_STORAGE}/1": {"Id": "1", "Drives": [{"@odata.id": f"{_STORAGE}/1/Drives/0"}]},
    f"{_STORAGE}/1/Drives/0": {
        "Id": "0",
        "CapacityBytes": 960197124096,
        "Protocol": "NVMe",
        "MediaType": "SSD",
        "Model": "EXAMPLE",
        "SerialNumber": "D0",
        "Identifiers": [{"DurableName": "0025385A11B2C3D4", "DurableNameFormat": "EUI"}],
    },
    f"{SYSTEM}/Processors": members(f"{SYSTEM}/Processors/1"),
    f"{SYSTEM}/Processors/1": {
        "Id": "1",
        "InstructionSet": "x86-64",
        "TotalCores": 8,
        "TotalThreads": 16,
        "MaxSpeedMHz": 3600,
        "Model": "Example CPU",
    },
}
