"""Secrets, Nodes, Leases and the small shapes that every Kubernetes API shares.

Apart from the other foreign kinds, because these belong to Kubernetes itself and all other views use their shapes.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, ClassVar

from pydantic import Field

from capm3_api.markers import CONDITION_TYPE, REASON, Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model


class Condition(Model):
    """A condition in the form of Kubernetes (``metav1.Condition``)."""

    type: Annotated[str, required("Name of the condition.", max_length=316, pattern=CONDITION_TYPE)] = ""
    status: Annotated[str, required("Whether it holds.", enum=("True", "False", "Unknown"))] = ""
    reason: Annotated[str, required("Why, in one CamelCase word.", min_length=1, max_length=1024, pattern=REASON)] = ""
    message: Annotated[str, required("Why, in words; may be empty.", max_length=32768)] = ""
    last_transition_time: Annotated[str, required("When the status last changed.", format="date-time")] = ""
    observed_generation: Annotated[
        int | None, Schema("metadata.generation that the condition speaks of.", minimum=0, format="int64")
    ] = None


class SecretReference(Model):
    """Names a Secret."""

    SCHEMA: ClassVar[Schema] = Schema(map_type="atomic")

    name: Annotated[str, Schema("Name of the Secret.")] = ""
    namespace: Annotated[str, Schema("Namespace of the Secret; empty means that of the referring object.")] = ""


class ObjectReference(Model):
    """Names any object, in the old form of Kubernetes (``corev1.ObjectReference``)."""

    SCHEMA: ClassVar[Schema] = Schema(map_type="atomic")

    api_version: Annotated[str, Schema("Group and version of the object.")] = ""
    kind: Annotated[str, Schema("Kind of the object.")] = ""
    namespace: Annotated[str, Schema("Namespace of the object.")] = ""
    name: Annotated[str, Schema("Name of the object.")] = ""
    uid: Annotated[str, Schema("UID of the object.")] = ""
    resource_version: Annotated[str, Schema("Version of the object that is meant.")] = ""
    field_path: Annotated[str, Schema("Part of the object that is meant.")] = ""


class Secret(Object):
    """A Secret. Values never show in its repr."""

    API_VERSION = "v1"
    KIND = "Secret"

    type: str = ""
    immutable: bool | None = None
    data: dict[str, str | None] = Field(default={}, repr=False)
    string_data: dict[str, str | None] = Field(default={}, repr=False)

    def value(self, key: str) -> bytes | None:
        """The decoded value of a key; ``None`` when it is absent or not base64."""
        if key not in self.data:
            return None
        try:
            return base64.b64decode(self.data[key] or "", validate=True)
        except (binascii.Error, ValueError):
            return None


class NodeAddress(Model):
    type: str = ""
    address: str = ""


class NodeSpec(Model):
    provider_id: Annotated[str, Field(alias="providerID")] = ""
    unschedulable: bool = False
    taints: list[dict[str, object]] = []


class NodeInfo(Model):
    system_uuid: Annotated[str, Field(alias="systemUUID")] = ""


class NodeStatus(Model):
    node_info: NodeInfo = NodeInfo()
    conditions: list[Condition] = []
    addresses: list[NodeAddress] = []


class Node(Object):
    """A Node of a workload cluster."""

    API_VERSION = "v1"
    KIND = "Node"

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class LeaseSpec(Model):
    holder_identity: str = ""
    lease_duration_seconds: int = 0
    acquire_time: str = ""
    renew_time: str = ""
    lease_transitions: int = 0


class Lease(Object):
    """The lock of a leader election."""

    API_VERSION = "coordination.k8s.io/v1"
    KIND = "Lease"

    spec: LeaseSpec = LeaseSpec()
