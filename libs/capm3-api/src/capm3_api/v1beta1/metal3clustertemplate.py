"""Metal3ClusterTemplate v1beta1.

Apart from Metal3Cluster, because it is never reconciled and changes by its own rules.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.markers import Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model
from capm3_api.v1beta1.metal3cluster import Metal3ClusterSpec


class Metal3ClusterTemplateResource(Model):
    spec: Annotated[Metal3ClusterSpec, required("Spec of the result.")] = Metal3ClusterSpec()


class Metal3ClusterTemplateSpec(Model):
    template: Annotated[Metal3ClusterTemplateResource, required("The Metal3Cluster to make.")] = (
        Metal3ClusterTemplateResource()
    )


class Metal3ClusterTemplate(Object):
    """A template for Metal3Clusters."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta1"
    KIND = "Metal3ClusterTemplate"

    spec: Annotated[Metal3ClusterTemplateSpec, Schema("The template.")] = Metal3ClusterTemplateSpec()
