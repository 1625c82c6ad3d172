"""The steps of the Metal3Data manager: pause, delete, references, Secrets, claims, rendering.

Sources: the behaviour facts on CAPM3, 4.4 and 5.4. Not in this manager: the index and the object itself, which the data
template's manager makes, and the pools, which the pool's manager (or any other IPAM provider) serves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.model import Raw
from capm3_api.v1beta2.metal3datatemplate import Metal3DataTemplate, Metal3DataTemplateSpec

from capm3_managers import draft as drafting
from capm3_managers import objectnames, owners, pausing
from capm3_managers.data import addresses, claims, pools, release, report, secrets
from capm3_managers.data.objects import Objects
from capm3_managers.data.render.sources import Sources
from capm3_managers.data.report import Report, Unrenderable
from capm3_managers.data.snapshot import Snapshot
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.outcomes import Outcome
from capm3_managers.plan import Create, Plan

_MAKE_PROGRESS = frozenset({report.ADDRESS_NOT_ALLOCATED})
"""Reasons of waits that pass by themselves in a moment and are not worth a write."""


def decide(snapshot: Snapshot, env: Env) -> Plan:
    """What to do about one Metal3Data."""
    if snapshot.observed is None:
        why = "gave back claims of a Metal3Data that is gone" if snapshot.held else "gone"
        return Plan(actions=release.of(snapshot.held), because=why)
    return drafting.run(STEPS, (), snapshot, Draft.start(snapshot.observed, env), env)


def pause(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Nothing happens while the Cluster or the object is paused, or while there is no Cluster to serve."""
    if snapshot.cluster is None and not claims.is_leaving(draft.wanted):
        return draft.end("its Cluster is not there", seconds=env.settings.requeue_seconds)
    if snapshot.cluster is not None and pausing.is_paused(snapshot.cluster, draft.wanted):
        return draft.end("paused", seconds=env.settings.requeue_seconds)
    return draft


