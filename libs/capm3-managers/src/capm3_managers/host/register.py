"""From the first look at a host to a BMC that answers: finalizer, restored status, credentials, contact.

These steps run in every pass before the handler of the state, since a BMC that stops answering matters in each state.
"""

from __future__ import annotations

import json

from capm3_api import meta, names

from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.host import credentials, delete, states, status
from capm3_managers.host.snapshot import Snapshot
from capm3_managers.ports import BmcFailure


def restore(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """A host that was moved here carries its status in an annotation: taken over once, then removed."""
    value = snapshot.annotations.get(names.HOST_STATUS_ANNOTATION)
    if value is None:
        return draft
    if snapshot.host.status.last_updated is None:
        try:
            found = json.loads(value)
        except ValueError:
            found = None
        if isinstance(found, dict) and found:
            return draft.patch({"status": None}).patch({"status": found}).end("status restored", seconds=0.0)
    annotations = {names.HOST_STATUS_ANNOTATION: None}
    return draft.patch({"metadata": {"annotations": annotations}}).end("status annotation removed", seconds=0.0)


def finalizer(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    if snapshot.deleting or names.HOST_FINALIZER in (snapshot.host.metadata.finalizers or []):
        return draft
    return draft.with_finalizer(names.HOST_FINALIZER).end("finalizer added", seconds=0.0)


def discover(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Hosts without a BMC are known, but not managed; they become so when they get one."""
    if snapshot.state.name not in (states.NONE, states.UNMANAGED):
        return draft
    if credentials.is_managed(snapshot.host):
        draft = status.put(draft, {"operationalStatus": "OK"})
        return status.enter(snapshot, draft, states.REGISTERING, "the host has a BMC")
    if snapshot.state.name == states.UNMANAGED:
        return draft.end("the host has no BMC: spec.bmc is empty")
    draft = status.put(draft, {"operationalStatus": "discovered"})
    return status.enter(snapshot, draft, states.UNMANAGED, "the host has no BMC: spec.bmc is empty")


def secret(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Credentials that can't be used are a registration error; usable ones are tied to the host."""
    if snapshot.problem is not None:
        if snapshot.deleting:
            return delete.finish(snapshot, draft, f"without its BMC: {snapshot.problem.message}")
        return status.refused(
            snapshot, draft, states.REGISTRATION_ERROR, snapshot.problem.message, snapshot.problem.seconds
        )
    if snapshot.secret is None or snapshot.deleting:
        return draft
    claim = credentials.claim(snapshot.host, snapshot.secret)
    return draft if claim is None else draft.act(claim).end("credentials claimed", seconds=0.0)


def contact(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Whether the BMC answered. After an error it is left alone for a while."""
    if snapshot.wait > 0:
        return draft.end(f"waits after an error: {snapshot.host.status.error_message}", seconds=snapshot.wait + 0.1)
    if snapshot.server is None:
        return draft
    if snapshot.secret is not None:
        draft = status.put(draft, {"triedCredentials": credentials.reference(snapshot.secret)})
    if isinstance(snapshot.server, BmcFailure):
        message = f"{snapshot.server.reason}: {snapshot.server.message}"
        return status.failed(snapshot, draft, states.REGISTRATION_ERROR, message, env)
    if snapshot.secret is not None:
        draft = status.put(draft, {"goodCredentials": credentials.reference(snapshot.secret)})
    if snapshot.host.status.error_type == states.REGISTRATION_ERROR:
        draft = status.cleared(draft)
    return draft


def registering(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """The BMC answers: on to inspection, or past it."""
    host = snapshot.host
    profile = host.status.hardware_profile or host.spec.hardware_profile
    if not profile:
        profile = "libvirt" if host.spec.bmc.address.startswith("libvirt") else "unknown"
    draft = status.put(
        status.succeeded(draft),
        {"provisioning": {"ID": host.status.provisioning.id or meta.uid_of(host.raw)}, "hardwareProfile": profile},
    )
    if host.spec.externally_provisioned:
        return status.enter(snapshot, draft, states.EXTERNALLY_PROVISIONED, "the BMC answers")
    return status.enter(snapshot, draft, states.INSPECTING, "the BMC answers")
