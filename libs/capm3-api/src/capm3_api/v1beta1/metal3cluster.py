"""Metal3Cluster v1beta1: failure domains are a map, readiness is one flag.

Apart from its template, which repeats the spec of it.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.markers import Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model
from capm3_api.v1beta1.common import (
    FailureDomains,
    FailureMessage,
    FailureReason,
    LastUpdated,
    LegacyConditions,
    Newer,
)


class Endpoint(Model):
    host: Annotated[str, required("Host name or IP address.")] = ""
    port: Annotated[int, required("TCP port.")] = 0


class Metal3ClusterSpec(Model):
    control_plane_endpoint: Annotated[Endpoint, Schema("Where the API of the workload cluster is reached.")] = (
        Endpoint()
    )
    no_cloud_provider: Annotated[
        bool | None, Schema("The opposite of cloudProviderEnabled; not read, set that field instead.")
    ] = None
    cloud_provider_enabled: Annotated[
        bool | None,
        Schema("Whether a cloud provider sets the provider IDs of Nodes; otherwise this controller does."),
    ] = None
    failure_domains: FailureDomains = {}


class Metal3ClusterStatus(Model):
    last_updated: LastUpdated = ""
    failure_reason: FailureReason = None
    failure_message: FailureMessage = None
    ready: Annotated[bool, Schema("Whether the infrastructure is ready for use.")] = False
    failure_domains: FailureDomains = {}
    conditions: LegacyConditions = []
    v1beta2: Newer = None


class Metal3Cluster(Object):
    """The bare-metal side of a Cluster."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta1"
    KIND = "Metal3Cluster"

    spec: Annotated[Metal3ClusterSpec, Schema("The cluster as it should be.")] = Metal3ClusterSpec()
    status: Annotated[Metal3ClusterStatus, Schema("The cluster as it is.")] = Metal3ClusterStatus()
