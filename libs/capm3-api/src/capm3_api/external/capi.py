"""Cluster API's own kinds, as far as a provider reads or writes them.

Apart from our kinds, because these types describe what others own: a field that is missing here is not ours to judge,
and survives untouched.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from capm3_api.external.core import Condition
from capm3_api.markers import Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model


class LegacyCondition(Model):
    """A condition in the older form of Cluster API."""

    type: Annotated[str, required("Name of the condition.", min_length=1, max_length=256)] = ""
    status: Annotated[str, required("True, False or Unknown.")] = ""
    severity: Annotated[str, Schema("Error, Warning or Info; empty when the status is True.", max_length=32)] = ""
    last_transition_time: Annotated[str, required("When the status last changed.", format="date-time")] = ""
    reason: Annotated[str, Schema("Why, in one CamelCase word.", min_length=1, max_length=256)] = ""
    message: Annotated[str, Schema("Why, in words.", min_length=1, max_length=10240)] = ""


class LegacyStatus(Model):
    """``status.deprecated.v1beta1`` of any kind."""

    conditions: list[LegacyCondition] = []
    failure_reason: str = ""
    failure_message: str = ""


class Deprecated(Model):
    """``status.deprecated``: what the older API put straight into the status."""

    v1beta1: LegacyStatus = LegacyStatus()


class ContractRef(Model):
    """A reference in the form of the v1beta2 contract: without version and namespace.

    `api_version` and `namespace` are what the older form had in their place.
    """

    api_group: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    api_version: str = ""

    @property
    def group(self) -> str:
        """The API group in either form."""
        return self.api_group or self.api_version.rpartition("/")[0]


class Endpoint(Model):
    host: str = ""
    port: int = 0


class ClusterTopology(Model):
    class_ref: ContractRef = ContractRef()
    version: str = ""


class ClusterSpec(Model):
    paused: bool = False
    control_plane_endpoint: Endpoint = Endpoint()
    infrastructure_ref: ContractRef | None = None
    control_plane_ref: ContractRef | None = None
    topology: ClusterTopology | None = None


class ClusterInitialization(Model):
    infrastructure_provisioned: bool | None = None
    control_plane_initialized: bool | None = None


class ClusterStatus(Model):
    """`infrastructure_ready` and `control_plane_ready` are the older API's fields."""

    initialization: ClusterInitialization = ClusterInitialization()
    infrastructure_ready: bool | None = None
    control_plane_ready: bool | None = None
    conditions: list[dict[str, Any]] = []
    deprecated: Deprecated = Deprecated()
    phase: str = ""


class Cluster(Object):
    """``cluster.x-k8s.io`` Cluster."""

    API_VERSION = "cluster.x-k8s.io/v1beta2"
    KIND = "Cluster"

    spec: ClusterSpec = ClusterSpec()
    status: ClusterStatus = ClusterStatus()


class Bootstrap(Model):
    config_ref: ContractRef | None = None
    data_secret_name: str | None = None


class MachineSpec(Model):
    cluster_name: str = ""
    bootstrap: Bootstrap = Bootstrap()
    infrastructure_ref: ContractRef = ContractRef()
    version: str = ""
    provider_id: Annotated[str, Field(alias="providerID")] = ""
    failure_domain: str = ""


class MachineInitialization(Model):
    infrastructure_provisioned: bool | None = None
    bootstrap_data_secret_created: bool | None = None


class NodeRef(Model):
    name: str = ""


class MachineAddress(Model):
    type: str = ""
    address: str = ""


class MachineStatus(Model):
    """`bootstrap_ready` and `infrastructure_ready` are the older API's fields."""

    node_ref: NodeRef | None = None
    initialization: MachineInitialization = MachineInitialization()
    infrastructure_ready: bool | None = None
    bootstrap_ready: bool | None = None
    conditions: list[Condition] = []
    deprecated: Deprecated = Deprecated()
    addresses: list[MachineAddress] = []
    phase: str = ""


class Machine(Object):
    """``cluster.x-k8s.io`` Machine."""

    API_VERSION = "cluster.x-k8s.io/v1beta2"
    KIND = "Machine"

    spec: MachineSpec = MachineSpec()
    status: MachineStatus = MachineStatus()


