"""Claims a host for a machine, by compare-and-swap, and keeps judging it after the pick.

Apart from `selection`, which only answers "which?". The order of the writes is what makes a crash harmless: first the
machine's annotation (conditional on the machine), then the host (conditional on the host). So a host never has a consumer
that does not know of it, and of two passes that want one host exactly one gets it (report B01). Behaviour facts on CAPM3
5.2.6; what a host may do after the pick: report B02 and its decision.
"""

from __future__ import annotations

from capm3_api import condition, kinds, meta, names
from capm3_api.model import Raw

from capm3_managers import hosts, outcomes
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.machine import hostspec, selection, userdata
from capm3_managers.machine.snapshot import Snapshot
from capm3_managers.outcomes import Outcome
from capm3_managers.plan import Patch

WORKING_STATES = ("", "ready", "available", "preparing", "provisioning", "provisioned")
"""States that a host with a consumer goes through in the normal course."""


def refused(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Nothing is claimed for a machine whose user data lies in another namespace (report B10)."""
    message = hostspec.foreign_user_data(snapshot)
    if message and not snapshot.settled:
        return draft.wait(outcomes.CROSS_NAMESPACE, message)
    return draft


def associate(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Gets the machine its host; a write ends the pass, and its event starts the next."""
    if not snapshot.annotation:
        return _adopt(snapshot, draft, env) if snapshot.mine else _choose(snapshot, draft, env)
    if snapshot.host_key is None:
        message = f'annotation {names.HOST_ANNOTATION} is "{snapshot.annotation}" instead of <namespace>/<host>'
        return draft.wait(outcomes.ASSOCIATION_FAILED, message)
    if snapshot.host is None:
        message = outcomes.again(f"BareMetalHost not found for machine {snapshot.key.name}")
        return draft.wait(snapshot.update_failed, message, seconds=env.settings.requeue_seconds)
    if snapshot.holds_host:
        return _confirm(snapshot, draft, env)
    return _contested(snapshot, snapshot.host, draft, env)


def watch_over(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Says when the host is not what it was when it was picked; nothing is released or wiped because of it."""
    found = _trouble(snapshot.host or {})
    if found is None:
        return _associated(snapshot, draft)
    outcome, message = found
    draft = draft.outcome(outcome, message).again(env.settings.requeue_seconds)
    return draft.end() if outcome is outcomes.HOST_EXTERNALLY_PROVISIONED else draft


def secret_patch(secret: Raw | None, cluster_name: str | None) -> Patch | None:
    """Marks the credentials Secret as the cluster's, so that ``clusterctl move`` takes it along; ``None``: as it should be.

    Args:
        cluster_name: ``None`` takes the mark away.
    """
    if secret is None or hosts.labels(secret).get(names.CLUSTER_NAME_LABEL) == cluster_name:
        return None
    patch = {"metadata": {"labels": {names.CLUSTER_NAME_LABEL: cluster_name}}}
    return Patch(kinds.SECRET, meta.key_of(secret), patch, meta.version_of(secret), missing_ok=True)


def _choose(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    choice = snapshot.choice
    if choice is None or choice.host is None:
        return _no_host(snapshot, draft, env)
    if not selection.is_still_right(choice):
        return draft.end(f"host {meta.key_of(choice.host).name} was taken or changed meanwhile", seconds=1)
    outcome = outcomes.ASSOCIATED_BY_REUSE if choice.via_reuse else outcomes.ASSOCIATED_OK
    return _claim(snapshot, draft, choice.host, (outcome, choice.note))


def _no_host(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    if snapshot.choice is not None and snapshot.choice.problem:
        return draft.wait(outcomes.ASSOCIATION_FAILED, snapshot.choice.problem)
    note = snapshot.choice.note if snapshot.choice else ""
    message = outcomes.again("no available host found. Requeuing") + (f" ({note})" if note else "")
    missing = snapshot.choice is not None and snapshot.choice.domain_missing
    outcome = outcomes.NO_HOST_IN_DOMAIN if missing else outcomes.NO_HOST
    return draft.wait(outcome, message, seconds=env.settings.requeue_seconds)


def _adopt(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """A host names the machine already: after a crash of the Go program, or by a person's hand."""
    host = min(snapshot.mine, key=meta.key_of)
    return _name(draft, host).guard().end(f"host {meta.key_of(host).name} already has this machine as its consumer")


def _contested(snapshot: Snapshot, host: Raw, draft: Draft, env: Env) -> Draft:
    """The machine names a host that does not (yet, or no more) have it as consumer."""
    name = meta.key_of(host).name
    taken = hosts.consumer(host)
    if taken is None:
        wrong = "" if snapshot.was_associated else hosts.refusal(host)
        if not wrong:
            return _claim(snapshot, draft, host, (outcomes.ASSOCIATED_OK, ""))
        message = f"host {name} is {wrong}; remove annotation {names.HOST_ANNOTATION} to have another one chosen"
        return draft.wait(outcomes.ASSOCIATION_FAILED, message, seconds=env.settings.requeue_seconds)
    if snapshot.was_associated:
        message = f"host {name} has the consumer {taken.get('kind')} {taken.get('name')} instead of this machine"
        return draft.wait(outcomes.HOST_TAKEN, message, seconds=env.settings.requeue_seconds)
    gone = draft.patch({"metadata": {"annotations": {names.HOST_ANNOTATION: None}}}).guard()
    return gone.end(
        f"host {name} was claimed by {taken.get('kind')} {taken.get('name')}; another will be chosen", seconds=1
    )


def _claim(snapshot: Snapshot, draft: Draft, host: Raw, success: tuple[Outcome, str]) -> Draft:
    """The annotation, the claim, the Secret's label, in this order."""
    data = userdata.resolve(snapshot)
    ready = snapshot.view.spec.data_template is not None or hostspec.has_source(snapshot)
    if not ready and data:
        return draft.wait(outcomes.ASSOCIATION_FAILED, hostspec.no_source(snapshot))
    status: Raw = {**(draft.wanted.get("status") or {}), **({"userData": data} if data else {})}
    foreign = hostspec.foreign_data(snapshot, host, status) if snapshot.view.spec.data_template is None else ""
    if foreign:
        return draft.wait(outcomes.CROSS_NAMESPACE, foreign)
    draft = _name(draft, host).guard()
    if data:
        draft = draft.patch({"status": {"userData": data}})
    claim = hostspec.claim(snapshot, host, status)
    draft = draft.act(hostspec.send(host, hostspec.smallest(host, claim)))
    draft = _label_secret(snapshot, host, draft)
    return draft if draft.ended else draft.outcome(*success).end(f"claimed host {meta.key_of(host).name}")


def _confirm(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """The host is ours; finishes what a crash may have left undone."""
    host = snapshot.host
    assert host is not None
    draft = _name(draft, host)
    if snapshot.was_associated:
        return draft
    data = userdata.resolve(snapshot)
    if data:
        draft = draft.patch({"status": {"userData": data}})
    draft = _label_secret(snapshot, host, draft)
    if draft.ended:
        return draft
    labels = hostspec.claim(snapshot, host, {})["metadata"]
    patch = hostspec.smallest(host, {"metadata": labels})
    return (
        draft.act(hostspec.send(host, patch)).outcome(outcomes.ASSOCIATED_OK).end("labelled the host")
        if patch
        else draft
    )


def _label_secret(snapshot: Snapshot, host: Raw, draft: Draft) -> Draft:
    name = hosts.text(host, "spec", "bmc", "credentialsName")
    if name and snapshot.secret is None:
        message = f'secrets "{name}" not found'
        return draft.wait(outcomes.ASSOCIATION_FAILED, message, seconds=outcomes.REQUEUE_SECONDS)
    patch = secret_patch(snapshot.secret, snapshot.cluster_name)
    return draft.act(patch) if patch else draft


def _name(draft: Draft, host: Raw) -> Draft:
    return draft.patch({"metadata": {"annotations": {names.HOST_ANNOTATION: str(meta.key_of(host))}}})


def _associated(snapshot: Snapshot, draft: Draft) -> Draft:
    """True in both forms; a reason and a message that were told with the claim stay."""
    current = condition.get(draft.wanted, outcomes.ASSOCIATED)
    if current is not None and current.get("status") == "True":
        if condition.is_true_legacy(draft.wanted, outcomes.LEGACY_ASSOCIATED):
            return draft
        return draft.outcome(Outcome("", "True", "", legacy=outcomes.ASSOCIATED_OK.legacy))
    return draft.outcome(outcomes.ASSOCIATED_OK)


def _trouble(host: Raw) -> tuple[Outcome, str] | None:
    name, state = meta.key_of(host).name, hosts.state(host)
    if hosts.part(host, "spec").get("externallyProvisioned") is True or state == "externally provisioned":
        return (
            outcomes.HOST_EXTERNALLY_PROVISIONED,
            f"host {name} is externally provisioned; this machine needs another",
        )
    if hosts.part(host, "metadata").get("deletionTimestamp"):
        return outcomes.HOST_UNUSABLE, f"host {name} is being deleted"
    if hosts.text(host, "status", "errorMessage"):
        error = hosts.text(host, "status", "errorMessage")
        return outcomes.HOST_IN_ERROR, f"host {name} reports: {error}"
    if names.HOST_DETACHED_ANNOTATION in hosts.marks(host):
        return outcomes.HOST_UNUSABLE, f"host {name} is detached"
    if state not in WORKING_STATES:
        return outcomes.HOST_UNUSABLE, f'host {name} is in state "{state}"'
    return None
