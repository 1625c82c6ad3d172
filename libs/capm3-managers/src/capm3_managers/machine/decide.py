"""Decides what happens to a Metal3Machine: the steps in order are the manager.

Apart from the steps, so that this page is their table of contents. Behaviour facts on CAPM3, 4.2.
"""

from __future__ import annotations

from capm3_api import names

from capm3_managers import draft as drafts
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.machine import associate, data, delete, gate, hostspec, pause, providerid, status
from capm3_managers.machine.snapshot import Snapshot
from capm3_managers.plan import Plan


def decide(snapshot: Snapshot, env: Env) -> Plan:
    """The plan of one pass."""
    if snapshot.observed is None:
        return Plan(because="the Metal3Machine is gone")
    return drafts.run(STEPS, CLOSING, snapshot, Draft.start(snapshot.observed, env), env)


def finalizer(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Set before anything is claimed: the machine's own fields are always the first write of a pass."""
    return draft.with_finalizer(names.MACHINE_FINALIZER)


STEPS = (
    gate.owner,
    gate.readable,
    gate.failure_domain,
    gate.cluster,
    gate.infrastructure,
    gate.metal3_cluster,
    pause.host_pause,
    pause.paused,
    delete.delete,
    finalizer,
    gate.bootstrap,
    associate.refused,
    data.own_secrets,
    data.template_namespace,
    associate.associate,
    associate.watch_over,
    data.claim,
    data.rendered,
    hostspec.spec,
    status.addresses,
    providerid.provider_id,
    status.done,
)
CLOSING = (status.summary, status.last_updated)
