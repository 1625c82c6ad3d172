"""Metal3Data v1beta2: one index of a Metal3DataTemplate and the Secrets rendered for it.

Apart from the claim it answers, which belongs to the machine and lives as long as that.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.external.core import SecretReference
from capm3_api.markers import Schema, name512
from capm3_api.meta import Object
from capm3_api.model import Model
from capm3_api.v1beta2.common import ObjectRef


class Metal3DataSpec(Model):
    index: Annotated[int | None, Schema("Index within the template.", minimum=0, format="int32")] = None
    meta_data: Annotated[SecretReference | None, Schema("Secret with the rendered metadata.")] = None
    network_data: Annotated[SecretReference | None, Schema("Secret with the rendered network data.")] = None
    claim: Annotated[ObjectRef | None, Schema("Metal3DataClaim that is answered.")] = None
    template: Annotated[ObjectRef | None, Schema("Metal3DataTemplate that is rendered.")] = None


class Metal3DataStatus(Model):
    ready: Annotated[bool | None, Schema("Whether the Secrets are complete.")] = None
    error_message: Annotated[str, name512("Why they are not.")] = ""


class Metal3Data(Object):
    """The metadata and network data of one machine."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta2"
    KIND = "Metal3Data"

    spec: Annotated[Metal3DataSpec, Schema("What is rendered, and where to.")] = Metal3DataSpec()
    status: Annotated[Metal3DataStatus, Schema("How far it is.")] = Metal3DataStatus()
