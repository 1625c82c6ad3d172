"""Metal3DataTemplate v1beta1: bound to a cluster by name, indexes are a map.

Apart from the two documents it describes, which stand in `templatemetadata` and `networkdata`.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.markers import Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model
from capm3_api.v1beta1.common import LastUpdated
from capm3_api.v1beta1.networkdata import NetworkData
from capm3_api.v1beta1.templatemetadata import MetaData


class Metal3DataTemplateSpec(Model):
    cluster_name: Annotated[str, required("Cluster that the template belongs to.", min_length=1)] = ""
    template_reference: Annotated[str, Schema("Not used any more.")] = ""
    meta_data: Annotated[MetaData | None, Schema("How the metadata is made.")] = None
    network_data: Annotated[NetworkData | None, Schema("How the network data is made.")] = None


class Metal3DataTemplateStatus(Model):
    last_updated: LastUpdated = ""
    indexes: Annotated[dict[str, int], Schema("Indexes in use, by the name of the claim.")] = {}


class Metal3DataTemplate(Object):
    """A template for the metadata and network data of machines."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta1"
    KIND = "Metal3DataTemplate"

    spec: Annotated[Metal3DataTemplateSpec, Schema("The template.")] = Metal3DataTemplateSpec()
    status: Annotated[Metal3DataTemplateStatus, Schema("What of it is in use.")] = Metal3DataTemplateStatus()
