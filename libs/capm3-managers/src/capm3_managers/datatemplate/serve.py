"""Serves the claims of a template: makes a Metal3Data for each that waits, takes it back from each that goes.

Apart from the steps, because this is about one claim at a time, and works for claims whose template is gone as well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from capm3_api import kinds, meta, names
from capm3_api.meta import Kind
from capm3_api.model import Raw

from capm3_managers import objectnames, owners, pausing
from capm3_managers.datatemplate import indexes
from capm3_managers.datatemplate.snapshot import Snapshot
from capm3_managers.plan import Action, Create, Delete, Patch

NO_MACHINE = "metal3Machine not found in owner references"


@dataclasses.dataclass(frozen=True)
class Served:
    """Args:
    actions: in order, claim by claim.
    given: claim name -> index, for the claims that get data in this pass.
    paused: a claim was left alone because it or its Cluster is paused.
    """

    actions: tuple[Action, ...]
    given: dict[str, int]
    paused: bool


def waiting(snapshot: Snapshot) -> Served:
    """Answers the claims that have no data yet, oldest first."""
    alive = [claim for claim in snapshot.claims if not _is_leaving(claim) and not _is_served(claim)]
    ready = [claim for claim in alive if not _is_paused(snapshot, claim)]
    by_claim = {claim_name(data): data for data in snapshot.datas}
    new = [claim for claim in ready if meta.key_of(claim).name not in by_claim and _refusal(claim, snapshot) is None]
    used = {index for data in snapshot.datas if (index := index_of(data)) is not None}
    listed = indexes.listed(snapshot.observed or {})
    room = indexes.assign([meta.key_of(claim).name for claim in new], used | _reserved(snapshot, listed, by_claim))
    actions: list[Action] = []
    for claim in ready:
        name = meta.key_of(claim).name
        actions += _answer(snapshot, claim, by_claim.get(name), room.get(name))
    return Served(tuple(actions), room, len(ready) < len(alive))


def _reserved(snapshot: Snapshot, listed: list[Raw], by_claim: dict[str, Raw]) -> set[int]:
    """Indexes of live, served claims whose data the cache does not show yet."""
    served = {meta.key_of(claim).name for claim in snapshot.claims if _is_served(claim)}
    return {item["index"] for item in listed if item.get("name") in served - set(by_claim) and "index" in item}


def _answer(snapshot: Snapshot, claim: Raw, data: Raw | None, index: int | None) -> Iterator[Action]:
    refusal = _refusal(claim, snapshot)
    if data is None and index is None:
        text = refusal or (
            f"all {indexes.LIMIT} indexes of Metal3DataTemplate {_template_name(claim)} are in use; "
            "delete machines or use a second template"
        )
        yield from _status(claim, {"errorMessage": text})
        return
    yield from _with_finalizer(claim)
    if data is not None:
        name = meta.key_of(data).name
    else:
        made = new_data(snapshot, claim, index or 0)
        name = meta.key_of(made).name
        yield Create(made)
    ref = {"name": name, "namespace": meta.key_of(claim).namespace}
    yield from _status(claim, {"renderedData": ref, "errorMessage": None})


def new_data(snapshot: Snapshot, claim: Raw, index: int) -> Raw:
    """The Metal3Data that answers a claim; its name makes the index unique on the API server too."""
    key = meta.key_of(claim)
    template = _template_name(claim)
    machine = owners.reference(claim, kinds.METAL3_MACHINE) or {}
    labels = (claim.get("metadata") or {}).get("labels")
    data = kinds.METAL3_DATA.new(key.namespace, f"{template}-{index}")
    data["metadata"] |= {
        "finalizers": [names.DATA_CLAIM_FINALIZER],
        "ownerReferences": [
            owners.make({**claim, "apiVersion": kinds.METAL3_DATA_CLAIM.api_version}, controller=True),
            {
                "apiVersion": kinds.METAL3_MACHINE.api_version,
                "kind": kinds.METAL3_MACHINE.kind,
                "name": machine.get("name"),
                "uid": machine.get("uid"),
            },
        ],
        **({"labels": dict(labels)} if labels else {}),
    }
    data["spec"] = {
        "index": index,
        "template": {"name": template, "namespace": key.namespace},
        "claim": {"name": key.name, "namespace": key.namespace},
    }
    return data


def leaving(snapshot: Snapshot) -> Iterator[tuple[Action, ...]]:
    """What lets go of claims that are being deleted, and of data whose claim is gone; a tuple for each object."""
    for claim in snapshot.claims:
        if _is_leaving(claim):
            yield tuple(_take_back(snapshot, claim))
    known = {meta.key_of(claim).name for claim in snapshot.claims}
    for data in snapshot.datas:
        if _is_leaving(data) and claim_name(data) not in known:
            yield tuple(_let_go(data))


def _take_back(snapshot: Snapshot, claim: Raw) -> Iterator[Action]:
    """Deletes every data object of the claim, found by what was recorded and never by a made-up name (report B19)."""
    name = meta.key_of(claim).name
    rendered = ((claim.get("status") or {}).get("renderedData") or {}).get("name")
    for data in snapshot.datas:
        if claim_name(data) == name or (rendered and meta.key_of(data).name == rendered and not claim_name(data)):
            yield from _let_go(data)
            if not _is_leaving(data):
                yield Delete(kinds.METAL3_DATA, meta.key_of(data), meta.uid_of(data))
    finalizers = _finalizers(claim)
    if names.DATA_CLAIM_FINALIZER in finalizers:
        finalizers.remove(names.DATA_CLAIM_FINALIZER)
        yield _finalizers_patch(kinds.METAL3_DATA_CLAIM, claim, finalizers)
    if finalizers:  # else it is gone by now
        yield from _status(claim, {"renderedData": None, "errorMessage": None})


def _let_go(data: Raw) -> Iterator[Action]:
    finalizers = _finalizers(data)
    if names.DATA_CLAIM_FINALIZER in finalizers:
        finalizers.remove(names.DATA_CLAIM_FINALIZER)
        yield _finalizers_patch(kinds.METAL3_DATA, data, finalizers)


def claim_name(data: Raw) -> str:
    """The claim that a data object answers."""
    return str(((data.get("spec") or {}).get("claim") or {}).get("name") or "")


def index_of(data: Raw) -> int | None:
    """The object's index; absent means 0 once there is a claim, as the Go program reads it."""
    index = (data.get("spec") or {}).get("index")
    return index if isinstance(index, int) else 0 if claim_name(data) else None


