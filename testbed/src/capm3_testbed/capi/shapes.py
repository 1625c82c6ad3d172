"""Owner references, finalizers, labels and clones as Cluster API core writes them; pure functions on raw objects.

Apart from the controllers, because Cluster, MachineSet, control plane and Machine controllers all shape objects alike.
"""

from __future__ import annotations

from collections.abc import Mapping

from capm3_api import meta, names
from capm3_api.meta import Kind
from capm3_api.model import Raw

from capm3_testbed.capi.api import deleting, mapping, name_of, put, text

SET_NAME_LABEL = "cluster.x-k8s.io/set-name"
DEPLOYMENT_NAME_LABEL = "cluster.x-k8s.io/deployment-name"
CONTROL_PLANE_NAME_LABEL = "cluster.x-k8s.io/control-plane-name"
SECRET_TYPE = "cluster.x-k8s.io/secret"  # noqa: S105 (a type of Secret, not a password)


def owner_ref(kind: Kind, owner: Raw, *, controller: bool = False) -> Raw:
    """An owner reference; a plain one has neither ``controller`` nor ``blockOwnerDeletion``."""
    ref: Raw = {"apiVersion": kind.api_version, "kind": kind.kind, "name": name_of(owner), "uid": meta.uid_of(owner)}
    if controller:
        ref.update(controller=True, blockOwnerDeletion=True)
    return ref


def owners(obj: Raw) -> list[Raw]:
    return list((obj.get("metadata") or {}).get("ownerReferences") or [])


def is_owner(ref: Raw, kind: Kind) -> bool:
    """Whether a reference is to this kind, in any version."""
    return ref.get("kind") == kind.kind and meta.group_of(str(ref.get("apiVersion") or "")) == kind.group


def owned_by(obj: Raw, owner: Raw) -> bool:
    return any(ref.get("uid") == meta.uid_of(owner) for ref in owners(obj))


def controller_of(obj: Raw) -> Raw | None:
    return next((ref for ref in owners(obj) if ref.get("controller")), None)


def with_owner(obj: Raw, ref: Raw) -> Raw:
    """The object with the reference in place of an older one to the same owner, other owners kept."""
    kept = [old for old in owners(obj) if not _same_owner(old, ref)]
    present = next((old for old in owners(obj) if _same_owner(old, ref)), None)
    if present == ref:
        return obj
    return put(obj, [*kept, ref], "metadata", "ownerReferences")


def without_owner_kinds(obj: Raw, *gone: Kind) -> Raw:
    """The object without references to these kinds."""
    kept = [ref for ref in owners(obj) if not any(is_owner(ref, kind) for kind in gone)]
    return obj if kept == owners(obj) else put(obj, kept, "metadata", "ownerReferences")


def _same_owner(left: Raw, right: Raw) -> bool:
    return (left.get("kind"), left.get("name")) == (right.get("kind"), right.get("name")) and meta.group_of(
        str(left.get("apiVersion") or "")
    ) == meta.group_of(str(right.get("apiVersion") or ""))


def labels_of(obj: Raw) -> dict[str, str]:
    return dict((obj.get("metadata") or {}).get("labels") or {})


def annotations_of(obj: Raw) -> dict[str, str]:
    return dict((obj.get("metadata") or {}).get("annotations") or {})


def with_labels(obj: Raw, wanted: Mapping[str, str]) -> Raw:
    merged = {**labels_of(obj), **wanted}
    return obj if merged == labels_of(obj) else put(obj, merged, "metadata", "labels")


def with_annotations(obj: Raw, wanted: Mapping[str, str]) -> Raw:
    merged = {**annotations_of(obj), **wanted}
    return obj if merged == annotations_of(obj) else put(obj, merged, "metadata", "annotations")


def finalizers(obj: Raw) -> list[str]:
    return list((obj.get("metadata") or {}).get("finalizers") or [])


def with_finalizer(obj: Raw, name: str) -> Raw:
    """The object with the finalizer; never added to one that is being deleted."""
    if name in finalizers(obj) or deleting(obj):
        return obj
    return put(obj, [*finalizers(obj), name], "metadata", "finalizers")


def without_finalizer(obj: Raw, name: str) -> Raw:
    left = [old for old in finalizers(obj) if old != name]
    return obj if left == finalizers(obj) else put(obj, left, "metadata", "finalizers")


def cluster_label(cluster: str) -> dict[str, str]:
    return {names.CLUSTER_NAME_LABEL: cluster}


def paused(cluster: Raw, obj: Raw) -> bool:
    """By the Cluster's spec or by the presence of the annotation, whatever its value."""
    return bool(mapping(cluster, "spec").get("paused")) or names.PAUSED_ANNOTATION in annotations_of(obj)


def clone(template: Raw, kind: Kind, name: str, *, extra: Raw, owner: Raw) -> Raw:
    """An object made from ``spec.template`` of a template object (contract on templates, cloning).

    Args:
        kind: of the template, ``...Template``.
        extra: ``labels`` and ``annotations`` laid over those of the template.
        owner: the only owner reference.
    """
    body = mapping(template, "spec", "template")
    template_name = name_of(template)
    cloned_from = {
        names.CLONED_FROM_NAME_ANNOTATION: template_name,
        names.CLONED_FROM_GROUP_KIND_ANNOTATION: kind.group_kind,
    }
    metadata = mapping(body, "metadata")
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind.removesuffix("Template"),
        **{key: value for key, value in body.items() if key != "metadata"},
        "metadata": {
            "name": name,
            "namespace": meta.key_of(template).namespace,
            "labels": {**mapping(metadata, "labels"), **mapping(extra, "labels")},
            "annotations": {**mapping(metadata, "annotations"), **mapping(extra, "annotations"), **cloned_from},
            "ownerReferences": [owner],
        },
    }


def reference(kind: Kind, name: str) -> Raw:
    """A contract reference: no namespace, no version."""
    return {"apiGroup": kind.group, "kind": kind.kind.removesuffix("Template"), "name": name}


def is_control_plane(machine: Raw) -> bool:
    return names.CONTROL_PLANE_LABEL in labels_of(machine)


def endpoint_valid(cluster: Raw) -> bool:
    endpoint = mapping(cluster, "spec", "controlPlaneEndpoint")
    return bool(text(endpoint, "host")) and bool(endpoint.get("port"))
