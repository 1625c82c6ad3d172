"""What core does to a MachineDeployment: one MachineSet for each template it has had, rolled from old to new.

Left out: revisions history, rollout strategies other than RollingUpdate, in-place changes, remediation limits.
"""

from __future__ import annotations

import hashlib
import json

from capm3_api import condition, kinds, meta
from capm3_api.model import Raw

from capm3_testbed.capi import cluster as clusters
from capm3_testbed.capi import replicas, shapes
from capm3_testbed.capi.api import Core, at, deleting, mapping, name_of, number, put

FINALIZER = "cluster.x-k8s.io/machinedeployment"
HASH_LABEL = "machine-template-hash"
_REVISION = "machinedeployment.clusters.x-k8s.io/revision"


def reconcile(core: Core, deployment: Raw) -> None:
    """One pass over one MachineDeployment."""
    if deleting(deployment):
        _delete(core, deployment)
        return
    cluster = clusters.of(core, deployment)
    if cluster is None or shapes.paused(cluster, deployment):
        return
    deployment = _prepared(core, deployment, cluster)
    sets = _sets(core, deployment)
    current = next((item for item in sets if _matches(item, deployment)), None)
    if current is None:
        current = _create_set(core, deployment, len(sets) + 1)
        sets = [*sets, current]
    _roll(core, deployment, current, [item for item in sets if item is not current])
    _status(core, deployment, current)


def _prepared(core: Core, deployment: Raw, cluster: Raw) -> Raw:
    name = name_of(deployment)
    wanted = shapes.with_finalizer(deployment, FINALIZER)
    wanted = shapes.with_owner(wanted, shapes.owner_ref(kinds.CLUSTER, cluster))
    wanted = shapes.with_labels(wanted, shapes.cluster_label(name_of(cluster)))
    both = {**shapes.cluster_label(name_of(cluster))}
    if not mapping(wanted, "spec", "selector").get("matchLabels"):
        both[shapes.DEPLOYMENT_NAME_LABEL] = name
    for path in (("spec", "selector", "matchLabels"), ("spec", "template", "metadata", "labels")):
        wanted = put(wanted, {**mapping(wanted, *path), **both}, *path)
    wanted = put(wanted, number(wanted, 1, "spec", "replicas"), "spec", "replicas")
    saved = core.save(kinds.MACHINE_DEPLOYMENT, deployment, wanted)
    spec = mapping(saved, "spec", "template", "spec")
    for ref in (mapping(spec, "bootstrap", "configRef"), mapping(spec, "infrastructureRef")):
        if ref:
            replicas.adopt_template(core, cluster, meta.key_of(saved).namespace, ref)
    return saved


def _identity(template: Raw) -> Raw:
    """What of a machine template makes a new MachineSet when it changes."""
    spec = mapping(template, "spec")
    return {
        "infrastructureRef": mapping(spec, "infrastructureRef"),
        "configRef": mapping(spec, "bootstrap", "configRef"),
        "version": spec.get("version"),
        "failureDomain": spec.get("failureDomain"),
    }


def _matches(machine_set: Raw, deployment: Raw) -> bool:
    return _identity(mapping(machine_set, "spec", "template")) == _identity(mapping(deployment, "spec", "template"))


def _sets(core: Core, deployment: Raw) -> list[Raw]:
    found = core.api.list(kinds.MACHINE_SET, meta.key_of(deployment).namespace)
    mine = [item for item in found if (shapes.controller_of(item) or {}).get("uid") == meta.uid_of(deployment)]
    return sorted(mine, key=lambda item: (str(item["metadata"].get("creationTimestamp")), name_of(item)))


