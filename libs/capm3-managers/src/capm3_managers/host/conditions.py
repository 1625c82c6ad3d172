"""The closing step: the conditions that follow from the state, and the fields that a status must always have.

Pure table work, apart from the states' handlers so that no handler writes a condition (behaviour facts on the Baremetal
Operator, section 1.2).
"""

from __future__ import annotations

from typing import Any

from capm3_api import condition
from capm3_api.model import Raw

from capm3_managers import diff
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.host import states
from capm3_managers.host.snapshot import Snapshot

_REQUIRED: Raw = {
    "operationalStatus": "",
    "errorMessage": "",
    "errorCount": 0,
    "provisioningFailCount": 0,
    "poweredOn": False,
    "provisioning": {"state": "", "ID": "", "image": {"url": ""}},
    "goodCredentials": {},
    "triedCredentials": {},
    "operationHistory": {"register": {}, "inspect": {}, "provision": {}, "deprovision": {}},
}


def close(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Conditions and required fields; ``lastUpdated`` moves whenever the status does."""
    wanted = {**draft.wanted, "status": _filled(draft.wanted.get("status"), _REQUIRED)}
    for type_, state, reason, message in _rows(wanted["status"]):
        wanted = condition.set_condition(wanted, type_, state, reason, message, now=draft.now)
    if condition.get(wanted, "Healthy") is None:
        wanted = condition.set_condition(wanted, "Healthy", "Unknown", "Unknown", now=draft.now)
    before = dict((snapshot.observed or {}).get("status") or {})
    after = dict(wanted["status"])
    if diff.merge_patch(before, after):
        wanted = diff.apply(wanted, {"status": {"lastUpdated": draft.now}})
    return draft.patch({"status": None}).patch({"status": wanted["status"]})


def _rows(status: Raw) -> tuple[tuple[str, str, str, str], ...]:
    state = states.of(str((status.get("provisioning") or {}).get("state") or ""))
    operational, message = status.get("operationalStatus"), str(status.get("errorMessage") or "")
    broken, detached = operational == "error", operational == "detached"
    ready = ("True", "Provisioned") if state.provisioned else ("False", "NotProvisioned")
    if broken:
        ready = ("False", "Error")
    elif detached:
        ready = ("False", "Detached")
    progress = ("True", state.progress) if state.progress else ("False", "NotProgressing")
    if detached:
        progress = ("False", "Detached")
    return (
        ("Ready", *ready, message if broken else ""),
        ("AvailableForProvisioning", *(("True", "Available") if state.available else ("False", "NotAvailable")), ""),
        ("Manageable", *_manageable(state, status), message if broken else ""),
        ("Progressing", *progress, ""),
        ("Provisioned", *(("True", "Provisioned") if state.provisioned else ("False", "NotProvisioned")), ""),
    )


def _manageable(state: states.State, status: Raw) -> tuple[str, str]:
    unreachable = status.get("operationalStatus") == "error" and status.get("errorType") == states.REGISTRATION_ERROR
    if state.name == states.REGISTERING:
        return "False", "RegistrationFailed" if unreachable else "Registering"
    if not state.manageable:
        return "False", "NotManaged"
    return ("False", "PowerFailure") if unreachable else ("True", "Manageable")


def _filled(value: Any, required: Raw) -> Raw:
    """`value` with every required field that is missing, at all depths."""
    result = dict(value) if isinstance(value, dict) else {}
    for name, default in required.items():
        if isinstance(default, dict):
            result[name] = _filled(result.get(name), default)
        elif result.get(name) is None:
            result[name] = default
    return result
