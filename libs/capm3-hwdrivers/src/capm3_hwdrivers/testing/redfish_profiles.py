"""How vendors' BMCs deviate, by name: the profiles that the driver has to stand, and faults of the line.

Data apart from the server, so that a new field report becomes a row. Sources: the field reports B46, B48 to B51.
"""

from __future__ import annotations

from capm3_hwdrivers.testing.redfish_machine import Profile
from capm3_hwdrivers.testing.redfish_server import Fault

MEDIA = (
    Profile("conformant"),
    Profile("basic-only", sessions=False),
    Profile("session-only", basic=False),
    Profile("needs-protocol", needs=("TransferProtocolType",)),
    Profile("needs-several", needs=("TransferProtocolType", "TransferMethod", "Inserted")),
    Profile("patch-only", insert="patch"),
    Profile("manager-only", media_at="manager"),
    Profile("no-inserted-property", shows_inserted=False),
    Profile("eject-needs-body", eject_needs_body=True),
    Profile("eject-404-when-empty", eject_empty=404),
    Profile("eject-400-when-empty", eject_empty=400),
)
"""On each of these an image can be inserted and ejected."""

BOOT = (
    Profile("no-mode", boot_mode=""),
    Profile("settings-required", boot_settings="required"),
    Profile("settings-readonly-boot", boot_settings="readonly"),
    Profile("usbcd-only", boot_targets=("None", "Pxe", "UsbCd", "Hdd")),
    Profile("needs-mode-with-target", boot_needs_mode=True),
    Profile("etag-strict", etag='"A1"', etag_required='"A1"'),
    Profile("etag-weak-wants-strong", etag='W/"A1"', etag_required='"A1"'),
    Profile("etag-weak-full", etag='W/"A1"', etag_required='W/"A1"'),
    Profile("etag-empty", etag="", etag_forbidden=True),
    Profile("etag-hates-it", etag='"A1"', etag_forbidden=True),
    Profile("etag-body-only", body_etag='W/"7"', etag_required='W/"7"'),
)
"""On each of these the CD can be made the next boot device."""

_SYS518 = "IDRAC.2.8.SYS518"
_ILO_STATE = "iLO.2.14.InvalidOperationForSystemState"
FAULTS: dict[str, tuple[Fault, ...]] = {
    "rst-3x": (Fault("rst", times=3),),
    "rst-after-reset": (Fault("rst-after", method="POST", path="Reset", times=1),),
    "rst-before-reset": (Fault("rst", method="POST", path="Reset", times=2),),
    "503-retry-after": (Fault("answer", status=503, headers=(("Retry-After", "1"),), times=2),),
    "503-on-reset": (
        Fault("answer", method="POST", path="Reset", status=503, headers=(("Retry-After", "1"),), times=1),
    ),
    "429": (Fault("answer", status=429, times=2),),
    "400-ilo-invalid-state-2x": (Fault("answer", method="POST", status=400, code=_ILO_STATE, times=2),),
    "500-sys518-3x": (Fault("answer", status=500, code=_SYS518, times=3),),
    "503-sys518-after-reset": (Fault("answer-after", method="POST", path="Reset", status=503, code=_SYS518, times=1),),
    "404-once-after-reset": (Fault("answer", method="GET", path="Systems/1$", status=404, after_post=True, times=1),),
}
"""Each passes by itself: with any of them an operation succeeds, and a power action has its effect exactly once."""