def delete(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Gives the addresses back once the machine's claim is gone; until then the machine still uses them."""
    if not claims.is_leaving(draft.wanted):
        return draft
    if snapshot.claim is not None:
        name = meta.key_of(snapshot.claim).name
        if not claims.is_leaving(snapshot.claim):
            text = f"deletion waits for Metal3DataClaim {name}: its Metal3Machine still uses this data"
            draft = _reported(draft, Report(report.DELETION_BLOCKED, text))
        return draft.end(f"waits for Metal3DataClaim {name} to go", seconds=env.settings.requeue_seconds)
    return draft.act(*release.of(snapshot.held)).without_finalizer(names.DATA_FINALIZER).end("gave everything back")


def outlived(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Data whose claim is being deleted will be deleted too, by the template's manager: nothing is made or said any more."""
    if snapshot.claim is not None and claims.is_leaving(snapshot.claim):
        return draft.end(f"its Metal3DataClaim {meta.key_of(snapshot.claim).name} is being deleted")
    return draft


def finalizer(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    return draft.with_finalizer(names.DATA_FINALIZER)


def references(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Template, claim and Metal3Machine must be there, in this namespace, and belong together."""
    spec = draft.wanted.get("spec") or {}
    template, claim = spec.get("template") or {}, spec.get("claim") or {}
    if not template.get("name"):
        return _not_ready(draft).end("spec.template.name is not set")
    try:
        _same_namespace(draft.wanted, "template", template)
        _there(snapshot.template, "Metal3DataTemplate is not found, requeuing")
        if not claim.get("name"):
            raise report.refuse(report.REFERENCE_INVALID, "Metal3DataClaim name not set", "spec.claim.name is not set")
        _same_namespace(draft.wanted, "claim", claim)
        owner = _there(snapshot.claim, f"Metal3DataClaim {claim['name']} is not found, requeuing")
        if owners.reference(owner, kinds.METAL3_MACHINE) is None:
            raise report.refuse(report.REFERENCE_INVALID, "metal3Machine not found in owner references")
        machine = _there(snapshot.metal3machine, "Metal3Machine is not found, requeuing")
        _uses_template(machine, draft.wanted)
    except Unrenderable as reason:
        return _stopped(draft, reason, env)
    return draft


def secret_names(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Writes down how the Secrets are called, for the machine's manager and for later passes."""
    data, machine = draft.wanted, snapshot.metal3machine or {}
    for part in secrets.wanted(snapshot.template or {}):
        if (data.get("spec") or {}).get(part.field) is None:
            ref = {"name": secrets.name_of(part, data, machine), "namespace": meta.key_of(data).namespace}
            draft = draft.patch({"spec": {part.field: ref}})
    return draft


def existing_secrets(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Ready when nothing is missing; an existing Secret is used as it is."""
    foreign = [secret for secret in snapshot.secrets.values() if secrets.is_foreign(secret, draft.wanted)]
    if foreign:
        text = f"Secret {meta.key_of(foreign[0]).name} belongs to another Metal3Data; waiting until it is gone"
        return _stopped(draft, Unrenderable("", Report(report.SECRET_NOT_OURS, text), waits=True), env)
    if len(snapshot.secrets) == len(secrets.wanted(snapshot.template or {})):
        return _ready(draft)
    return draft


def host(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Rendering needs the Machine and the host."""
    try:
        _there(snapshot.machine, "waiting for Machine Controller to set OwnerRef on Metal3Machine")
        _there(snapshot.host, "waiting for BareMetalHost to become available")
    except Unrenderable as reason:
        return _stopped(draft, reason, env)
    return draft


def claim(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Makes the claims that are missing, and gets rid of those that an earlier object left under the same name."""
    try:
        pools.wanted(_spec(snapshot), _around(snapshot))
    except Unrenderable as reason:
        return _stopped(draft, reason, env)
    data = draft.wanted
    by_host = meta.key_of(snapshot.host or {}).name if env.settings.bmh_name_based_preallocation else ""
    missing = [claims.new(data, item.pool, by_host) for item in snapshot.claims if item.found is None]
    unnameable = [name for name in (meta.key_of(item).name for item in missing) if not objectnames.is_valid(name)]
    if unnameable:
        text = f"claim {unnameable[0][:80]}... would have a name of {len(unnameable[0])} characters; shorten the pool's"
        return _stopped(draft, report.refuse(report.POOL_NAME_INVALID, text), env)
    stale = [item.found for item in snapshot.claims if item.found is not None and _is_stale(item, data)]
    if not missing and not stale:
        return draft
    draft = draft.act(*(Create(item, exists_ok=True) for item in missing), *release.of(stale))
    text = "claimed addresses from " + pools.names(item.pool for item in snapshot.claims)
    return _not_ready(draft).end(text, seconds=env.settings.requeue_seconds)


def render(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Renders what is missing; the metadata is written even when the network data can't be."""
    data = draft.wanted
    try:
        found = addresses.collect(snapshot.claims, data)
        index = (data.get("spec") or {}).get("index") or 0
        sources = Sources(meta.key_of(data).namespace, index, _around(snapshot), found)
        for part in secrets.wanted(snapshot.template or {}):
            if part.field not in snapshot.secrets:
                text = secrets.text(part, _spec(snapshot), sources)
                draft = draft.act(Create(secrets.new(part, text, data, sources)))
    except Unrenderable as reason:
        return _stopped(draft, reason, env)
    return _ready(draft)


STEPS = (pause, delete, outlived, finalizer, references, secret_names, existing_secrets, host, claim, render)


def _spec(snapshot: Snapshot) -> Metal3DataTemplateSpec:
    """The template, typed.

    Raises:
        Unrenderable: a part of it can't be read.
    """
    template = Metal3DataTemplate.from_raw(snapshot.template or {})
    broken = [problem for problem in template.problems if problem.path.startswith("spec")]
    if broken:
        text = f"Metal3DataTemplate {template.metadata.name}: {broken[0].path}: {broken[0].message}"
        raise report.refuse(report.TEMPLATE_INVALID, text)
    return template.spec


def _around(snapshot: Snapshot) -> Objects:
    return Objects(snapshot.machine or {}, snapshot.metal3machine or {}, snapshot.host or {})


def _is_stale(item: claims.Claim, data: Raw) -> bool:
    found = item.found or {}
    leaving = item.pool.is_metal3 and claims.is_leaving(found) and not claims.is_ours(found, data)
    return claims.is_left_over(found, data) or (leaving and bool((found.get("metadata") or {}).get("finalizers")))


def _there(obj: Raw | None, missing: str) -> Raw:
    if obj is None:
        raise Unrenderable("", Report(report.ADDRESS_NOT_ALLOCATED, missing), waits=True)
    return obj


def _same_namespace(data: Raw, field: str, ref: Mapping[str, Any]) -> None:
    namespace = meta.key_of(data).namespace
    if ref.get("namespace") and ref["namespace"] != namespace:
        text = f"spec.{field} names namespace {ref['namespace']}; only objects of namespace {namespace} are used"
        raise report.refuse(report.REFERENCE_INVALID, text)


def _uses_template(machine: Raw, data: Raw) -> None:
    template = ((data.get("spec") or {}).get("template") or {}).get("name")
    ref = (machine.get("spec") or {}).get("dataTemplate") or {}
    if ref.get("name") != template or ref.get("namespace") not in (None, "", meta.key_of(data).namespace):
        name = meta.key_of(machine).name
        text = f"spec.dataTemplate of Metal3Machine {name} is not Metal3DataTemplate {template}"
        raise report.refuse(
            report.REFERENCE_INVALID, "metal3Machine associated with Metal3DataTemplate is not found", text
        )


def _stopped(draft: Draft, reason: Unrenderable, env: Env) -> Draft:
    """Ends the pass for a reason that rendering or claiming gave."""
    draft = _not_ready(draft, reason.error)
    outcome = Outcome("", "False", reason.report.reason, reason.report.message)
    if not reason.waits:
        return _reported(draft, reason.report).fail(outcome)
    if reason.report.reason not in _MAKE_PROGRESS:
        draft = _reported(draft, reason.report)
    else:
        draft = _unreported(draft)
    return draft.wait(outcome, seconds=env.settings.requeue_seconds)


def _ready(draft: Draft) -> Draft:
    return _unreported(draft.patch({"status": {"ready": True, "errorMessage": None}})).end("ready")


def _not_ready(draft: Draft, error: str = "") -> Draft:
    return draft.patch({"status": {"ready": False, "errorMessage": error[: report.LONGEST_ERROR] or None}})


def _reported(draft: Draft, reason: Report) -> Draft:
    return draft.patch({"metadata": {"annotations": {report.ANNOTATION: reason.to_text()}}})


def _unreported(draft: Draft) -> Draft:
    annotations = (draft.wanted.get("metadata") or {}).get("annotations") or {}
    if report.ANNOTATION not in annotations:
        return draft
    kept = {name: value for name, value in annotations.items() if name != report.ANNOTATION}
    if kept:
        return draft.patch({"metadata": {"annotations": {report.ANNOTATION: None}}})
    metadata = {name: value for name, value in draft.wanted["metadata"].items() if name != "annotations"}
    return dataclasses.replace(draft, wanted={**draft.wanted, "metadata": metadata})
