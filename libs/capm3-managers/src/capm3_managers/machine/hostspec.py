"""What a machine asks of its host: the patches for claim, provisioning and release hold only fields that we own.

Apart from the steps that send them, so that "which fields of a host do we write?" is answered by one file (report B07).
Behaviour facts on CAPM3 5.2.6 (steps 3 to 5), 5.2.8 and 5.2.13 (steps 4, 5, 8 to 10).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.model import Raw

from capm3_managers import diff, hosts, outcomes
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.machine import powerpolicy, userdata
from capm3_managers.machine.snapshot import Snapshot
from capm3_managers.plan import Patch

_DATA = ("userData", "metaData", "networkData")
"""Fields of a host that refer to Secrets, in the machine's status under the same names."""


def spec(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Writes image and data to the host, once; what the host has already is never changed."""
    host = snapshot.host
    if host is None:
        return draft
    status = draft.wanted.get("status") or {}
    if status.get("userData") and not has_image(host) and not has_source(snapshot):
        return draft.wait(snapshot.update_failed, no_source(snapshot))
    foreign = foreign_data(snapshot, host, status)
    if foreign:
        return draft.wait(snapshot.update_failed.but(outcomes.CROSS_NAMESPACE.reason), foreign)
    patch = smallest(host, deployment(snapshot, host, status))
    return draft.act(send(host, patch)) if patch else draft


def claim(snapshot: Snapshot, host: Raw, status: Mapping[str, Any]) -> Raw:
    """Makes the machine the host's consumer; without a data template the host can be provisioned at once.

    From the first moment the host must not be moved without its cluster; a host that somebody paused may be.
    """
    patch: Raw = {
        "metadata": {"labels": {names.CLUSTER_NAME_LABEL: snapshot.cluster_name, names.NODE_REUSE_LABEL: None}},
        "spec": {"consumerRef": _consumer(snapshot)},
    }
    if names.HOST_PAUSED_ANNOTATION not in hosts.marks(host):
        patch["metadata"]["annotations"] = {names.BLOCK_MOVE_ANNOTATION: ""}
    if snapshot.view.spec.data_template is None:
        patch["spec"].update(deployment(snapshot, host, status)["spec"])
    return patch


def deployment(snapshot: Snapshot, host: Raw, status: Mapping[str, Any]) -> Raw:
    """Image, data and power; and our reference in the form of today.

    Args:
        status: of the Metal3Machine as it will be.
    """
    view = snapshot.view.spec
    wanted: Raw = {"consumerRef": _consumer(snapshot), "online": True}
    if view.automated_cleaning_mode:
        wanted["automatedCleaningMode"] = view.automated_cleaning_mode
    if has_image(host) or not status.get("userData"):
        return {"spec": wanted}
    if view.image.url:
        wanted["image"] = _image(snapshot)
    if view.custom_deploy.method:
        wanted["customDeploy"] = {"method": view.custom_deploy.method}
    for field in _DATA:
        ref = hosts.part(status, field)
        if ref.get("name"):
            wanted[field] = {"name": ref["name"], "namespace": ref.get("namespace") or snapshot.key.namespace}
    return {"spec": wanted}


def deprovision(snapshot: Snapshot, host: Raw, env: Env) -> Raw:
    """Takes the image away, and exactly the references that this machine wrote (report B08)."""
    cleared: Raw = {"image": None, "customDeploy": None}
    status = hosts.part(snapshot.observed or {}, "status")
    for field in _DATA:
        ours, theirs = hosts.text(status, field, "name"), hosts.text(host, "spec", field, "name")
        if ours and ours == theirs:
            cleared[field] = None
    cleared["online"] = powerpolicy.online_after_release(host, fast_track=env.settings.fast_track)
    return {"spec": cleared}


def release(snapshot: Snapshot, host: Raw) -> Raw:
    """Gives the host back, or keeps it for the machine's owner if its template says so."""
    labels: Raw = {}
    if hosts.labels(host).get(names.CLUSTER_NAME_LABEL) == snapshot.cluster_name:
        labels[names.CLUSTER_NAME_LABEL] = None
    marks: Raw = {names.BLOCK_MOVE_ANNOTATION: None}
    if hosts.marks(host).get(names.HOST_PAUSED_ANNOTATION) == names.HOST_PAUSED_BY_US:
        marks[names.HOST_PAUSED_ANNOTATION] = None
    patch: Raw = {"metadata": {"labels": labels, "annotations": marks}, "spec": {"consumerRef": None}}
    cluster_stays = snapshot.cluster is not None and not hosts.part(snapshot.cluster, "metadata").get(
        "deletionTimestamp"
    )
    if snapshot.reuse.wanted and snapshot.reuse.name and cluster_stays:
        labels[names.NODE_REUSE_LABEL] = snapshot.reuse.name
        patch["spec"]["consumerRef"] = {
            "apiVersion": kinds.CLUSTER.api_version,
            "kind": kinds.CLUSTER.kind,
            "name": snapshot.cluster_name,
            "namespace": snapshot.key.namespace,
        }
    return patch


def send(host: Raw, patch: Raw, *, missing_ok: bool = False) -> Patch:
    """The patch as an action that fails if the host changed since it was read."""
    return Patch(kinds.BARE_METAL_HOST, meta.key_of(host), patch, meta.version_of(host), missing_ok=missing_ok)


def smallest(host: Raw, patch: Raw) -> Raw:
    """What of the patch is not so already."""
    return diff.merge_patch(host, diff.apply(host, patch))


def has_source(snapshot: Snapshot) -> bool:
    view = snapshot.view.spec
    return bool(view.image.url or view.custom_deploy.method)


def no_source(snapshot: Snapshot) -> str:
    return f"Metal3Machine {snapshot.key.name} has neither Image.URL nor CustomDeploy.Method configured"


def foreign_user_data(snapshot: Snapshot) -> str:
    """What is wrong with the user data's namespace; ``""`` when nothing is."""
    return userdata.foreign(snapshot.view.spec.user_data, snapshot.key.namespace, "userData")


def foreign_data(snapshot: Snapshot, host: Raw, status: Mapping[str, Any]) -> str:
    """What is wrong with data that the status names and that would go to the host; ``""`` when nothing is (report B10).

    The spec is refused earlier; a status can hold something else, since another may have written it.
    """
    if has_image(host) or not status.get("userData"):
        return ""
    for field in _DATA:
        if hosts.text(status, field, "namespace") not in ("", snapshot.key.namespace):
            name = meta.key_of(host).name
            return f"cross-namespace secret reference is not allowed for {field} on host {name}"
    return ""


def _consumer(snapshot: Snapshot) -> Raw:
    return {
        "apiVersion": kinds.METAL3_MACHINE.api_version,
        "kind": kinds.METAL3_MACHINE.kind,
        "name": snapshot.key.name,
        "namespace": snapshot.key.namespace,
    }


def has_image(host: Raw) -> bool:
    """Whether somebody said already what runs on the host."""
    return bool(hosts.part(host, "spec", "image") or hosts.part(host, "spec", "customDeploy"))


def _image(snapshot: Snapshot) -> Raw:
    """The host's form of the image; empty fields are left out, also the format, which the host's schema refuses empty."""
    image = snapshot.view.spec.image
    found = {
        "url": image.url,
        "checksum": image.checksum,
        "checksumType": image.checksum_type,
        "format": image.disk_format,
    }
    return {name: value for name, value in found.items() if value}
