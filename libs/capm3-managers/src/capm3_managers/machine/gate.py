"""The gates that a machine passes before anything is done for it, and their waits.

Apart from `pause` and `associate`: here nothing is touched, only awaited. A machine that is being deleted passes all of
them, because what they wait for may be gone for ever (report B38); the Go program leaves such a machine behind.
Behaviour facts on CAPM3 4.2, steps 2 to 6 of the top level and step 3 of the normal flow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capm3_api import condition, kinds

from capm3_managers import hosts, outcomes, owners
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.machine.snapshot import Snapshot


def is_open(snapshot: Snapshot) -> bool:
    """Whether the pass gets past the gates of owner, Cluster and Metal3Cluster; `observe` reads no further if not."""
    if snapshot.deleting:
        return True
    return (
        snapshot.metal3cluster is not None and snapshot.machine is not None and infrastructure_ready(snapshot.cluster)
    )


def infrastructure_ready(cluster: Mapping[str, Any] | None) -> bool:
    """Whether the Cluster says, in the older or the newer form, that its infrastructure is there."""
    if cluster is None:
        return False
    if hosts.part(cluster, "status", "initialization").get("infrastructureProvisioned") is True:
        return True
    return condition.is_true_legacy(cluster, "InfrastructureReady")


def bootstrap_ready(snapshot: Snapshot) -> bool:
    """Whether the Machine's bootstrap data is there, in the older or the newer form."""
    bootstrap = snapshot.owner.spec.bootstrap
    ref = bootstrap.config_ref
    if ref is None or not (ref.kind or ref.name or ref.group):
        return bool(bootstrap.data_secret_name)
    if snapshot.owner.status.initialization.bootstrap_data_secret_created is True:
        return True
    return condition.is_true_legacy(snapshot.machine or {}, "BootstrapReady")


def owner(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Waits for the owner Machine."""
    if snapshot.deleting or snapshot.machine is not None:
        return draft
    names = owners.names_of(snapshot.observed or {}, kinds.MACHINE)
    if not names:
        return draft.wait(outcomes.WAITING_FOR_OWNER)
    message = f'{outcomes.OWNER_MISSING.message}: Machine "{names[0]}" does not exist'
    return draft.wait(outcomes.OWNER_MISSING, message, seconds=env.settings.requeue_seconds)


def readable(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Refuses a spec of which a part can't be read, naming the field (it can't have passed the CRD's schema)."""
    wrong = [problem for problem in snapshot.view.problems if problem.path.startswith("spec")]
    if snapshot.deleting or not wrong:
        return draft
    return draft.wait(outcomes.INVALID_MACHINE, "; ".join(f"{item.path}: {item.message}" for item in wrong))


def failure_domain(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """``spec.failureDomain`` follows the Machine's, also when that becomes empty."""
    wanted = snapshot.owner.spec.failure_domain
    if snapshot.machine is None or wanted == snapshot.view.spec.failure_domain:
        return draft
    return draft.patch({"spec": {"failureDomain": wanted or None}})


def cluster(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Waits for the Cluster."""
    if snapshot.deleting or snapshot.cluster is not None:
        return draft
    return draft.wait(outcomes.NO_CLUSTER)


def infrastructure(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Waits until the Cluster's infrastructure is ready."""
    if snapshot.deleting or infrastructure_ready(snapshot.cluster):
        return draft
    return draft.wait(outcomes.WAITING_FOR_INFRASTRUCTURE)


def metal3_cluster(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Waits for the Metal3Cluster."""
    if snapshot.deleting or snapshot.metal3cluster is not None:
        return draft
    return draft.wait(outcomes.WAITING_FOR_METAL3_CLUSTER)


def bootstrap(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Waits for the bootstrap data; a machine that runs already needs it no more."""
    if snapshot.settled or bootstrap_ready(snapshot):
        return draft
    return draft.wait(outcomes.WAITING_FOR_BOOTSTRAP)
