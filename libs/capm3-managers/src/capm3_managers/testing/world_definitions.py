"""The resources that a fresh `World` knows: our kinds, their neighbours and the core kinds, with their strategies.

A table, apart from the server; the embedded server adds rows when somebody creates a CustomResourceDefinition.
"""

from __future__ import annotations

from capm3_api import kinds
from capm3_api.meta import Kind

from capm3_managers.testing.world_types import Definition

SERVICE_ACCOUNT = Kind("", "v1", "ServiceAccount", "serviceaccounts")
EVENTS_EVENT = Kind("events.k8s.io", "v1", "Event", "events")

_WITHOUT_STATUS = {
    kinds.METAL3_CLUSTER_TEMPLATE,
    kinds.METAL3_MACHINE_TEMPLATE,
    kinds.METAL3_REMEDIATION_TEMPLATE,
    kinds.HARDWARE_DATA,
    kinds.IP_ADDRESS,
    kinds.CAPI_IP_ADDRESS,
    kinds.KUBEADM_CONFIG_TEMPLATE,
}

_CUSTOM = (
    *kinds.OURS,
    kinds.BARE_METAL_HOST,
    kinds.HARDWARE_DATA,
    kinds.IP_POOL,
    kinds.IP_CLAIM,
    kinds.IP_ADDRESS,
    kinds.CLUSTER,
    kinds.MACHINE,
    kinds.MACHINE_SET,
    kinds.MACHINE_DEPLOYMENT,
    kinds.KUBEADM_CONTROL_PLANE,
    kinds.KUBEADM_CONFIG,
    kinds.KUBEADM_CONFIG_TEMPLATE,
    kinds.CAPI_IP_ADDRESS_CLAIM,
    kinds.CAPI_IP_ADDRESS,
)


def _core(kind: Kind, *, status: bool = False, generation: bool = False, free: bool = True) -> Definition:
    return Definition(kind, status, generation, status_on_create=True, unconditional_update=free)


CORE = (
    _core(kinds.SECRET),
    _core(kinds.CONFIG_MAP),
    _core(kinds.EVENT),
    _core(SERVICE_ACCOUNT),
    _core(kinds.NODE, status=True),
    _core(kinds.NAMESPACE, status=True),
    _core(kinds.LEASE, free=False),
    _core(kinds.CRD, status=True, generation=True, free=False),
)
"""What every API server serves."""

CUSTOM = tuple(Definition(kind, status=kind not in _WITHOUT_STATUS) for kind in _CUSTOM)
"""What it serves once the CRDs of this project and its neighbours are there."""


def guess(group: str, version: str, kind: str, *, namespaced: bool) -> Kind:
    """A kind nobody registered, with the usual plural."""
    lower = kind.lower()
    plural = (
        lower if lower.endswith("s") and not lower.endswith("ss") else lower + ("es" if lower.endswith("ss") else "s")
    )
    return Kind(group, version, kind, plural, namespaced)
