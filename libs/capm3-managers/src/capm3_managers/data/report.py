"""Why a Metal3Data is not ready: the reasons, and the annotation that carries reason and details to the Metal3Machine.

A Metal3Data has no conditions in its schema, only ``status.errorMessage``, whose texts are the Go program's wire contract
and too short to help (``NIC name not found eth9``). So the details travel in an annotation of ours, from which the
machine's manager takes the reason and message of its condition ``Metal3DataReady``.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

ANNOTATION = "capm3.metal3.io/data-rendered"
"""On a Metal3Data that is not ready for a reason that people should know; its value is JSON, see `Report`."""

HOST_INTERFACE_NOT_FOUND = "HostInterfaceNotFound"
HARDWARE_DETAILS_MISSING = "HardwareDetailsMissing"
MAC_ADDRESS_INVALID = "MACAddressInvalid"
ANNOTATION_NOT_FOUND = "AnnotationNotFound"
POOL_NOT_FOUND = "IPPoolNotFound"
POOL_NAME_INVALID = "PoolNameInvalid"
POOL_REFERENCES_CONFLICT = "PoolReferencesConflict"
CLAIM_NOT_OURS = "IPClaimNotOurs"
ADDRESS_NOT_ALLOCATED = "AddressNotAllocated"
TEMPLATE_INVALID = "TemplateInvalid"
REFERENCE_INVALID = "ReferenceInvalid"
SECRET_NOT_OURS = "SecretNotOurs"  # noqa: S105 (a reason, not a password)
DELETION_BLOCKED = "DeletionBlocked"

LONGEST_ERROR = 512
"""Characters of ``status.errorMessage`` that the schema takes."""


@dataclasses.dataclass(frozen=True)
class Report:
    """Args:
    reason: one of the constants above; fits as the reason of a condition.
    message: for people; names the objects and what to do.
    """

    reason: str
    message: str

    def to_text(self) -> str:
        return json.dumps({"reason": self.reason, "message": self.message}, sort_keys=True, ensure_ascii=False)


class Unrenderable(Exception):
    """The template can't be rendered for this machine; raised while rendering, caught by the step that renders.

    Args:
        error: for ``status.errorMessage``: the Go program's text where it has one.
        report: the details.
        waits: nothing is wrong, only not there yet: no error message, and no growing delay.
    """

    def __init__(self, error: str, report: Report, *, waits: bool = False) -> None:
        super().__init__(error)
        self.error = error
        self.report = report
        self.waits = waits


def refuse(reason: str, error: str, message: str = "") -> Unrenderable:
    """An error whose details are `message`, by default the error itself."""
    return Unrenderable(error, Report(reason, message or error))


def of(data: Mapping[str, Any] | None) -> Report | None:
    """What a raw Metal3Data reports; ``None`` when it reports nothing or somebody else wrote the annotation."""
    text = (((data or {}).get("metadata") or {}).get("annotations") or {}).get(ANNOTATION)
    try:
        value = json.loads(text) if text else None
    except (TypeError, ValueError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("reason"), str) or not value["reason"]:
        return None
    return Report(value["reason"], str(value.get("message") or ""))
