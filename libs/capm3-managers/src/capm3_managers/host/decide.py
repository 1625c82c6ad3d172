"""What to do about a host: the steps of every pass, then the handler of the state the host is in."""

from __future__ import annotations

from collections.abc import Mapping

from capm3_managers import draft
from capm3_managers.draft import Draft, Step
from capm3_managers.env import Env
from capm3_managers.host import conditions, credentials, delete, detach, inspect, prepare, provision, register, states
from capm3_managers.host import status as words
from capm3_managers.host.snapshot import Snapshot
from capm3_managers.plan import Hardware, Plan
from capm3_managers.ports import BmcFailure, BmcView

HANDLERS: Mapping[str, Step[Snapshot]] = {
    states.REGISTERING: register.registering,
    states.INSPECTING: inspect.inspecting,
    states.MATCH_PROFILE: prepare.match_profile,
    states.PREPARING: prepare.preparing,
    states.AVAILABLE: provision.available,
    states.READY: provision.available,
    states.PROVISIONING: provision.provisioning,
    states.PROVISIONED: provision.provisioned,
    states.EXTERNALLY_PROVISIONED: provision.externally_provisioned,
    states.DEPROVISIONING: provision.deprovisioning,
    states.POWERING_OFF: delete.powering_off,
}
"""By state; each ends the pass."""


def handle(snapshot: Snapshot, current: Draft, env: Env) -> Draft:
    handler = HANDLERS.get(snapshot.state.name)
    if handler is None or (snapshot.state.asks and not isinstance(snapshot.server, BmcView)):
        return current.end(f"nothing is done in state {snapshot.state.name!r}", seconds=env.settings.requeue_seconds)
    return handler(snapshot, current, env)


STEPS: tuple[Step[Snapshot], ...] = (
    register.restore,
    delete.delete,
    register.finalizer,
    register.discover,
    inspect.given,
    detach.detach,
    register.secret,
    register.contact,
    handle,
)
CLOSING: tuple[Step[Snapshot], ...] = (conditions.close,)


def decide(snapshot: Snapshot, env: Env) -> Plan:
    if snapshot.observed is None:
        return Plan(because="the host is gone")
    if credentials.is_paused(snapshot.annotations):
        return Plan(wanted=snapshot.observed, because="the host is paused")
    return draft.run(STEPS, CLOSING, snapshot, Draft.start(snapshot.observed, env), env)


def recover(snapshot: Snapshot, action: Hardware, failure: BmcFailure, env: Env) -> Plan:
    """An action on the server failed: the error goes into the status, and the host is left alone for a while."""
    if snapshot.observed is None:
        return Plan(because="the host is gone")
    message = f"{failure.reason}: {action.op}: {failure.message}"
    current = Draft.start(snapshot.observed, env)
    current = words.failed(snapshot, current, snapshot.state.error, message, env)
    return conditions.close(snapshot, current, env).plan()
