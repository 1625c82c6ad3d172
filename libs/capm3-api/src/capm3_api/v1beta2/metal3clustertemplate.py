"""Metal3ClusterTemplate v1beta2: what a ClusterClass makes Metal3Clusters from.

Apart from Metal3Cluster, because it is never reconciled and changes by its own rules.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.markers import Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model
from capm3_api.v1beta2.common import TemplateMeta
from capm3_api.v1beta2.metal3cluster import Metal3ClusterSpec


class Metal3ClusterTemplateResource(Model):
    metadata: Annotated[TemplateMeta, Schema("Labels and annotations of the result.", min_properties=1)] = (
        TemplateMeta()
    )
    spec: Annotated[Metal3ClusterSpec, required("Spec of the result.")] = Metal3ClusterSpec()


class Metal3ClusterTemplateSpec(Model):
    template: Annotated[Metal3ClusterTemplateResource, required("The Metal3Cluster to make.")] = (
        Metal3ClusterTemplateResource()
    )


class Metal3ClusterTemplate(Object):
    """A template for Metal3Clusters."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta2"
    KIND = "Metal3ClusterTemplate"

    spec: Annotated[Metal3ClusterTemplateSpec, required("The template.")] = Metal3ClusterTemplateSpec()
