"""Metal3DataTemplate v1beta2: what metadata and network data of machines are made from.

Apart from the two documents it describes, which stand in `templatemetadata` and `networkdata`.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.markers import Schema, keyed, name512, required
from capm3_api.meta import Object
from capm3_api.model import Model
from capm3_api.v1beta2.networkdata import NetworkData
from capm3_api.v1beta2.templatemetadata import MetaData


class Metal3DataTemplateSpec(Model):
    cluster_name: Annotated[str, Schema("Not used any more.", max_length=512)] = ""
    meta_data: Annotated[MetaData | None, Schema("How the metadata is made.")] = None
    network_data: Annotated[NetworkData | None, Schema("How the network data is made.")] = None


class IndexEntry(Model):
    name: Annotated[str, name512("Name of the claim that has the index.", required=True)] = ""
    index: Annotated[int | None, required("The index.", minimum=0, format="int32")] = None


class Metal3DataTemplateStatus(Model):
    last_updated: Annotated[str, Schema("When the status was last written.", format="date-time")] = ""
    indexes: Annotated[list[IndexEntry], keyed("Indexes in use.", "index")] = []


class Metal3DataTemplate(Object):
    """A template for the metadata and network data of machines."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta2"
    KIND = "Metal3DataTemplate"

    spec: Annotated[Metal3DataTemplateSpec, Schema("The template.")] = Metal3DataTemplateSpec()
    status: Annotated[Metal3DataTemplateStatus, Schema("What of it is in use.")] = Metal3DataTemplateStatus()
