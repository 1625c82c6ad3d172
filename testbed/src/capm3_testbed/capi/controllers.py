"""The table of the stand-in: which kinds it reconciles, in which order, and one full pass over all of them.

Level triggered: a pass looks at everything and writes only differences, so no event can be missed and the same pass runs
over HTTP and over `World`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from capm3_api import kinds, meta
from capm3_api.meta import Kind
from capm3_api.model import Raw
from capm3_managers.ports import ALL_NAMESPACES, ApiError

from capm3_testbed.capi import bootstrap, cluster, controlplane, machine, machinedeployment, machineset, replicas
from capm3_testbed.capi.api import Core

log = logging.getLogger(__name__)

CONTROLLERS: tuple[tuple[Kind, Callable[[Core, Raw], None]], ...] = (
    (kinds.CLUSTER, cluster.reconcile),
    (kinds.KUBEADM_CONTROL_PLANE, controlplane.reconcile),
    (kinds.MACHINE_DEPLOYMENT, machinedeployment.reconcile),
    (kinds.MACHINE_SET, machineset.reconcile),
    (kinds.MACHINE, machine.reconcile),
    (kinds.KUBEADM_CONFIG, bootstrap.reconcile),
)

WATCHED = (*(kind for kind, _ in CONTROLLERS), kinds.METAL3_CLUSTER, kinds.METAL3_MACHINE)
"""Every kind whose changes the stand-in has to hear of."""


def run_all(core: Core) -> int:
    """One pass over every object.

    Returns:
        how many objects failed and want another pass later.
    """
    failed = 0
    for kind, reconcile in CONTROLLERS:
        for obj in core.api.list(kind, ALL_NAMESPACES):
            try:
                reconcile(core, obj)
            except (ApiError, replicas.MissingTemplateError, machine.LostInfrastructureError) as error:
                failed += 1
                quiet = isinstance(error, ApiError) and (error.is_conflict or error.is_not_found)
                log.log(logging.DEBUG if quiet else logging.WARNING, "%s %s: %s", kind.kind, meta.key_of(obj), error)
    return failed
