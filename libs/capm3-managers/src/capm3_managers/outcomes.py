"""Every way a pass can end or wait, in one table: condition, reason, severity and default message.

No condition is written by hand elsewhere, so this file and the reference page made from it are all a user needs to know
about what the managers say. Texts that the Go program has too are its wire contract (behaviour facts, section 4).
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Legacy:
    """The same thing in the older form, under ``status.deprecated.v1beta1.conditions``."""

    type: str
    status: str
    reason: str = ""
    severity: str = ""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Args:
    type: condition type in ``status.conditions``; ``""`` when there is only the legacy form.
    status: ``True``, ``False`` or ``Unknown``.
    message: default message; the draft may give a better one.
    """

    type: str
    status: str
    reason: str
    message: str = ""
    legacy: Legacy | None = None
