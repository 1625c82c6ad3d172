"""The steps of the Metal3DataTemplate manager: answer each claim with a Metal3Data, take them back, keep the index list.

Sources: the behaviour facts on CAPM3, 4.3 and 5.3. Each claim is served apart from the others: what is wrong with one is
written on that one. Not in this manager: rendering, which the Metal3Data's own manager does.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from capm3_api import meta, names
from capm3_api.model import Raw

from capm3_managers import draft as drafting
from capm3_managers import pausing
from capm3_managers.datatemplate import indexes, serve
from capm3_managers.datatemplate.snapshot import Snapshot
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.plan import Plan


def decide(snapshot: Snapshot, env: Env) -> Plan:
    """What to do about one Metal3DataTemplate and its claims."""
    if snapshot.observed is None:
        actions = tuple(action for item in serve.leaving(snapshot) for action in item)
        return Plan(actions=actions, because="took back data of a template that is gone" if actions else "gone")
    return drafting.run(STEPS, (), snapshot, Draft.start(snapshot.observed, env), env)


def pause(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Nothing happens while the template itself is paused."""
    if pausing.has_annotation(draft.wanted):
        return draft.end("paused", seconds=env.settings.requeue_seconds)
    return draft


def finalizer(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    return draft if _is_leaving(draft.wanted) else draft.with_finalizer(names.DATA_TEMPLATE_FINALIZER)


def take_back(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Deletes the data of claims that go, and lets claims go whose data is being deleted."""
    return draft.act(*(action for item in serve.leaving(snapshot) for action in item))


def give(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Answers every claim that has no data yet; claims of paused Clusters wait."""
    served = serve.waiting(snapshot)
    draft = draft.act(*served.actions)
    if served.paused:
        draft = draft.again(env.settings.requeue_seconds)
    entries = {**_entries(snapshot, draft.wanted), **served.given}
    return draft.fact("given", len(served.given)) if _same(draft.wanted, entries) else _listed(draft, entries)


def finish(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Lets the template go when nothing is left of it."""
    if not _is_leaving(draft.wanted):
        return draft.end("claims are served")
    if snapshot.claims or snapshot.datas:
        left = len(snapshot.claims) + len(snapshot.datas)
        return draft.end(f"waits for {left} claims and data to go", seconds=env.settings.requeue_seconds)
    return draft.without_finalizer(names.DATA_TEMPLATE_FINALIZER).end("nothing is left")


STEPS = (pause, finalizer, take_back, give, finish)


def _entries(snapshot: Snapshot, template: Raw) -> dict[str, int]:
    """Claim name -> index, from the data objects; entries of live claims whose data is not in the cache yet stay."""
    found = {serve.claim_name(data): serve.index_of(data) for data in snapshot.datas if not serve.is_let_go(data)}
    alive = {meta.key_of(claim).name for claim in snapshot.claims if not _is_leaving(claim)}
    known = {serve.claim_name(data) for data in snapshot.datas}
    for entry in indexes.listed(template):
        name = entry.get("name")
        if name in alive and name not in known:
            found[name] = entry.get("index")
    return {name: index for name, index in found.items() if name and index is not None}


def _same(template: Raw, entries: dict[str, int]) -> bool:
    status: dict[str, Any] = template.get("status") or {}
    listed = {entry.get("name"): entry.get("index") for entry in indexes.listed(template)}
    return listed == entries and bool(status.get("lastUpdated"))


def _listed(draft: Draft, entries: dict[str, int]) -> Draft:
    """Writes the list, sorted by index; the schema takes no empty one and no more than the limit."""
    ordered = sorted(entries.items(), key=lambda item: (item[1], item[0]))[: indexes.LIMIT]
    listed = [{"name": name, "index": index} for name, index in ordered]
    status = {"indexes": listed or None, "lastUpdated": draft.now}
    draft = draft.patch({"status": status})
    return dataclasses.replace(draft, because=f"{len(listed)} indexes in use")


def _is_leaving(obj: Raw) -> bool:
    return bool((obj.get("metadata") or {}).get("deletionTimestamp"))