def is_let_go(data: Raw) -> bool:
    """Whether the data was taken back already and only waits for its own end."""
    return _is_leaving(data) and names.DATA_CLAIM_FINALIZER not in _finalizers(data)


def _refusal(claim: Raw, snapshot: Snapshot) -> str | None:
    """Why a claim can't be served, until somebody changes it."""
    namespace = meta.key_of(claim).namespace
    asked = ((claim.get("spec") or {}).get("template") or {}).get("namespace")
    if asked and asked != namespace:
        return f"spec.template names namespace {asked}; only templates of namespace {namespace} are used"
    if owners.reference(claim, kinds.METAL3_MACHINE) is None:
        return NO_MACHINE
    if not objectnames.is_valid(f"{_template_name(claim)}-{indexes.LIMIT}"):
        return "the template's name is too long for those of its Metal3Data; rename it"
    return None


def _is_paused(snapshot: Snapshot, claim: Raw) -> bool:
    key = owners.cluster_key(claim)
    cluster = snapshot.clusters.get(key.name) if key else None
    return cluster is not None and pausing.is_paused(cluster, claim)


def _is_served(claim: Raw) -> bool:
    return bool((claim.get("status") or {}).get("renderedData"))


def _is_leaving(obj: Raw) -> bool:
    return bool((obj.get("metadata") or {}).get("deletionTimestamp"))


def _template_name(claim: Raw) -> str:
    return str(((claim.get("spec") or {}).get("template") or {}).get("name") or "")


def _finalizers(obj: Raw) -> list[str]:
    return list((obj.get("metadata") or {}).get("finalizers") or [])


def _with_finalizer(claim: Raw) -> Iterator[Action]:
    """Our finalizer, as a compare-and-swap: an outdated view of the claim fails here, before anything is made."""
    finalizers = _finalizers(claim)
    if names.DATA_CLAIM_FINALIZER not in finalizers:
        patch = {"metadata": {"finalizers": [*finalizers, names.DATA_CLAIM_FINALIZER]}}
        yield Patch(kinds.METAL3_DATA_CLAIM, meta.key_of(claim), patch, resource_version=meta.version_of(claim))


def _finalizers_patch(kind: Kind, obj: Raw, finalizers: list[str]) -> Patch:
    patch = {"metadata": {"finalizers": finalizers or None}}
    return Patch(kind, meta.key_of(obj), patch, resource_version=meta.version_of(obj), missing_ok=True)


def _status(claim: Raw, wanted: Raw) -> Iterator[Action]:
    """A patch of the claim's status, if that changes anything."""
    status = claim.get("status") or {}
    patch = {name: value for name, value in wanted.items() if status.get(name) != value}
    if patch:
        key = meta.key_of(claim)
        yield Patch(kinds.METAL3_DATA_CLAIM, key, {"status": patch}, subresource="status", missing_ok=True)
