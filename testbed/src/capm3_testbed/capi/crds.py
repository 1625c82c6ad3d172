"""CustomResourceDefinitions of the Cluster API kinds for the stand-in: loose schemas of our own, contract labels, columns.

Only the names and fields of the contract are here: spec and status keep whatever is put in them.
"""

from __future__ import annotations

import dataclasses

from capm3_api import kinds
from capm3_api.meta import Kind
from capm3_api.model import Raw

_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_CONTRACT_LABEL = "cluster.x-k8s.io/v1beta2"
CLUSTER_CLASS = Kind(kinds.CAPI, "v1beta2", "ClusterClass", "clusterclasses")
CONTROL_PLANE_TEMPLATE = Kind(
    kinds.CAPI_CONTROL_PLANE, "v1beta2", "KubeadmControlPlaneTemplate", "kubeadmcontrolplanetemplates"
)
MACHINE_HEALTH_CHECK = Kind(kinds.CAPI, "v1beta2", "MachineHealthCheck", "machinehealthchecks")


@dataclasses.dataclass(frozen=True)
class Shape:
    """Args:
    columns: (name, type, JSON path) for ``kubectl get``.
    scaled: whether ``kubectl scale`` works on it.
    """

    kind: Kind
    short: tuple[str, ...] = ()
    columns: tuple[tuple[str, str, str], ...] = ()
    scaled: bool = False


def _condition(type_: str) -> str:
    return f'.status.conditions[?(@.type=="{type_}")].status'


_AGE = ("Age", "date", ".metadata.creationTimestamp")
_CLUSTER = ("Cluster", "string", ".spec.clusterName")
_VERSION = ("Version", "string", ".spec.version")
_COUNTS = (
    ("Desired", "integer", ".spec.replicas"),
    ("Current", "integer", ".status.replicas"),
    ("Ready", "integer", ".status.readyReplicas"),
    ("Available", "integer", ".status.availableReplicas"),
)

SHAPES = (
    Shape(
        kinds.CLUSTER,
        ("cl",),
        (
            ("Available", "string", _condition("Available")),
            ("Infrastructure", "string", _condition("InfrastructureReady")),
            ("Phase", "string", ".status.phase"),
            _AGE,
        ),
    ),
    Shape(
        kinds.MACHINE,
        ("ma",),
        (
            _CLUSTER,
            ("Node Name", "string", ".status.nodeRef.name"),
            ("ProviderID", "string", ".spec.providerID"),
            ("Ready", "string", _condition("Ready")),
            ("Phase", "string", ".status.phase"),
            _AGE,
            _VERSION,
        ),
    ),
    Shape(kinds.MACHINE_SET, ("ms",), (_CLUSTER, *_COUNTS, _AGE, _VERSION), scaled=True),
    Shape(
        kinds.MACHINE_DEPLOYMENT,
        ("md",),
        (_CLUSTER, *_COUNTS, ("Phase", "string", ".status.phase"), _AGE, _VERSION),
        scaled=True,
    ),
    Shape(MACHINE_HEALTH_CHECK, ("mhc",), (_CLUSTER, _AGE)),
    Shape(
        kinds.KUBEADM_CONTROL_PLANE,
        ("kcp",),
        (
            ("Initialized", "boolean", ".status.initialization.controlPlaneInitialized"),
            ("Available", "string", _condition("Available")),
            *_COUNTS,
            _AGE,
            _VERSION,
        ),
        scaled=True,
    ),
    Shape(
        kinds.KUBEADM_CONFIG,
        (),
        (("Data Secret", "string", ".status.dataSecretName"), _AGE),
    ),
    Shape(kinds.KUBEADM_CONFIG_TEMPLATE, (), (_AGE,)),
    Shape(CLUSTER_CLASS, ("cc",), (_AGE,)),
    Shape(CONTROL_PLANE_TEMPLATE, (), (_AGE,)),
    Shape(kinds.CAPI_IP_ADDRESS_CLAIM, (), (("Pool", "string", ".spec.poolRef.name"), _AGE)),
    Shape(kinds.CAPI_IP_ADDRESS, (), (("Address", "string", ".spec.address"), _AGE)),
)


def definition(shape: Shape) -> Raw:
    """One CustomResourceDefinition."""
    kind = shape.kind
    subresources: Raw = {"status": {}}
    if shape.scaled:
        subresources["scale"] = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    version: Raw = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "subresources": subresources,
        "additionalPrinterColumns": [
            {"name": name, "type": type_, "jsonPath": path} for name, type_, path in shape.columns
        ],
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": _OPEN, "status": _OPEN}}},
    }
    return {
        "apiVersion": kinds.CRD.api_version,
        "kind": kinds.CRD.kind,
        "metadata": {"name": f"{kind.plural}.{kind.group}", "labels": {_CONTRACT_LABEL: kind.version}},
        "spec": {
            "group": kind.group,
            "scope": "Namespaced",
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
                "categories": ["cluster-api"],
                **({"shortNames": list(shape.short)} if shape.short else {}),
            },
            "versions": [version],
        },
    }


def definitions() -> list[Raw]:
    """All of them."""
    return [definition(shape) for shape in SHAPES]
