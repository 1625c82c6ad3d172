"""Gets a machine its metadata and network data: Secrets named by the user, or rendered from a data template.

Apart from `hostspec`, which hands them to the host: here is only the waiting for them. The template is not read: a claim
is made, and the data template manager answers it with Metal3Data. Behaviour facts on CAPM3 5.2.10.
"""

from __future__ import annotations

import dataclasses

from capm3_api import kinds, meta, names
from capm3_api.external.core import SecretReference
from capm3_api.model import Raw

from capm3_managers import hosts, outcomes, owners
from capm3_managers.data import report
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.machine import userdata
from capm3_managers.machine.snapshot import Snapshot
from capm3_managers.plan import Create

_SECRETS = (("metaData", "meta_data"), ("networkData", "network_data"))


def own_secrets(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Takes over the Secrets that the spec names; one in another namespace is refused (report B10).

    Before the claim, since a machine without data template writes its host's whole spec with it.
    """
    for name, attribute in _SECRETS:
        reference: SecretReference | None = getattr(snapshot.view.spec, attribute)
        wrong = userdata.foreign(reference, snapshot.key.namespace, name)
        if wrong:
            return draft.wait(outcomes.METADATA_CROSS_NAMESPACE, wrong)
        if reference is not None:
            draft = draft.patch({"status": {name: None}}).patch({"status": {name: reference.to_raw()}})
    return draft


def template_namespace(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Fills in ``spec.dataTemplate.namespace``; before the claim, so that both are one write."""
    template = snapshot.view.spec.data_template
    if template is None or template.namespace or snapshot.view.status.rendered_data is not None:
        return draft
    return draft.patch({"spec": {"dataTemplate": {"namespace": snapshot.key.namespace}}})


def claim(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Makes the data claim, once."""
    template = snapshot.view.spec.data_template
    if template is None or snapshot.view.status.rendered_data is not None:
        return draft
    namespace = snapshot.key.namespace
    if template.namespace not in ("", namespace):
        message = (
            "spec.dataTemplate.namespace: cross-namespace template references are not allowed "
            f'(namespace "{template.namespace}" does not match "{namespace}")'
        )
        return draft.wait(outcomes.METADATA_CROSS_NAMESPACE, message)
    if not template.name:
        return draft.wait(outcomes.METADATA_FAILED, "spec.dataTemplate.name: must be set")
    return draft if snapshot.claim is not None else draft.act(Create(_claim(snapshot), exists_ok=True))


def rendered(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Waits for the claim's answer and for the Secrets, and takes them over where the user named none."""
    if snapshot.view.spec.data_template is None and snapshot.view.status.rendered_data is None:
        return draft
    reference = _answer(snapshot)
    if reference is None:
        return _wait(snapshot, draft, env, _claim_state(snapshot.claim))
    draft = draft.patch({"status": {"renderedData": reference}})
    data = snapshot.data
    if data is None:
        return _wait(snapshot, draft, env, "Metal3Data is not found, requeuing")
    if hosts.part(data, "status").get("ready") is not True:
        told = report.of(data)  # reason and details; errorMessage alone is short (report B26)
        reason = told.reason if told is not None else outcomes.WAITING_FOR_DATA.reason
        text = told.message if told is not None else hosts.text(data, "status", "errorMessage")
        draft = draft.outcome(dataclasses.replace(outcomes.WAITING_FOR_DATA, reason=reason), text)
        return _wait(snapshot, draft, env, "waiting for Metal3Data to become ready")
    for name, _ in _SECRETS:
        secret = hosts.text(data, "spec", name, "name")
        if secret and not (draft.wanted.get("status") or {}).get(name):
            draft = draft.patch({"status": {name: {"name": secret, "namespace": meta.key_of(data).namespace}}})
    return draft.outcome(outcomes.DATA_OK)


def _answer(snapshot: Snapshot) -> Raw | None:
    """``status.renderedData`` of the machine, else that of its claim."""
    known = snapshot.view.status.rendered_data
    if known is not None and known.name:
        return known.to_raw()
    claim = snapshot.claim
    if claim is None or hosts.part(claim, "metadata").get("deletionTimestamp"):
        return None
    name = hosts.text(claim, "status", "renderedData", "name")
    return {"name": name, "namespace": snapshot.key.namespace} if name else None


def _claim_state(claim: Raw | None) -> str:
    if claim is not None and hosts.part(claim, "metadata").get("deletionTimestamp"):
        return f"Metal3DataClaim {meta.key_of(claim).name} of an earlier machine is still being deleted"
    error = hosts.text(claim or {}, "status", "errorMessage")
    return "waiting for Metal3DataTemplate to be available" + (f" ({error})" if error else "")


def _wait(snapshot: Snapshot, draft: Draft, env: Env, text: str) -> Draft:
    return draft.wait(snapshot.update_failed, outcomes.again(text), seconds=env.settings.requeue_seconds)


def _claim(snapshot: Snapshot) -> Raw:
    machine = snapshot.observed or {}
    template = snapshot.view.spec.data_template
    assert template is not None
    claim = kinds.METAL3_DATA_CLAIM.new(
        snapshot.key.namespace,
        snapshot.key.name,
        spec={"template": {"name": template.name, "namespace": snapshot.key.namespace}},
    )
    claim["metadata"]["finalizers"] = [names.MACHINE_FINALIZER]
    claim["metadata"]["ownerReferences"] = [owners.make(machine, controller=True)]
    if hosts.labels(machine):
        claim["metadata"]["labels"] = dict(hosts.labels(machine))
    return claim
