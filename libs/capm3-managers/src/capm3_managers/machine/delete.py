"""Lets a machine go: its data first, then its host, then its finalizer; and names what it waits for.

Apart from the other steps, because it reads them backwards. It works from every state in which a machine can be left:
without host, with a host that was only claimed, in the midst of provisioning, with its Machine, Cluster or data template
gone already (report B38). Behaviour facts on CAPM3 5.2.12 and 5.2.13.
"""

from __future__ import annotations

from capm3_api import kinds, meta, names
from capm3_api.model import Raw

from capm3_managers import hosts, outcomes
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.machine import hostspec
from capm3_managers.machine.associate import secret_patch
from capm3_managers.machine.snapshot import Snapshot
from capm3_managers.plan import Delete, Patch

IDLE_STATES = ("", "unmanaged", "registering", "match profile", "inspecting", "ready", "available")
"""States in which nothing of the machine is left on the host's disk."""


def delete(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """The whole deletion; ends every pass over a machine that is being deleted."""
    if not snapshot.deleting:
        return draft
    if names.MACHINE_FINALIZER not in (snapshot.view.metadata.finalizers or []):
        return draft.end("nothing of ours is left on the Metal3Machine")
    waits = []
    for host in held(snapshot):
        draft, wait = _let_go(snapshot, host, draft, env)
        waits += [wait] if wait else []
    draft = _release_data(snapshot, draft)
    if waits:
        message = outcomes.again("deprovisioning BareMetalHost, requeuing") + f" ({', '.join(waits)})"
        return draft.wait(outcomes.DELETION_WAITS, message, seconds=env.settings.requeue_seconds)
    return (
        draft.outcome(outcomes.MACHINE_DELETING).without_finalizer(names.MACHINE_FINALIZER).end("the machine is gone")
    )


def is_idle(host: Raw) -> bool:
    """Whether the host has been cleaned, so that its consumer may leave."""
    state = hosts.state(host)
    if state == "externally provisioned":
        return hosts.part(host, "status").get("poweredOn") is not True
    return state in IDLE_STATES


def held(snapshot: Snapshot) -> list[Raw]:
    """Every host that has this machine as its consumer, whatever the annotation says."""
    found = {meta.key_of(host): host for host in snapshot.mine}
    if snapshot.host is not None and snapshot.holds_host:
        found[meta.key_of(snapshot.host)] = snapshot.host
    return [found[key] for key in sorted(found)]


def _let_go(snapshot: Snapshot, host: Raw, draft: Draft, env: Env) -> tuple[Draft, str]:
    """One step towards the host's release, and what is waited for now (``""``: nothing more)."""
    name = meta.key_of(host).name
    draft = _unlabel_secret(snapshot, host, draft)
    clear = hostspec.smallest(host, hostspec.deprovision(snapshot, host, env))
    if clear:
        return draft.act(hostspec.send(host, clear, missing_ok=True)), f'host {name} is "{hosts.state(host)}"'
    if not is_idle(host):
        return draft, f'host {name} is "{hosts.state(host)}"'
    patch = hostspec.smallest(host, hostspec.release(snapshot, host))
    return draft.act(hostspec.send(host, patch, missing_ok=True)) if patch else draft, ""


def _unlabel_secret(snapshot: Snapshot, host: Raw, draft: Draft) -> Draft:
    secret = snapshot.secret
    ours = secret is not None and hosts.labels(secret).get(names.CLUSTER_NAME_LABEL) == snapshot.cluster_name
    if not ours or meta.key_of(secret or {}).name != hosts.text(host, "spec", "bmc", "credentialsName"):
        return draft
    patch = secret_patch(secret, None)
    return draft.act(patch) if patch else draft


def _release_data(snapshot: Snapshot, draft: Draft) -> Draft:
    """Forgets the rendered data, and lets the data claim go."""
    spec = snapshot.view.spec
    gone = ["renderedData"]
    gone += ["metaData"] if spec.meta_data is None else []
    gone += ["networkData"] if spec.network_data is None else []
    draft = draft.patch({"status": dict.fromkeys(gone)})
    claim = snapshot.claim
    if claim is None:
        return draft
    key, finalizers = meta.key_of(claim), list(hosts.part(claim, "metadata").get("finalizers") or [])
    if names.MACHINE_FINALIZER in finalizers:
        finalizers.remove(names.MACHINE_FINALIZER)
        patch = {"metadata": {"finalizers": finalizers or None}}
        draft = draft.act(Patch(kinds.METAL3_DATA_CLAIM, key, patch, meta.version_of(claim), missing_ok=True))
    if hosts.part(claim, "metadata").get("deletionTimestamp"):
        return draft
    return draft.act(Delete(kinds.METAL3_DATA_CLAIM, key, meta.uid_of(claim)))
