"""The host's hardware: read from the BMC, or given by a person; kept in the status and in a HardwareData object."""

from __future__ import annotations

import json

from capm3_api import kinds, meta
from capm3_api.model import Raw

from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.host import states, status
from capm3_managers.host.snapshot import Snapshot
from capm3_managers.plan import Action, Create, Patch

INSPECT_ANNOTATION = "inspect.metal3.io"
DETAILS_ANNOTATION = "inspect.metal3.io/hardwaredetails"
HARDWARE_DATA_FINALIZER = "baremetalhost.metal3.io/hardwareData"


def is_disabled(snapshot: Snapshot) -> bool:
    by_annotation = snapshot.annotations.get(INSPECT_ANNOTATION) == "disabled"
    return snapshot.host.spec.inspection_mode == "disabled" or by_annotation


def is_asked_for(snapshot: Snapshot) -> bool:
    """Whether somebody wants an available host inspected again."""
    value = snapshot.annotations.get(INSPECT_ANNOTATION)
    return value is not None and value != "disabled" and not is_disabled(snapshot)


def given(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Hardware that a person gave, in a HardwareData of the host's name or in an annotation.

    The annotation goes once the status holds what it says, so that a crash in between loses nothing.
    """
    here = (snapshot.host.raw.get("status") or {}).get("hardware")
    if here is not None and not is_disabled(snapshot):
        return _drop_annotation(snapshot, draft)
    data = ((snapshot.hardware_data or {}).get("spec") or {}).get("hardware")
    hardware = data if isinstance(data, dict) else _annotated(snapshot)
    if hardware is None or hardware == here:
        return _drop_annotation(snapshot, draft)
    draft = status.put(status.put(draft, {"hardware": None}), {"hardware": hardware})
    return draft.end("hardware details taken over", seconds=0.0)


def inspecting(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    if is_disabled(snapshot):
        return status.enter(snapshot, draft, states.PREPARING, "inspection is disabled")
    hardware = snapshot.view.inventory
    if hardware is None:
        return status.failed(snapshot, draft, states.INSPECTION_ERROR, "Failed: the BMC gave no inventory", env)
    draft = draft.act(*_keep(snapshot, hardware))
    draft = status.put(status.put(draft, {"hardware": None}), {"hardware": hardware})
    if is_asked_for(snapshot):
        draft = draft.patch({"metadata": {"annotations": {INSPECT_ANNOTATION: None}}})
    for note in snapshot.view.notes:
        draft = draft.fact("note", note)
    return status.enter(snapshot, status.succeeded(draft), states.PREPARING, "hardware inspected")


def release(snapshot: Snapshot) -> tuple[Action, ...]:
    """Lets a HardwareData go that the Baremetal Operator made with its finalizer."""
    data = snapshot.hardware_data
    finalizers = ((data or {}).get("metadata") or {}).get("finalizers") or []
    if data is None or HARDWARE_DATA_FINALIZER not in finalizers:
        return ()
    kept = [one for one in finalizers if one != HARDWARE_DATA_FINALIZER]
    patch = {"metadata": {"finalizers": kept or None}}
    key, version = meta.key_of(data), meta.version_of(data)
    return (Patch(kinds.HARDWARE_DATA, key, patch, resource_version=version, missing_ok=True),)


def _keep(snapshot: Snapshot, hardware: Raw) -> tuple[Action, ...]:
    """Creates the HardwareData, or brings it up to date."""
    data = snapshot.hardware_data
    if data is None:
        return (Create(_hardware_data(snapshot, hardware), exists_ok=True),)
    old = (data.get("spec") or {}).get("hardware")
    if old == hardware:
        return ()
    gone = {name: None for name in old or {} if name not in hardware}
    patch = {"spec": {"hardware": {**gone, **hardware}}}
    key, version = meta.key_of(data), meta.version_of(data)
    return (Patch(kinds.HARDWARE_DATA, key, patch, resource_version=version),)


def _hardware_data(snapshot: Snapshot, hardware: Raw) -> Raw:
    key = snapshot.host.key
    obj = kinds.HARDWARE_DATA.new(key.namespace, key.name, spec={"hardware": hardware})
    obj["metadata"]["ownerReferences"] = [
        {
            "apiVersion": kinds.BARE_METAL_HOST.api_version,
            "kind": kinds.BARE_METAL_HOST.kind,
            "name": key.name,
            "uid": snapshot.host.metadata.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    return obj


def _annotated(snapshot: Snapshot) -> Raw | None:
    value = snapshot.annotations.get(DETAILS_ANNOTATION)
    try:
        found = json.loads(value) if value else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _drop_annotation(snapshot: Snapshot, draft: Draft) -> Draft:
    if DETAILS_ANNOTATION not in snapshot.annotations:
        return draft
    annotations = {DETAILS_ANNOTATION: None}
    return draft.patch({"metadata": {"annotations": annotations}}).end("hardware details annotation done", seconds=0.0)
