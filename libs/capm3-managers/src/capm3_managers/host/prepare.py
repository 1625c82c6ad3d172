"""Between inspection and availability: what has to be configured on the server, as far as that is possible here."""

from __future__ import annotations

from capm3_api.model import Raw

from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.host import states, status
from capm3_managers.host.snapshot import Snapshot

_HINTS: dict[str, Raw] = {
    "unknown": {"deviceName": "/dev/sda"},
    "libvirt": {"deviceName": "/dev/vda"},
    "dell": {"hctl": "0:0:0:0"},
    "dell-raid": {"hctl": "0:2:0:0"},
    "openstack": {"deviceName": "/dev/vdb"},
    "empty": {},
}
"""Root device hints by hardware profile, as the Baremetal Operator has them."""


def preparing(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    raid = snapshot.host.spec.raid
    volumes = raid is not None and (raid.hardware_raid_volumes or raid.software_raid_volumes)
    if volumes:
        message = "spec.raid needs the Ironic driver, which is not part of this release; remove it"
        return status.refused(snapshot, draft, states.PREPARATION_ERROR, message)
    draft = status.put(draft, {"provisioning": {"rootDeviceHints": None}})
    draft = status.put(draft, {"provisioning": {"rootDeviceHints": hints(snapshot)}})
    return status.enter(snapshot, status.succeeded(draft), states.AVAILABLE, "the host is ready to use")


def match_profile(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """A state of older releases, left at once."""
    return status.enter(snapshot, draft, states.PREPARING, "profiles are no longer matched")


def hints(snapshot: Snapshot) -> Raw | None:
    """The hints in force: the host's own, else those of its profile. A live ISO has no use for them."""
    given = (snapshot.host.raw.get("spec") or {}).get("rootDeviceHints")
    if isinstance(given, dict) and given:
        return given
    return _HINTS.get(snapshot.host.status.hardware_profile or "unknown", {}) or None
