"""The steps of the IPPool manager: belong to the Cluster, pause, take addresses back, give addresses, let the pool go.

Sources: the behaviour facts on IPAM, 3. One manager serves the claims of both kinds, so that they can't be given the same
address; the Go program has two that race.
"""

from __future__ import annotations

from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.model import Raw

from capm3_managers import draft as drafting
from capm3_managers import owners, pausing
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.ippool import allocate, flavours, ranges, release, serve
from capm3_managers.ippool.allocate import Stock
from capm3_managers.ippool.ranges import IP
from capm3_managers.ippool.snapshot import Part, Snapshot
from capm3_managers.plan import Plan

PROVIDER_LABEL = "cluster.x-k8s.io/provider"
PROVIDER = "ipam-metal3"


def decide(snapshot: Snapshot, env: Env) -> Plan:
    """What to do about one IPPool and its claims."""
    if snapshot.observed is None:
        actions = tuple(action for part in snapshot.parts for action in release.of(part))
        return Plan(actions=actions, because="took back addresses of a pool that is gone" if actions else "gone")
    return drafting.run(STEPS, (), snapshot, Draft.start(snapshot.observed, env), env)


def cluster(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """A pool with ``spec.clusterName`` belongs to that Cluster, and waits for it."""
    name = (draft.wanted.get("spec") or {}).get("clusterName")
    if not name:
        return draft
    labels = {names.CLUSTER_NAME_LABEL: str(name), PROVIDER_LABEL: PROVIDER}
    draft = draft.patch({"metadata": {"labels": labels}})
    if snapshot.cluster is not None:
        return draft.patch({"metadata": {"ownerReferences": _owned(draft.wanted, snapshot.cluster)}})
    if _is_leaving(draft.wanted):
        return draft
    return draft.end(f"Cluster {name} is not there", seconds=env.settings.requeue_seconds)


def pause(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    if pausing.is_paused(snapshot.cluster, draft.wanted):
        return draft.end("paused", seconds=env.settings.requeue_seconds)
    return draft


def finalizer(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    return draft if _is_leaving(draft.wanted) else draft.with_finalizer(flavours.POOL_FINALIZER)


def take_back(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Addresses of deleted claims; they are free again in the pass that sees them gone."""
    return draft.act(*(action for part in snapshot.parts for action in release.of(part)))


def give(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Answers every claim, oldest first, and keeps the list of who has what.

    Claims that were answered before come first: theirs stays theirs, even if the address object was deleted by hand.
    """
    work = serve.Pass(draft.wanted, stock(snapshot, draft.wanted), env.rng, draft.now)
    entries: dict[str, str] = {}
    for part in snapshot.parts:
        for claim in sorted(part.claims, key=lambda item: not part.flavour.answer(item)):
            if _is_leaving(claim):
                held = _held(part, claim)
                if held is not None and not release.is_releasable(part.flavour, claim):
                    entries.setdefault(meta.key_of(claim).name, str(held))
                continue
            given, actions = serve.answer(work, part, claim)
            draft = draft.act(*actions)
            if given is not None:
                entries.setdefault(meta.key_of(claim).name, str(given))
    return _listed(draft, entries)


def finish(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Lets the pool go when no address is left."""
    if not _is_leaving(draft.wanted):
        return draft.end("claims are served")
    left = sum(len(part.addresses) for part in snapshot.parts)
    if left or draft.actions:
        return draft.end(f"waits for {left} addresses to be given back")
    return draft.without_finalizer(flavours.POOL_FINALIZER).end("nothing is left")


STEPS = (cluster, pause, finalizer, take_back, give, finish)


def stock(snapshot: Snapshot, pool: Raw) -> Stock:
    """What the pool can give out at the start of the pass."""
    taken: dict[IP, str] = {}
    for part in snapshot.parts:
        for address in part.addresses:
            _note(taken, address, f"{part.flavour.claim.kind} {part.flavour.claim_name(address)}")
    for address in snapshot.foreign:
        _note(taken, address, f"IPPool {flavours.METAL3.pool_name(address)}")
    reserved = {} if _is_leaving(pool) else allocate.reservations(pool)
    shuffled = (pool.get("spec") or {}).get("allocationStrategy") == "random"
    return Stock(ranges.of(pool), reserved, taken, shuffled=shuffled)


def _note(taken: dict[IP, str], address: Raw, holder: str) -> None:
    parsed = ranges.parse((address.get("spec") or {}).get("address"))
    if parsed is not None:
        taken[parsed] = holder


def _held(part: Part, claim: Raw) -> IP | None:
    name = meta.key_of(claim).name
    held = (item for item in part.addresses if part.flavour.claim_name(item) == name)
    return next((ranges.parse((item.get("spec") or {}).get("address")) for item in held), None)


def _owned(pool: Raw, owner: Raw) -> list[Raw]:
    """The owner references with the Cluster among them, its uid brought up to date."""
    wanted = {**owners.make(owner), "controller": False}
    result: list[Raw] = []
    for item in owners.references(pool):
        same = (meta.group_of(str(item.get("apiVersion") or "")), item.get("kind"), item.get("name"))
        if same == (kinds.CAPI, wanted["kind"], wanted["name"]):
            result.append(item if item.get("uid") == wanted["uid"] else {**item, "uid": wanted["uid"]})
        else:
            result.append(item)
    found = any(item.get("kind") == wanted["kind"] and item.get("uid") == wanted["uid"] for item in result)
    return result if found else [*result, wanted]


def _listed(draft: Draft, entries: dict[str, str]) -> Draft:
    """``status.indexes``; the time moves only with the list."""
    status: dict[str, Any] = draft.wanted.get("status") or {}
    if (status.get("indexes") or {}) == entries:
        if status.get("lastUpdated"):
            return draft
        created = (draft.wanted.get("metadata") or {}).get("creationTimestamp")
        return draft.patch({"status": {"lastUpdated": created or draft.now}})
    gone: dict[str, Any] = {name: None for name in status.get("indexes") or {} if name not in entries}
    return draft.patch({"status": {"indexes": {**gone, **entries} if entries else None, "lastUpdated": draft.now}})


def _is_leaving(obj: Raw) -> bool:
    return bool((obj.get("metadata") or {}).get("deletionTimestamp"))
