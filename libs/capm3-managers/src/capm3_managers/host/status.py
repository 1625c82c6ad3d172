"""The vocabulary of the steps for ``status``: entering a state, an error, no error, good credentials.

Apart from the steps, so that none writes an error or a time by hand.
"""

from __future__ import annotations

from capm3_api.model import Raw

from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.host import backoff, states
from capm3_managers.host.snapshot import Snapshot

_BOOT_MODE_STATES = (states.REGISTERING, states.INSPECTING, states.PROVISIONING)


def put(draft: Draft, patch: Raw) -> Draft:
    return draft.patch({"status": patch})


def enter(snapshot: Snapshot, draft: Draft, name: str, because: str) -> Draft:
    """Goes to another state and ends the pass; the next one looks at the server anew."""
    old, new = snapshot.state, states.of(name)
    history: Raw = {}
    if old.operation:
        history[old.operation] = {"end": draft.now}
    if new.operation:
        history[new.operation] = {"start": draft.now, "end": None}
    provisioning: Raw = {"state": name}
    if name in _BOOT_MODE_STATES:
        provisioning["bootMode"] = snapshot.host.spec.boot_mode or "UEFI"
    draft = put(draft, {"provisioning": provisioning, **({"operationHistory": history} if history else {})})
    return draft.fact("state", name).end(because, seconds=0.0)


def succeeded(draft: Draft) -> Draft:
    """No error, and none counted."""
    return put(cleared(draft), {"errorCount": 0})


def cleared(draft: Draft) -> Draft:
    """No error; the count stays until something is complete, so that the next error's pause goes on growing."""
    return put(draft, {"operationalStatus": "OK", "errorType": None, "errorMessage": ""})


def failed(snapshot: Snapshot, draft: Draft, error: str, message: str, env: Env) -> Draft:
    """One more error: writes it, counts it, and ends the pass with the growing pause."""
    count = snapshot.host.status.error_count + 1
    draft = put(draft, _error(error, message, count))
    seconds = backoff.pause(count, message, env)
    return draft.fact("error", error).end(message, seconds=seconds * (1.0 + 0.1 * env.rng.random()))


def refused(snapshot: Snapshot, draft: Draft, error: str, message: str, seconds: float | None = None) -> Draft:
    """Something a person has to change first: writes and counts it once, however many passes see it; ends the pass."""
    now = snapshot.host.status
    if (now.operational_status, now.error_type, now.error_message) != ("error", error, message):
        draft = put(draft, _error(error, message, now.error_count + 1))
    return draft.fact("error", error).end(message, seconds=seconds)


def _error(error: str, message: str, count: int) -> Raw:
    return {"operationalStatus": "error", "errorType": error, "errorMessage": message, "errorCount": count}
