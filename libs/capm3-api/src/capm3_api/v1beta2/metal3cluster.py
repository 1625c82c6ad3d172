"""Metal3Cluster v1beta2: the site of one workload cluster.

Apart from its template, which repeats the spec of it.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.external.capi import LegacyCondition
from capm3_api.markers import Schema
from capm3_api.meta import Object
from capm3_api.model import Model
from capm3_api.v1beta2.common import Conditions, FailureDomains, Initialization


class Endpoint(Model):
    host: Annotated[str, Schema("Host name or IP address.", min_length=1, max_length=512)] = ""
    port: Annotated[int | None, Schema("TCP port.", minimum=1, maximum=65535, format="int32")] = None


class Metal3ClusterSpec(Model):
    control_plane_endpoint: Annotated[
        Endpoint, Schema("Where the API of the workload cluster is reached.", min_properties=1)
    ] = Endpoint()
    cloud_provider_enabled: Annotated[
        bool | None,
        Schema("Whether a cloud provider sets the provider IDs of Nodes; otherwise this controller does."),
    ] = None
    failure_domains: FailureDomains = []


class LegacyStatus(Model):
    conditions: Annotated[list[LegacyCondition], Schema("Conditions in the older form.")] = []
    failure_reason: Annotated[str | None, Schema("A failure that needs a person, in one word.")] = None
    failure_message: Annotated[
        str | None, Schema("A failure that needs a person, in words.", min_length=0, max_length=1024)
    ] = None


class Deprecated(Model):
    v1beta1: Annotated[LegacyStatus, Schema("Status of the v1beta1 contract.", keep_empty=True)] = LegacyStatus()


class Metal3ClusterStatus(Model):
    initialization: Annotated[Initialization, Schema("What was reached once.", min_properties=1)] = Initialization()
    failure_domains: FailureDomains = []
    last_updated: Annotated[str, Schema("When the status was last written.", format="date-time")] = ""
    conditions: Conditions = []
    deprecated: Annotated[Deprecated, Schema("Fields that go away with v1beta1.", keep_empty=True)] = Deprecated()


class Metal3Cluster(Object):
    """The bare-metal side of a Cluster."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta2"
    KIND = "Metal3Cluster"

    spec: Annotated[Metal3ClusterSpec, Schema("The cluster as it should be.")] = Metal3ClusterSpec()
    status: Annotated[Metal3ClusterStatus, Schema("The cluster as it is.")] = Metal3ClusterStatus()
