"""Metal3Remediation and its template between the versions (behaviour facts on CAPM3, section 2.9).

Apart from the machinery: this is the table of fields.
"""

from __future__ import annotations

from typing import Any

from capm3_api import duration
from capm3_api.conversion.machinery import (
    OMIT,
    ConversionError,
    Field,
    Shape,
    expect,
    nested,
    part,
    pointer,
    same,
    written,
)

_MOST = 2**31 - 1


def _to_seconds(value: Any) -> Any:
    """``5m0s`` -> 300; parts of a second are cut off, and nothing is left of less than one."""
    if value is OMIT:
        return OMIT
    try:
        whole = duration.seconds(expect(value, str))
    except duration.DurationError as error:
        raise ConversionError(str(error)) from None
    return max(-_MOST - 1, min(whole, _MOST)) or OMIT


def _to_text(value: Any) -> Any:
    return None if value is OMIT or not value else duration.text_of(expect(value, int))


STRATEGY = Shape((same("type"), same("retryLimit", int), Field("timeout", "timeoutSeconds", _to_seconds, _to_text)))
SPEC = Shape((part("strategy", STRATEGY, pointer),))
STATUS = Shape((same("phase"), same("retryCount", int), same("lastRemediated")))

REMEDIATION = Shape((part("spec", SPEC, written), part("status", STATUS, written)))
REMEDIATION_TEMPLATE = Shape(
    (
        nested("spec", Shape((nested("template", Shape((nested("spec", SPEC),))),))),
        nested("status", Shape((nested("status", STATUS),))),
    )
)