class TemplateMeta(Model):
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class MachineTemplate(Model):
    metadata: TemplateMeta = TemplateMeta()
    spec: MachineSpec = MachineSpec()


class RolloutStrategy(Model):
    """`rolling_update` has ``maxSurge`` and ``maxUnavailable``, each a number or a percentage."""

    type: str = ""
    rolling_update: dict[str, int | str] = {}


class Rollout(Model):
    strategy: RolloutStrategy = RolloutStrategy()


class ReplicaSpec(Model):
    """Spec of a MachineSet or MachineDeployment; `strategy` is where the older API had the rollout strategy."""

    cluster_name: str = ""
    replicas: int | None = None
    selector: dict[str, Any] = {}
    template: MachineTemplate = MachineTemplate()
    rollout: Rollout = Rollout()
    strategy: RolloutStrategy | None = None


class ReplicaStatus(Model):
    replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    up_to_date_replicas: int | None = None
    conditions: list[Condition] = []


class MachineSet(Object):
    """``cluster.x-k8s.io`` MachineSet."""

    API_VERSION = "cluster.x-k8s.io/v1beta2"
    KIND = "MachineSet"

    spec: ReplicaSpec = ReplicaSpec()
    status: ReplicaStatus = ReplicaStatus()


class MachineDeployment(Object):
    """``cluster.x-k8s.io`` MachineDeployment."""

    API_VERSION = "cluster.x-k8s.io/v1beta2"
    KIND = "MachineDeployment"

    spec: ReplicaSpec = ReplicaSpec()
    status: ReplicaStatus = ReplicaStatus()


class ControlPlaneMachineSpec(Model):
    infrastructure_ref: ContractRef = ContractRef()


class ControlPlaneMachineTemplate(Model):
    """`infrastructure_ref` is where the older API had the reference."""

    metadata: TemplateMeta = TemplateMeta()
    spec: ControlPlaneMachineSpec = ControlPlaneMachineSpec()
    infrastructure_ref: ContractRef | None = None


class ControlPlaneSpec(Model):
    """`rollout_strategy` is where the older API had the strategy."""

    replicas: int | None = None
    version: str = ""
    machine_template: ControlPlaneMachineTemplate = ControlPlaneMachineTemplate()
    rollout: Rollout = Rollout()
    rollout_strategy: RolloutStrategy | None = None
    kubeadm_config_spec: dict[str, Any] = {}


class ControlPlaneInitialization(Model):
    control_plane_initialized: bool | None = None


class ControlPlaneStatus(ReplicaStatus):
    initialization: ControlPlaneInitialization = ControlPlaneInitialization()
    version: str = ""


class KubeadmControlPlane(Object):
    """``controlplane.cluster.x-k8s.io`` KubeadmControlPlane."""

    API_VERSION = "controlplane.cluster.x-k8s.io/v1beta2"
    KIND = "KubeadmControlPlane"

    spec: ControlPlaneSpec = ControlPlaneSpec()
    status: ControlPlaneStatus = ControlPlaneStatus()


class NameRef(Model):
    name: str = ""


class IPAddressClaimSpec(Model):
    cluster_name: str = ""
    pool_ref: ContractRef = ContractRef()


class IPAddressClaimStatus(Model):
    address_ref: NameRef = NameRef()
    conditions: list[Condition] = []


class IPAddressClaim(Object):
    """``ipam.cluster.x-k8s.io`` IPAddressClaim."""

    API_VERSION = "ipam.cluster.x-k8s.io/v1beta2"
    KIND = "IPAddressClaim"

    spec: IPAddressClaimSpec = IPAddressClaimSpec()
    status: IPAddressClaimStatus = IPAddressClaimStatus()


class IPAddressSpec(Model):
    claim_ref: NameRef = NameRef()
    pool_ref: ContractRef = ContractRef()
    address: str = ""
    prefix: int | None = None
    gateway: str = ""


class IPAddress(Object):
    """``ipam.cluster.x-k8s.io`` IPAddress."""

    API_VERSION = "ipam.cluster.x-k8s.io/v1beta2"
    KIND = "IPAddress"

    spec: IPAddressSpec = IPAddressSpec()
