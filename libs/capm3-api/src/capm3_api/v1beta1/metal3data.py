"""Metal3Data v1beta1.

Apart from the claim it answers, which belongs to the machine and lives as long as that.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.external.core import ObjectReference, SecretReference
from capm3_api.markers import Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model


class Metal3DataSpec(Model):
    index: Annotated[int, Schema("Index within the template.")] = 0
    template_reference: Annotated[str, Schema("Not used any more.")] = ""
    meta_data: Annotated[SecretReference | None, Schema("Secret with the rendered metadata.")] = None
    network_data: Annotated[SecretReference | None, Schema("Secret with the rendered network data.")] = None
    claim: Annotated[ObjectReference, required("Metal3DataClaim that is answered.")] = ObjectReference()
    template: Annotated[ObjectReference, required("Metal3DataTemplate that is rendered.")] = ObjectReference()


class Metal3DataStatus(Model):
    ready: Annotated[bool, Schema("Whether the Secrets are complete.")] = False
    error_message: Annotated[str | None, Schema("Why they are not.")] = None


class Metal3Data(Object):
    """The metadata and network data of one machine."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta1"
    KIND = "Metal3Data"

    spec: Annotated[Metal3DataSpec, Schema("What is rendered, and where to.")] = Metal3DataSpec()
    status: Annotated[Metal3DataStatus, Schema("How far it is.")] = Metal3DataStatus()
