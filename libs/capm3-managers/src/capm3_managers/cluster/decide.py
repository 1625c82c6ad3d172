"""Decides what happens to a Metal3Cluster: it is ready as soon as its endpoint is filled in, and goes last.

Apart from `observe`, which judges nothing. The steps in order are the manager; behaviour facts on CAPM3, 4.1 and 5.1.
"""

from __future__ import annotations

from capm3_api import kinds, meta, names
from capm3_api.model import Raw

from capm3_managers import draft as drafts
from capm3_managers import outcomes, pausing
from capm3_managers.cluster.snapshot import Snapshot
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.plan import Patch, Plan


def decide(snapshot: Snapshot, env: Env) -> Plan:
    """The plan of one pass."""
    if snapshot.observed is None:
        return Plan(because="the Metal3Cluster is gone")
    return drafts.run(STEPS, CLOSING, snapshot, Draft.start(snapshot.observed, env), env)


def failure_domains(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """``status.failureDomains`` is a copy of the spec's, whatever else holds."""
    spec, status = (draft.wanted.get(part) or {} for part in ("spec", "status"))
    if spec.get("failureDomains") == status.get("failureDomains"):
        return draft
    return draft.patch({"status": {"failureDomains": spec.get("failureDomains")}})


def owner(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Waits for the owner reference; a deletion waits for nobody (report B38)."""
    if snapshot.deleting:
        return draft
    if not snapshot.has_owner:
        return draft.end("waiting for the owner reference to a Cluster")
    if snapshot.cluster is None:
        message = f'the owner Cluster "{snapshot.cluster_name}" does not exist'
        return draft.fail(outcomes.CLUSTER_OWNER_LOST, message)
    return draft


def pause(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Stops while the Cluster or the object itself is paused."""
    assert snapshot.observed is not None
    message = pausing.message(snapshot.cluster, snapshot.observed)
    if message:
        return draft.wait(outcomes.PAUSED, message, seconds=env.settings.requeue_seconds)
    return draft if snapshot.deleting and snapshot.cluster is None else draft.outcome(outcomes.NOT_PAUSED)


def delete(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Goes when no machine of the cluster is left, and says which it waits for."""
    if not snapshot.deleting:
        return draft
    if not snapshot.guarded:
        return draft.end("nothing of ours is left on the Metal3Cluster")
    if snapshot.dependants:
        shown = ", ".join(sorted(snapshot.dependants)[:10])
        more = f" and {len(snapshot.dependants) - 10} more" if len(snapshot.dependants) > 10 else ""
        message = f"waiting for {shown}{more} to be deleted"
        return draft.wait(outcomes.CLUSTER_DELETING, message, seconds=env.settings.requeue_seconds)
    for host in snapshot.reserved_hosts:
        draft = draft.act(_release(host))
    return draft.without_finalizer(names.CLUSTER_FINALIZER).end("the last machine is gone")


def finalizer(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    return draft.with_finalizer(names.CLUSTER_FINALIZER)


def endpoint(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Judges ``spec.controlPlaneEndpoint``; nothing is created for it."""
    found = snapshot.view.spec.control_plane_endpoint
    missing = [] if found and found.host else ["ControlPlaneEndpoint.Host"]
    missing += [] if found and found.port else ["ControlPlaneEndpoint.Port"]
    if missing:
        message = f"missing fields from Spec: [{' '.join(missing)}]"
        failure = {"failureReason": "InvalidConfiguration", "failureMessage": "Invalid Metal3Cluster provided"}
        draft = draft.patch({"status": {"deprecated": {"v1beta1": failure}}})
        return draft.wait(outcomes.CLUSTER_INVALID, message)
    return draft


def ready(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Provisioned; a failure of earlier times is taken back (report B03)."""
    draft = draft.outcome(outcomes.CLUSTER_OK)
    draft = draft.patch({"status": {"initialization": {"provisioned": True}}})
    old = ((draft.wanted.get("status") or {}).get("deprecated") or {}).get("v1beta1") or {}
    gone = {name: None for name in ("failureReason", "failureMessage") if name in old}
    draft = draft.patch({"status": {"deprecated": {"v1beta1": gone}}}) if gone else draft
    return draft.end("the cluster's infrastructure is ready")


def summary(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Ready in both forms."""
    return draft.summarise(outcomes.CLUSTER_SUMMARY, outcomes.CLUSTER_SUMMARY)


def last_updated(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """``status.lastUpdated`` moves with a change of the status, once the cluster was ready; alone it is no change."""
    status = draft.wanted.get("status") or {}
    before = (snapshot.observed or {}).get("status") or {}
    if status == before or not (status.get("initialization") or {}).get("provisioned"):
        return draft
    return draft.patch({"status": {"lastUpdated": draft.now}})


def _release(host: Raw) -> Patch:
    """Takes the mark of node reuse off a host that no machine of this cluster can claim any more."""
    patch: Raw = {"metadata": {"labels": {names.NODE_REUSE_LABEL: None}}, "spec": {"consumerRef": None}}
    return Patch(kinds.BARE_METAL_HOST, meta.key_of(host), patch, meta.version_of(host), missing_ok=True)


STEPS = (failure_domains, owner, pause, delete, finalizer, endpoint, ready)
CLOSING = (summary, last_updated)
