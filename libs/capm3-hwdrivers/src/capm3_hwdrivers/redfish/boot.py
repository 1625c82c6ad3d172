"""The boot override over Redfish: reads it, and makes the smallest patch that sets it. The making is pure.

Vendors refuse properties they do not show, want the patch at the settings resource or right at the System, and know
the CD by different names; see `plan`.
"""

from __future__ import annotations

import dataclasses

from capm3_hwdrivers import errors
from capm3_hwdrivers.model import BootInfo
from capm3_hwdrivers.redfish import quirks, repeat
from capm3_hwdrivers.redfish.connect import Body, Client

_TARGETS = {"cd": ("Cd", "UsbCd"), "disk": ("Hdd",), "pxe": ("Pxe",)}
_DEVICES = {"cd": "cd", "usbcd": "cd", "hdd": "disk", "pxe": "pxe", "uefihttp": "http", "none": ""}
_MODES = {"uefi": "UEFI", "legacy": "Legacy"}
_ALLOWED = "BootSourceOverrideTarget@Redfish.AllowableValues"


@dataclasses.dataclass(frozen=True)
class Patch:
    """Args:
    path: where it goes.
    body: ``{"Boot": {...}}``; empty when nothing has to change.
    """

    path: str
    body: Body


def info(system: Body) -> BootInfo:
    """What a System body says about the override. Pure."""
    boot = _boot(system)
    enabled = boot.get("BootSourceOverrideEnabled")
    target = boot.get("BootSourceOverrideTarget")
    mode = boot.get("BootSourceOverrideMode")
    device = ""
    if isinstance(target, str) and enabled != "Disabled":
        device = _DEVICES.get(target.lower(), target.lower())
    shown = {"uefi": "UEFI", "legacy": "legacy"}.get(mode.lower(), "") if isinstance(mode, str) else ""
    return BootInfo(device=device, once=enabled == "Once", mode=shown)


def settings_path(system: Body) -> str:
    """The settings resource a System body names; ``""`` for none. Pure."""
    return quirks.link(system, "@Redfish.Settings", "SettingsObject")


def plan(path: str, system: Body, settings: Body | None, device: str, mode: str) -> Patch:
    """The patch that makes `device` the next start's. Pure.

    Args:
        settings: body of the settings resource, ``None`` when there is none. It is patched only if it shows the
            attributes of the override, else the System itself is.
        mode: ``UEFI``, ``legacy`` or ``""``; sent only where the BMC shows a mode and it differs.

    Raises:
        NotSupported: the BMC has no override, or does not offer the device or the mode.
    """
    there = settings is not None and "BootSourceOverrideTarget" in _boot(settings)
    boot = {**_boot(system), **(_boot(settings or {}) if there else {})}
    if not boot:
        raise errors.NotSupported(f"{path} shows no Boot properties; the boot device can't be set")
    body: Body = {
        "BootSourceOverrideEnabled": "Once",
        "BootSourceOverrideTarget": _target(path, _allowed(system, settings), device),
    }
    current = boot.get("BootSourceOverrideMode")
    if mode and isinstance(current, str):
        wanted = _MODES[mode.lower()]
        offered = quirks.texts(boot.get("BootSourceOverrideMode@Redfish.AllowableValues"))
        if current.lower() != wanted.lower():
            if offered and wanted not in offered:
                raise errors.NotSupported(
                    f"{path} boots in {current} mode and offers {', '.join(offered)}, not {wanted}"
                )
            body["BootSourceOverrideMode"] = wanted
    return Patch(settings_path(system) if there else path, {"Boot": body})


def set_once(client: Client, path: str, device: str, mode: str) -> None:
    """Sets the device of the next start."""
    if device not in _TARGETS:
        raise errors.NotSupported(f"boot device {device!r} is unknown; known are {', '.join(_TARGETS)}")
    system = client.get(path)
    settings = settings_path(system)
    patch = plan(path, system, client.find(settings) if settings else None, device, mode)

    def act() -> None:
        etag = client.etag(patch.path)
        try:
            client.patch(patch.path, patch.body, etag=etag)
        except errors.Failed as failure:
            fuller = _with_mode(system, patch, failure)
            if fuller is None:
                raise
            client.patch(patch.path, fuller, etag=client.etag(patch.path))

    def done() -> bool:
        now = info(client.get(path))
        return now.device == device and now.once

    repeat.until(client, act, done)


def _with_mode(system: Body, patch: Patch, failure: errors.Failed) -> Body | None:
    """For BMCs that want the mode whenever the target is set, even an unchanged one."""
    mode = _boot(system).get("BootSourceOverrideMode")
    missing = failure.status == 400 and any(failure.has(code) for code in quirks.PARAMETER_MISSING)
    if not missing or not isinstance(mode, str) or "BootSourceOverrideMode" in patch.body["Boot"]:
        return None
    return {"Boot": {**patch.body["Boot"], "BootSourceOverrideMode": mode}}


def _boot(body: Body) -> Body:
    boot = body.get("Boot")
    return boot if isinstance(boot, dict) else {}


def _allowed(system: Body, settings: Body | None) -> tuple[str, ...]:
    return quirks.texts(_boot(settings or {}).get(_ALLOWED)) or quirks.texts(_boot(system).get(_ALLOWED))


def _target(path: str, allowed: tuple[str, ...], device: str) -> str:
    wanted = _TARGETS[device]
    if not allowed:
        return wanted[0]
    for name in wanted:
        if name in allowed:
            return name
    raise errors.NotSupported(f"{path} does not offer to start from {device}; it offers {', '.join(allowed)}")
