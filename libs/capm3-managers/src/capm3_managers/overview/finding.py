"""The shape of an answer to "what does this object wait for?", and the answer that a condition gives.

Apart from the functions of the kinds, which stand on it in two files.
"""

from __future__ import annotations

import dataclasses

from capm3_api import condition
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import remedies

Target = tuple[Kind, Key]
"""An object by its kind and key."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """Args:
    what: condition with its reason, field, or state that says so.
    message: the object's own words.
    remedy: what to do; ``""`` when only an object behind knows.
    behind: the objects that this is about, the most likely first.
    since: RFC 3339, ``""`` when it is not known.
    """

    what: str
    message: str
    remedy: str = ""
    behind: tuple[Target, ...] = ()
    since: str = ""

    def of(self, *behind: Target) -> Finding:
        """The same, about these objects."""
        return dataclasses.replace(self, behind=behind)


def of_condition(obj: Raw, type_: str) -> Finding | None:
    """What a condition says: one that is False, or of the kinds where True is the trouble; ``None``: nothing."""
    found = condition.get(obj, type_) or {}
    trouble = "True" if type_ in ("Paused", "Deleting") else "False"
    if found.get("status") != trouble:
        return None
    reason, message = str(found.get("reason") or ""), str(found.get("message") or "")
    what = f"{type_} is {trouble}" + (f" ({reason})" if reason not in ("", type_) else "")
    return Finding(what, message, remedies.of(type_, reason, message), since=str(found.get("lastTransitionTime") or ""))
