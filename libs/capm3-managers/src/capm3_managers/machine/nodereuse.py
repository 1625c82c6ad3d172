"""Node reuse: for whom a released host is kept, and for whom a machine may take one.

Apart from `selection` and `delete`, which both need the name; here is how it follows from the owners. Behaviour facts on
CAPM3 5.2.6 (matching) and 5.2.13 (steps 8 and 9).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers import hosts, owners
from capm3_managers.ports import Reader


@dataclasses.dataclass(frozen=True)
class Reuse:
    """Args:
    name: ``cp-<name>`` or ``md-<name>``; ``""`` when the machine has no such owner.
    wanted: whether the template that the owner now refers to says ``nodeReuse: true``.
    """

    name: str = ""
    wanted: bool = False


def owner_name(reader: Reader, machine: Mapping[str, Any]) -> str:
    """The value of the node-reuse label that belongs to a Machine."""
    if is_control_plane(machine):
        found = owners.group_reference(machine, kinds.CAPI_CONTROL_PLANE)
        return f"cp-{found['name']}" if found and found.get("name") else ""
    machine_set = _machine_set(reader, machine)
    deployment = owners.reference(machine_set, kinds.MACHINE_DEPLOYMENT) if machine_set else None
    return f"md-{deployment['name']}" if deployment else ""


def read(reader: Reader, machine: Mapping[str, Any]) -> Reuse:
    """What the owners of a Machine say now, from the API server; owners that are gone say no."""
    template = _template(reader, machine)
    wanted = hosts.part(template or {}, "spec").get("nodeReuse") is True
    return Reuse(owner_name(reader, machine) if wanted else "", wanted)


def is_control_plane(machine: Mapping[str, Any]) -> bool:
    return names.CONTROL_PLANE_LABEL in hosts.labels(machine)


def _template(reader: Reader, machine: Mapping[str, Any]) -> Raw | None:
    """The Metal3MachineTemplate that the Machine's owner refers to at this moment."""
    if is_control_plane(machine):
        key = owners.owner_key(machine, kinds.KUBEADM_CONTROL_PLANE)
        control_plane = reader.get(kinds.KUBEADM_CONTROL_PLANE, key, live=True) if key else None
        path: tuple[str, ...] = ("spec", "machineTemplate")
        ref = hosts.part(control_plane or {}, *path, "spec", "infrastructureRef")
        ref = ref or hosts.part(control_plane or {}, *path, "infrastructureRef")
    else:
        machine_set = _machine_set(reader, machine)
        ref = hosts.part(machine_set or {}, "spec", "template", "spec", "infrastructureRef")
    name = ref.get("name")
    if not name or ref.get("kind") != kinds.METAL3_MACHINE_TEMPLATE.kind:
        return None
    return reader.get(kinds.METAL3_MACHINE_TEMPLATE, Key(meta.key_of(machine).namespace, str(name)), live=True)


def _machine_set(reader: Reader, machine: Mapping[str, Any]) -> Raw | None:
    """The MachineSet that owns a Machine, if it is still the same one."""
    ref = owners.reference(machine, kinds.MACHINE_SET)
    key = owners.owner_key(machine, kinds.MACHINE_SET)
    found = reader.get(kinds.MACHINE_SET, key, live=True) if key else None
    return found if found is not None and ref is not None and meta.uid_of(found) == ref.get("uid") else None
