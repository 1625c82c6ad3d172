"""What a CRD says besides its schema: names, columns, subresources, labels; a row a kind.

Apart from the generator, because these facts come from nowhere else and are looked up by people (behaviour facts on
CAPM3, section 1.0; on the Baremetal Operator, 1.0; on IPAM, 1).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

from capm3_api import kinds, v1beta1, v1beta2
from capm3_api.external import bmo, ipam
from capm3_api.meta import Kind, Object


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of ``kubectl get``; `priority` 1 shows with ``-o wide`` only."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0
    doc: str = ""


@dataclasses.dataclass(frozen=True)
class Version:
    """One served version of a kind. `subresources`: ``None`` leaves the key out, as the reference does for some."""

    name: str
    model: type[Object]
    columns: tuple[Column, ...] = ()
    subresources: Mapping[str, object] | None = dataclasses.field(default_factory=lambda: MappingProxyType(STATUS))
    storage: bool = True
    deprecated: bool = False


@dataclasses.dataclass(frozen=True)
class Facts:
    """One CRD.

    Args:
        convert: whether the conversion webhook is put on it.
    """

    kind: Kind
    versions: tuple[Version, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ("cluster-api",)
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    annotations: Mapping[str, str] = dataclasses.field(default_factory=dict)
    convert: bool = True


STATUS: dict[str, object] = {"status": {}}
_CONTRACT = {
    "cluster.x-k8s.io/provider": "infrastructure-metal3",
    "cluster.x-k8s.io/v1beta1": "v1beta1",
    "cluster.x-k8s.io/v1beta2": "v1beta2",
}
_IPAM_CONTRACT = {
    "cluster.x-k8s.io/provider": "ipam-metal3",
    "cluster.x-k8s.io/v1alpha2": "v1alpha2",
    "cluster.x-k8s.io/v1alpha3": "v1alpha3_v1alpha4",
    "cluster.x-k8s.io/v1alpha4": "v1alpha5",
    "cluster.x-k8s.io/v1beta1": "v1beta1",
}

_AGE = Column("Age", ".metadata.creationTimestamp", "date", doc="Time since the object was created")
_CLUSTER = Column("Cluster", r".metadata.labels.cluster\.x-k8s\.io/cluster-name", doc="Cluster it belongs to")
_PROVIDER_ID = Column("ProviderID", ".spec.providerID", doc="Identity of the machine for Kubernetes")
_READY = Column("Ready", ".status.ready", doc="Whether it is ready for use")
_PROVISIONED = Column("Provisioned", ".status.initialization.provisioned", doc="Whether it is ready for use")
_ENDPOINT = Column("Endpoint", ".spec.controlPlaneEndpoint", doc="Where the API of the cluster is reached")
_REMEDIATION = (
    Column("Retry limit", ".spec.strategy.retryLimit", doc="How often it is tried"),
    Column("Retry count", ".status.retryCount", doc="How often it was tried"),
    Column("Last Remediated", ".status.lastRemediated", doc="When the last try began"),
    Column("Strategy", ".spec.strategy.type", doc="What is done"),
    Column("Phase", ".status.phase", doc="Where it stands"),
)


def _ours(
    kind: Kind,
    short: str,
    columns: tuple[Column, ...] = (_AGE,),
    *,
    old_columns: tuple[Column, ...] | None = None,
    subresources: Mapping[str, object] | None = STATUS,
    labels: Mapping[str, str] | None = None,
) -> Facts:
    """A kind of our own: both versions, v1beta2 stored. `short` is the names after ``m3`` and ``metal3``."""
    old = Version(
        "v1beta1",
        v1beta1.KINDS[kind.kind],
        columns if old_columns is None else old_columns,
        subresources,
        storage=False,
        deprecated=True,
    )
    new = Version("v1beta2", v1beta2.KINDS[kind.kind], columns, subresources)
    return Facts(kind, (old, new), tuple(short.split()), labels={**_CONTRACT, **(labels or {})})


_OURS = (
    _ours(
        kinds.METAL3_CLUSTER,
        "m3c m3cluster m3clusters metal3c metal3cluster",
        (
            _AGE,
            _PROVISIONED,
            Column("Error", ".status.deprecated.v1beta1.failureReason", doc="A failure that needs a person"),
            _CLUSTER,
            _ENDPOINT,
        ),
        old_columns=(
            _AGE,
            _READY,
            Column("Error", ".status.failureReason", doc="A failure that needs a person"),
            _CLUSTER,
            _ENDPOINT,
        ),
    ),
    _ours(kinds.METAL3_CLUSTER_TEMPLATE, "m3ct", (), subresources=None),
    _ours(
        kinds.METAL3_MACHINE,
        "m3m m3machine m3machines metal3m metal3machine",
        (_AGE, _PROVIDER_ID, _PROVISIONED, _CLUSTER),
        old_columns=(_AGE, _PROVIDER_ID, _READY, _CLUSTER, Column("Phase", ".status.phase", doc="Not used")),
    ),
    _ours(
        kinds.METAL3_MACHINE_TEMPLATE,
        "m3mt m3machinetemplate m3machinetemplates metal3mt metal3machinetemplate",
        subresources={},
    ),
    _ours(
        kinds.METAL3_DATA_TEMPLATE,
        "m3dt m3datatemplate m3datatemplates metal3dt metal3datatemplate",
        (_CLUSTER, _AGE),
        labels={"clusterctl.cluster.x-k8s.io/move": ""},
    ),
    dataclasses.replace(
        _ours(kinds.METAL3_DATA, "m3d m3data m3datas metal3d metal3data"),
        annotations={"clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check": ""},
    ),
    _ours(kinds.METAL3_DATA_CLAIM, "m3dc m3dataclaim m3dataclaims metal3dc metal3dataclaim"),
    _ours(kinds.METAL3_REMEDIATION, "m3r m3remediation", _REMEDIATION),
    _ours(
        kinds.METAL3_REMEDIATION_TEMPLATE,
        "m3rt m3remediationtemplate m3remediationtemplates metal3rt metal3remediationtemplate",
        (),
    ),
)


def _foreign(kind: Kind, model: type[Object], short: str, **rest: object) -> Facts:
    """A kind that the Baremetal Operator or IPAM own: one version, no conversion."""
    columns = rest.pop("columns", (_AGE,))
    subresources = rest.pop("subresources", STATUS)
    version = Version("v1alpha1", model, columns, subresources)  # type: ignore[arg-type]
    return Facts(kind, (version,), tuple(short.split()), convert=False, **rest)  # type: ignore[arg-type]


_FOREIGN = (
    _foreign(
        kinds.BARE_METAL_HOST,
        bmo.BareMetalHost,
        "bmh bmhost",
        categories=(),
        columns=(
            Column("Status", ".status.operationalStatus", priority=1, doc="How the host is"),
            Column("State", ".status.provisioning.state", doc="State of the host in its life"),
            Column("Consumer", ".spec.consumerRef.name", doc="Object that uses the host"),
            Column("BMC", ".spec.bmc.address", priority=1, doc="Address of the management controller"),
            Column("Online", ".spec.online", doc="Whether it should be powered on"),
            Column("Error", ".status.errorType", doc="Which step failed"),
            _AGE,
        ),
    ),
    _foreign(kinds.HARDWARE_DATA, bmo.HardwareData, "hd", categories=(), subresources={}),
    _foreign(
        kinds.IP_POOL,
        ipam.IPPool,
        "ipp ippool m3ipp m3ippool m3ippools metal3ipp metal3ippool metal3ippools",
        columns=(_CLUSTER, _AGE),
        labels=_IPAM_CONTRACT,
    ),
    _foreign(
        kinds.IP_CLAIM,
        ipam.IPClaim,
        "ipc ipclaim m3ipc m3ipclaim m3ipclaims metal3ipc metal3ipclaim metal3ipclaims",
        labels=_IPAM_CONTRACT,
    ),
    _foreign(
        kinds.IP_ADDRESS,
        ipam.IPAddress,
        "ipa ipaddress m3ipa m3ipaddress m3ipaddresses metal3ipa metal3ipaddress metal3ipaddresses",
        categories=("metal3",),
        subresources={},
        labels=_IPAM_CONTRACT,
    ),
)

ALL: Mapping[str, Facts] = {
    facts.kind.group_kind if facts.kind.group != kinds.INFRASTRUCTURE else facts.kind.kind: facts
    for facts in (*_OURS, *_FOREIGN)
}
