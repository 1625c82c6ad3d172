"""Reads a System and everything that hangs under it, and makes one inventory of it.

Apart from `inventory`, whose readers are pure; this part asks the BMC.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from capm3_hwdrivers import errors
from capm3_hwdrivers.model import Cpu, Disk, Inventory
from capm3_hwdrivers.redfish import inventory, quirks
from capm3_hwdrivers.redfish.connect import Body, Client


def hardware(client: Client, path: str) -> Inventory:
    """Reads a System and what hangs under it. What the BMC does not serve is named in the notes."""
    body = client.get(path)
    found = inventory.system(body)
    notes = list(found.notes)
    nics = [one for one in _each(client, body, "EthernetInterfaces", inventory.nic, notes) if one is not None]
    known = {one.mac for one in nics}
    disks = _disks(client, body, notes)
    cpu = _cpu(found.cpu, list(_each(client, body, "Processors", inventory.processor, notes)))
    return found.model_copy(
        update={
            "nics": (*nics, *(one for one in found.nics if one.mac not in known)),
            "disks": tuple(disks),
            "cpu": cpu,
            "notes": tuple(dict.fromkeys(notes)),
        }
    )


def _cpu(summary: Cpu, each: list[Cpu]) -> Cpu:
    if not each:
        return summary
    total = sum(one.count for one in each)
    first = each[0]
    return Cpu(
        arch=first.arch,
        model=summary.model or first.model,
        count=total or summary.count,
        clock_mhz=first.clock_mhz,
    )


def _disks(client: Client, body: Body, notes: list[str]) -> list[Disk]:
    disks: list[Disk] = []
    for linked, whole, said in _each_raw(client, body, "Storage", inventory.storage, notes):
        notes.extend(said)
        disks.extend(whole)
        for path in linked:
            item = _fetch(client, path, notes)
            if item is not None:
                disk, more = inventory.drive(item)
                disks.append(disk)
                notes.extend(more)
    return disks


def _each(client: Client, body: Body, key: str, read: Any, notes: list[str]) -> Iterator[Any]:
    for value, said in _each_raw(client, body, key, read, notes):
        notes.extend(said)
        yield value


def _each_raw(client: Client, body: Body, key: str, read: Any, notes: list[str]) -> Iterator[Any]:
    """Every member of a collection under the System; members may stand in the collection in full."""
    path = quirks.link(body, key)
    if not path:
        notes.append(f"{inventory.name_of(body)}: no {key}")
        return
    members = (_fetch(client, path, notes) or {}).get("Members")
    for item in members if isinstance(members, list) else []:
        if not isinstance(item, dict):
            continue
        whole = item if set(item) - {"@odata.id"} else _fetch(client, str(item.get("@odata.id") or ""), notes)
        if whole is not None:
            yield read(whole)


def _fetch(client: Client, path: str, notes: list[str]) -> Body | None:
    """A resource that may be missing or broken; refusals and a silent BMC still end the inspection."""
    if not path:
        return None
    try:
        return client.get(path)
    except (errors.Failed, errors.NotSupported) as failure:
        notes.append(f"{path}: {failure.message}")
        return None
