"""When a demo counts as ready, and what its manifest asks for. Pure.

Apart from `capm3_managers.overview`, which says what each object waits for: this judges a whole run.
"""

from __future__ import annotations

from collections.abc import Sequence

from capm3_api import condition, kinds
from capm3_api.model import Raw
from capm3_managers.overview import tree
from capm3_managers.overview.objects import Objects

from capm3_testbed.capi.api import number, text

WATCHED = tree.KINDS


def ready(objects: Objects) -> bool:
    """Whether every Cluster is available and has all the machines it asks for, running."""
    clusters = objects.all(kinds.CLUSTER)
    owners = [*objects.all(kinds.KUBEADM_CONTROL_PLANE), *objects.all(kinds.MACHINE_DEPLOYMENT)]
    machines = objects.all(kinds.MACHINE)
    wanted = sum(number(owner, 1, "spec", "replicas") for owner in owners)
    return (
        bool(clusters)
        and all(condition.is_true(cluster, "Available") for cluster in clusters)
        and len(machines) >= wanted
        and all(text(machine, "status", "phase") == "Running" for machine in machines)
        and all(
            number(owner, 0, "status", "availableReplicas") >= number(owner, 1, "spec", "replicas") for owner in owners
        )
    )


def machines_wanted(manifest: Sequence[Raw]) -> int:
    """How many machines a manifest asks for."""
    scaled = ("KubeadmControlPlane", "MachineDeployment", "MachineSet")
    counted = sum(number(obj, 1, "spec", "replicas") for obj in manifest if obj["kind"] in scaled)
    return counted + sum(1 for obj in manifest if obj["kind"] == "Machine")
