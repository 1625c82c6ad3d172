"""Hosts that somebody else handles for a while: the detached annotation.

A detached host is neither looked at nor touched; its state stays as it is.
"""

from __future__ import annotations

import json

from capm3_api import names

from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.host import states, status
from capm3_managers.host.snapshot import Snapshot

DETACHED = "detached"


def arguments(snapshot: Snapshot) -> dict[str, object] | None:
    """The annotation's arguments, ``None`` without it; what can't be read counts as "no arguments"."""
    value = snapshot.annotations.get(names.HOST_DETACHED_ANNOTATION)
    if value is None:
        return None
    try:
        found = json.loads(value)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def wanted(snapshot: Snapshot) -> bool:
    """Whether the host is to be left alone in the state it is in; other states finish first unless forced."""
    found = arguments(snapshot)
    if found is None or snapshot.state.name == states.DELETING:
        return False
    return snapshot.state.name in states.POWER_MANAGED or found.get("force") is True


def detach(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    now = snapshot.host.status
    if wanted(snapshot):
        return status.put(draft, {"operationalStatus": DETACHED}).end("the host is detached")
    if now.operational_status == DETACHED:
        back = "error" if now.error_type else "OK"
        return status.put(draft, {"operationalStatus": back}).end("the host is no longer detached", seconds=0.0)
    return draft
