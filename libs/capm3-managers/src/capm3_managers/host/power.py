"""Brings a server's power where it should be, and keeps it as ``spec.online`` and the reboot annotations say.

A change is asked for once and then waited for; the condition PowerChanging remembers since when, so that neither a
restart nor an event in between repeats it, and a soft power off that never ends becomes a hard one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from capm3_api import condition

from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.host import backoff, states, status
from capm3_managers.host.snapshot import Snapshot
from capm3_managers.plan import Hardware

CHANGING = "PowerChanging"
REBOOT_ANNOTATION = "reboot.metal3.io"
REPEAT_SECONDS = 60.0
"""When a change that had no effect is asked for again."""
_ON, _SOFT, _HARD = "PoweringOn", "SoftPoweringOff", "PoweringOff"
_UNKNOWN_SECONDS = 15.0


def record(snapshot: Snapshot, draft: Draft) -> Draft:
    """``status.poweredOn`` as seen; a power state that is not plainly on or off changes nothing."""
    seen = snapshot.view.power
    return status.put(draft, {"poweredOn": seen == "on"}) if seen in ("on", "off") else draft


def towards(
    snapshot: Snapshot, draft: Draft, env: Env, goal: str, *, hard: bool = True, before: tuple[Hardware, ...] = ()
) -> Draft:
    """Ends the pass while the power is not at `goal` (``on`` or ``off``); goes on when it is.

    Args:
        before: done right before the power is changed.
    """
    seen = snapshot.view.power
    pending, since = _pending(snapshot, env)
    if seen == "off" == goal and pending == _ON and since < REPEAT_SECONDS:
        return draft.end("the server is powering on; that has to come to its end first", seconds=1.0)
    if seen == goal:
        return draft.patch(_without_change(draft))
    if seen == "unknown":
        return draft.end("the BMC does not say whether the power is on", seconds=_UNKNOWN_SECONDS)
    if goal == "off" and snapshot.host.spec.disable_power_off:
        message = "spec.disablePowerOff forbids to power the server off, which this needs; unset it"
        return status.refused(snapshot, draft, snapshot.state.error, message)
    wanted = _ON if goal == "on" else _HARD if hard or pending == _HARD else _SOFT
    limit = env.settings.host_soft_power_off_seconds if wanted == _SOFT else REPEAT_SECONDS
    if pending == wanted and since < limit:
        return draft.end(f"the server is {_words(wanted)}", seconds=1.0 if since < 15 else 5.0)
    if pending == _SOFT and wanted == _SOFT:
        wanted = _HARD
    return _ask(snapshot, draft, wanted, before)


def is_starting(snapshot: Snapshot) -> bool:
    """Whether a start is remembered that was asked for and whose end was not yet noticed."""
    found = condition.get(snapshot.host.raw, CHANGING) or {}
    return found.get("status") == "True" and found.get("reason") == _ON


def keep(snapshot: Snapshot, draft: Draft, env: Env, before_on: tuple[Hardware, ...] = ()) -> Draft:
    """Power management of a host that stays in its state; always ends the pass."""
    draft = record(snapshot, draft)
    wishes = list(_reboots(snapshot))
    if snapshot.view.power == "off" and REBOOT_ANNOTATION in snapshot.annotations:
        annotations = {REBOOT_ANNOTATION: None}
        return draft.patch({"metadata": {"annotations": annotations}}).end("the reboot's off is reached", seconds=0.0)
    rebooting = any(snapshot.state.provisioned or wish.get("force") is True for wish in wishes)
    if snapshot.host.spec.online and not rebooting:
        draft = towards(snapshot, draft, env, "on", before=before_on)
    else:
        failing = snapshot.host.status.error_type == states.POWER_ERROR
        hard = failing or any(wish.get("mode") == "hard" for wish in wishes)
        draft = towards(snapshot, draft, env, "off", hard=hard)
    if draft.ended:
        return draft
    if snapshot.host.status.error_type in (states.POWER_ERROR, states.REGISTRATION_ERROR, ""):
        draft = status.succeeded(draft)
    return draft.end(f"power is {snapshot.view.power}, as asked", seconds=env.settings.host_power_poll_seconds)


def _ask(snapshot: Snapshot, draft: Draft, wanted: str, before: tuple[Hardware, ...]) -> Draft:
    if wanted == _ON:
        action = Hardware(snapshot.bmc, "power-on")
    else:
        action = Hardware(snapshot.bmc, "power-off", (("mode", "soft" if wanted == _SOFT else "hard"),))
    draft = draft.act(*before, action).patch(_without_change(draft))
    changed = condition.set_condition(draft.wanted, CHANGING, "True", wanted, now=draft.now)
    return status.cleared(draft.patch(changed)).end(f"the server is {_words(wanted)}", seconds=1.0)


def _pending(snapshot: Snapshot, env: Env) -> tuple[str, float]:
    """What was asked for, and how many seconds ago."""
    found = condition.get(snapshot.host.raw, CHANGING) or {}
    if found.get("status") != "True":
        return "", 0.0
    return str(found.get("reason") or ""), backoff.age(str(found.get("lastTransitionTime") or ""), env)


def _without_change(draft: Draft) -> dict[str, object]:
    return condition.remove(draft.wanted, CHANGING)


def _reboots(snapshot: Snapshot) -> Iterator[dict[str, object]]:
    """The arguments of each reboot annotation; one that can't be read is a plain wish for a soft reboot."""
    for name, value in snapshot.annotations.items():
        if name == REBOOT_ANNOTATION or name.startswith(f"{REBOOT_ANNOTATION}/"):
            try:
                wish = json.loads(value) if value else {}
            except ValueError:
                wish = {}
            yield wish if isinstance(wish, dict) else {}


def _words(reason: str) -> str:
    return {_ON: "powering on", _SOFT: "shutting down", _HARD: "powering off"}[reason]
