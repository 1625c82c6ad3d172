"""The end of a host: what is on it is taken off, the server is switched off, and everything that holds it lets go."""

from __future__ import annotations

from capm3_api import names

from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.host import credentials, detach, inspect, power, states, status
from capm3_managers.host.snapshot import Snapshot

GIVE_UP_AFTER = 3
"""Errors after which a server that can't be reached is let go without being switched off."""

_AT_ONCE = (states.NONE, states.UNMANAGED, states.REGISTERING, states.DELETING)
_DEPLOYED = (states.PROVISIONING, states.PROVISIONED)
_GOING = (states.DEPROVISIONING, states.POWERING_OFF)


def delete(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """On the deletion of a host, decides how it goes; the handlers of its states do the rest."""
    if not snapshot.deleting:
        return draft
    if names.HOST_FINALIZER not in (snapshot.host.metadata.finalizers or []):
        return draft.end("the host is being deleted")
    arguments = detach.arguments(snapshot)
    if arguments is not None and arguments.get("deleteAction") == "delay":
        return draft.end("deletion waits: the host is detached with deleteAction delay")
    name = snapshot.state.name
    if arguments is not None or name in _AT_ONCE:
        return finish(snapshot, draft, "nothing is to be done on the server")
    if name in _DEPLOYED:
        return status.enter(snapshot, status.succeeded(draft), states.DEPROVISIONING, "the host is being deleted")
    if name not in _GOING:
        return status.enter(snapshot, status.succeeded(draft), states.POWERING_OFF, "the host is being deleted")
    if snapshot.host.status.error_count > GIVE_UP_AFTER:
        return finish(snapshot, draft, f"the server could not be cleared: {snapshot.host.status.error_message}")
    return draft


def powering_off(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    if snapshot.host.spec.disable_power_off:
        return finish(snapshot, draft, "spec.disablePowerOff keeps the server on")
    draft = power.towards(snapshot, draft, env, "off")
    return draft if draft.ended else finish(snapshot, draft, "the server is off")


def finish(snapshot: Snapshot, draft: Draft, because: str) -> Draft:
    """Lets go of the Secret, the HardwareData and the host."""
    release = credentials.release(snapshot.secret) if snapshot.secret is not None else None
    draft = draft.act(*inspect.release(snapshot), *(() if release is None else (release,)))
    return draft.without_finalizer(names.HOST_FINALIZER).end(f"the host is let go: {because}")
