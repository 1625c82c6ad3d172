"""A made-up server behind a small conformant Redfish service: its state, its resources and what requests change.

Apart from `redfish_server`, which only speaks HTTP, and from `redfish_profiles`, which say how a vendor deviates.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

from capm3_hwdrivers.testing.redfish_hardware import HARDWARE, SYSTEM, Body, members

MANAGER = "/redfish/v1/Managers/1"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
SESSIONS = "/redfish/v1/SessionService/Sessions"


@dataclasses.dataclass(frozen=True)
class Profile:
    """How a BMC behaves. Defaults are a conformant one.

    Args:
        sessions: it offers sessions (basic authentication works in any case, unless `basic` is off).
        media_at: ``system``, ``manager`` or ``none``.
        insert: ``action`` or ``patch``.
        needs: parameters without which inserting is refused.
        insert_error: message id that every insert is refused with.
        shows_inserted: the media resource has ``Inserted``.
        eject_empty: status of an eject from an empty slot.
        eject_needs_body: an eject without a JSON body is refused.
        eject_ignored: so many ejects have no effect.
        success_with_error: the insert answers 200 with an error body.
        reset_types: ``None``: does not say.
        soft_works: the operating system shuts down.
        power_looks: how often the power is read before a change shows.
        power_state: overrides what is shown: ``"missing"`` or another text.
        boot_mode: what is shown; ``""``: nothing.
        boot_settings: ``""``, ``required`` (only the settings resource takes it) or ``readonly`` (it lacks the attributes).
        boot_needs_mode: a patch without the mode is refused.
        boot_targets: what the override allows.
        etag: ``ETag`` header of a System; ``None``: none.
        body_etag: ``@odata.etag`` of a System.
        etag_required: what ``If-Match`` has to be, else 428 or 412.
        etag_forbidden: any ``If-Match`` is answered 412.
    """

    name: str = "conformant"
    sessions: bool = True
    basic: bool = True
    systems: int = 1
    media_at: str = "system"
    insert: str = "action"
    needs: tuple[str, ...] = ()
    insert_error: str = ""
    shows_inserted: bool = True
    eject_empty: int = 204
    eject_needs_body: bool = False
    eject_ignored: int = 0
    success_with_error: bool = False
    reset_types: tuple[str, ...] | None = ("On", "ForceOff", "GracefulShutdown", "ForceRestart", "PushPowerButton")
    soft_works: bool = True
    power_looks: int = 0
    power_state: str = ""
    boot_mode: str = "UEFI"
    boot_settings: str = ""
    boot_needs_mode: bool = False
    boot_targets: tuple[str, ...] = ("None", "Pxe", "Cd", "Hdd")
    etag: str | None = None
    body_etag: str | None = None
    etag_required: str | None = None
    etag_forbidden: bool = False


class Refused(Exception):
    """An error answer.

    Args:
        code: message id.
    """

    def __init__(self, status: int, code: str = "Base.1.12.GeneralError", *arguments: str) -> None:
        super().__init__(code)
        self.status = status
        info = {"MessageId": code, "Message": f"refused: {code}", "MessageArgs": list(arguments)}
        self.body: Body = {"error": {"code": code, "message": "refused", "@Message.ExtendedInfo": [info]}}


@dataclasses.dataclass
class Machine:
    """The server's state. `resets` are the reset types that had an effect or could have had one, in order."""

    profile: Profile = Profile()
    power: str = "Off"
    image: str = ""
    boot: Body = dataclasses.field(
        default_factory=lambda: {"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None"}
    )
    resets: list[str] = dataclasses.field(default_factory=list)
    inserts: list[Body] = dataclasses.field(default_factory=list)
    ejects: int = 0
    boot_patches: list[tuple[str, Body]] = dataclasses.field(default_factory=list)
    booted_from: str = ""
    _coming: str = ""
    _looks: int = 0

    def media_path(self) -> str:
        return f"{MANAGER if self.profile.media_at == 'manager' else SYSTEM}/VirtualMedia"

    def get(self, path: str) -> Body:
        path = path.rstrip("/") or "/"
        found = self._resources().get(path)
        if found is None:
            raise Refused(404, "Base.1.12.ResourceMissingAtURI", path)
        return copy.deepcopy({"@odata.id": path, **found})

    def post(self, path: str, body: Body | None) -> Body:
        if path == RESET:
            return self._reset((body or {}).get("ResetType"))
        media = f"{self.media_path()}/Cd/Actions/VirtualMedia."
        if path == media + "InsertMedia" and self.profile.insert == "action":
            return self._insert(body or {})
        if path == media + "EjectMedia" and self.profile.insert == "action":
            return self._eject(body)
        raise Refused(404, "Base.1.12.ResourceMissingAtURI", path)

    def patch(self, path: str, body: Body, if_match: str | None) -> Body:
        settings = f"{SYSTEM}/Settings"
        if path in (SYSTEM, settings):
            self._check_etag(if_match)
            wrong = self.profile.boot_settings == "required" and path == SYSTEM
            if wrong or (self.profile.boot_settings == "readonly" and path == settings):
                raise Refused(400, "Base.1.12.PropertyNotWritable", "BootSourceOverrideTarget")
            return self._boot(path, body)
        if path == f"{self.media_path()}/Cd" and self.profile.insert == "patch":
            return self._insert(body) if body.get("Image") else self._eject(body)
        raise Refused(405, "Base.1.12.OperationNotAllowed")

    def switch(self, power: str) -> None:
        if power == "On" and self.power != "On":
            target = self.boot.get("BootSourceOverrideTarget")
            active = self.boot.get("BootSourceOverrideEnabled") != "Disabled"
            self.booted_from = self.image if active and target in ("Cd", "UsbCd") else "disk"
            self.boot = {**self.boot, "BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None"}
        self.power, self._coming = power, ""

    def _reset(self, kind: Any) -> Body:
        allowed = self.profile.reset_types
        if kind not in (allowed or ("On", "ForceOff", "GracefulShutdown")):
            raise Refused(400, "Base.1.12.ActionParameterNotSupported", str(kind), "ResetType")
        self.resets.append(kind)
        if kind == "GracefulShutdown" and not self.profile.soft_works:
            return {}
        self._coming, self._looks = "On" if kind in ("On", "ForceOn") else "Off", self.profile.power_looks
        if not self._looks:
            self.switch(self._coming)
        return {}

    def _shown_power(self) -> Body:
        if self._coming:
            if self._looks <= 0:
                self.switch(self._coming)
            self._looks -= 1
        shown = f"Powering{self._coming}" if self._coming else self.power
        if self.profile.power_state == "missing":
            return {}
        return {"PowerState": self.profile.power_state or shown}

    def _insert(self, body: Body) -> Body:
        if self.profile.insert_error:
            raise Refused(400, self.profile.insert_error)
        for name in self.profile.needs:
            if name not in body:
                raise Refused(400, "Base.1.12.ActionParameterMissing", "InsertMedia", name)
        if self.image:
            raise Refused(400, "Base.1.12.ResourceInUse")
        self.inserts.append(body)
        if self.profile.success_with_error:
            return Refused(200, "iLO.2.14.ImageUrlInvalid").body
        self.image = str(body.get("Image") or "")
        return {}

    def _eject(self, body: Body | None) -> Body:
        if self.profile.eject_needs_body and body is None:
            raise Refused(400, "Base.1.12.MalformedJSON")
        if not self.image and self.profile.eject_empty >= 400:
            raise Refused(self.profile.eject_empty, "iLO.2.14.NoVMediaInserted")
        self.ejects += 1
        if self.ejects > self.profile.eject_ignored:
            self.image = ""
        return {}

    def _boot(self, path: str, body: Body) -> Body:
        change = body.get("Boot") or {}
        if self.profile.boot_needs_mode and "BootSourceOverrideMode" not in change:
            raise Refused(400, "Base.1.12.PropertyMissing", "BootSourceOverrideMode")
        if not self.profile.boot_mode and "BootSourceOverrideMode" in change:
            raise Refused(400, "Base.1.12.PropertyUnknown", "BootSourceOverrideMode")
        if change.get("BootSourceOverrideTarget") not in self.profile.boot_targets:
            raise Refused(400, "Base.1.12.PropertyValueNotInList")
        self.boot_patches.append((path, change))
        self.boot = {**self.boot, **change}
        return {}

    def _check_etag(self, given: str | None) -> None:
        wanted = self.profile.etag_required
        if self.profile.etag_forbidden and given is not None:
            raise Refused(412, "Base.1.12.PreconditionFailed")
        if wanted is not None and given != wanted:
            raise Refused(428 if given is None else 412, "Base.1.12.PreconditionRequired")

    def _resources(self) -> dict[str, Body]:
        links = [SYSTEM, *(f"/redfish/v1/Systems/{number}" for number in range(2, self.profile.systems + 1))]
        return {
            "/redfish/v1": self._root(),
            "/redfish/v1/Systems": members(*links),
            "/redfish/v1/Managers": members(MANAGER),
            SYSTEM: self._system(),
            f"{SYSTEM}/Settings": {"Boot": {} if self.profile.boot_settings == "readonly" else self._boot_shown()},
            MANAGER: {"Id": "1", **self._media_link("manager")},
            **self._media(),
            **HARDWARE,
        }

    def _root(self) -> Body:
        root: Body = {"Id": "RootService", "RedfishVersion": "1.15.0", "Links": {}}
        root |= {"Systems": {"@odata.id": "/redfish/v1/Systems"}, "Managers": {"@odata.id": "/redfish/v1/Managers"}}
        if self.profile.sessions:
            root["Links"] = {"Sessions": {"@odata.id": SESSIONS}}
        return root

    def _system(self) -> Body:
        reset: Body = {"target": RESET}
        if self.profile.reset_types is not None:
            reset["ResetType@Redfish.AllowableValues"] = list(self.profile.reset_types)
        body: Body = {
            "Id": "1",
            "Manufacturer": "Example",
            "Model": "Conformant 1",
            "SerialNumber": "SN1",
            "MemorySummary": {"TotalSystemMemoryGiB": 32},
            "ProcessorSummary": {"Count": 1, "LogicalProcessorCount": 16, "Model": "Example CPU"},
            "Boot": self._boot_shown(),
            "Actions": {"#ComputerSystem.Reset": reset},
            "Links": {"ManagedBy": [{"@odata.id": MANAGER}]},
            **{name: {"@odata.id": f"{SYSTEM}/{name}"} for name in ("EthernetInterfaces", "Storage", "Processors")},
            **self._media_link("system"),
            **self._shown_power(),
        }
        if self.profile.boot_settings:
            body["@Redfish.Settings"] = {"SettingsObject": {"@odata.id": f"{SYSTEM}/Settings"}}
        if self.profile.body_etag is not None:
            body["@odata.etag"] = self.profile.body_etag
        return body

    def _boot_shown(self) -> Body:
        boot = {**self.boot, "BootSourceOverrideTarget@Redfish.AllowableValues": list(self.profile.boot_targets)}
        if self.profile.boot_mode:
            boot.setdefault("BootSourceOverrideMode", self.profile.boot_mode)
        return boot

    def _media_link(self, where: str) -> Body:
        return {"VirtualMedia": {"@odata.id": self.media_path()}} if self.profile.media_at == where else {}

    def _media(self) -> dict[str, Body]:
        if self.profile.media_at == "none":
            return {}
        path = self.media_path()
        cd: Body = {"Id": "Cd", "MediaTypes": ["CD", "DVD"], "Image": self.image or None}
        if self.profile.shows_inserted:
            cd["Inserted"] = bool(self.image)
        if self.profile.insert == "action":
            names = ("InsertMedia", "EjectMedia")
            cd["Actions"] = {
                f"#VirtualMedia.{name}": {"target": f"{path}/Cd/Actions/VirtualMedia.{name}"} for name in names
            }
        floppy = {"Id": "Floppy", "MediaTypes": ["Floppy", "USBStick"], "Image": None, "Inserted": False}
        return {path: members(f"{path}/Floppy", f"{path}/Cd"), f"{path}/Floppy": floppy, f"{path}/Cd": cd}