def _create_set(core: Core, deployment: Raw, revision: int) -> Raw:
    template = mapping(deployment, "spec", "template")
    digest = hashlib.sha256(json.dumps(_identity(template), sort_keys=True).encode()).hexdigest()[:10]
    label = {HASH_LABEL: f"{digest}-{core.suffix()}"}
    labels = {**mapping(template, "metadata", "labels"), shapes.DEPLOYMENT_NAME_LABEL: name_of(deployment), **label}
    spec = {
        "clusterName": mapping(deployment, "spec").get("clusterName"),
        "replicas": 0,
        "selector": {"matchLabels": {**mapping(deployment, "spec", "selector", "matchLabels"), **label}},
        "template": put(template, labels, "metadata", "labels"),
    }
    obj = kinds.MACHINE_SET.new(meta.key_of(deployment).namespace, f"{name_of(deployment)}-{core.suffix()}", spec=spec)
    obj["metadata"].update(
        labels={**labels, **shapes.cluster_label(str(spec["clusterName"]))},
        annotations={_REVISION: str(revision)},
        finalizers=["cluster.x-k8s.io/machineset"],
        ownerReferences=[shapes.owner_ref(kinds.MACHINE_DEPLOYMENT, deployment, controller=True)],
    )
    return core.api.create(obj)


def _limits(deployment: Raw) -> tuple[int, int]:
    """maxSurge and maxUnavailable as numbers; percentages are not known here and count as the defaults 1 and 0."""
    rolling = mapping(deployment, "spec", "rollout", "strategy", "rollingUpdate")
    return number(rolling, 1, "maxSurge"), number(rolling, 0, "maxUnavailable")


def _roll(core: Core, deployment: Raw, current: Raw, old: list[Raw]) -> None:
    desired = number(deployment, 1, "spec", "replicas")
    surge, unavailable = _limits(deployment)
    have_old = sum(number(item, 0, "spec", "replicas") for item in old)
    wanted_new = min(desired, max(desired + surge - have_old, 0)) if have_old else desired
    _scale(core, current, wanted_new)
    ready_new = number(current, 0, "status", "availableReplicas")
    excess = have_old - max(desired - unavailable - ready_new, 0)
    for item in old:
        size = number(item, 0, "spec", "replicas")
        take = min(size, max(excess, 0))
        _scale(core, item, size - take)
        excess -= take
        if size == 0 and not number(item, 0, "status", "replicas"):
            core.delete(kinds.MACHINE_SET, item)


def _scale(core: Core, machine_set: Raw, size: int) -> None:
    core.save(kinds.MACHINE_SET, machine_set, put(machine_set, size, "spec", "replicas"))


def _status(core: Core, deployment: Raw, current: Raw) -> None:
    sets = _sets(core, deployment)
    new = next((item for item in sets if meta.uid_of(item) == meta.uid_of(current)), current)
    wanted = deployment
    for field in ("replicas", "readyReplicas", "availableReplicas"):
        wanted = put(wanted, sum(number(item, 0, "status", field) for item in sets), "status", field)
    wanted = put(wanted, number(new, 0, "status", "replicas"), "status", "upToDateReplicas")
    wanted = put(wanted, deployment["metadata"].get("generation"), "status", "observedGeneration")
    desired = number(deployment, 1, "spec", "replicas")
    available = number(wanted, 0, "status", "availableReplicas")
    enough = available >= desired - _limits(deployment)[1]
    wanted = put(wanted, "Running" if enough and len(sets) == 1 else "ScalingUp", "status", "phase")
    why = str(
        (condition.get(new, "ScalingUp") or {}).get("message") or f"{available} available replicas, {desired} required"
    )
    wanted = condition.set_condition(
        wanted,
        "Available",
        "True" if enough else "False",
        "Available" if enough else "NotAvailable",
        "" if enough else why,
        now=core.now,
    )
    core.save(kinds.MACHINE_DEPLOYMENT, deployment, wanted)


def _delete(core: Core, deployment: Raw) -> None:
    sets = _sets(core, deployment)
    for item in sets:
        core.delete(kinds.MACHINE_SET, item)
    if not sets and at(deployment, "metadata", "finalizers"):
        core.save(kinds.MACHINE_DEPLOYMENT, deployment, shapes.without_finalizer(deployment, FINALIZER))
