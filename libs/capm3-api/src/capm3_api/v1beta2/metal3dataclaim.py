"""Metal3DataClaim v1beta2: the wish of a machine for data from a template.

Apart from the Metal3Data that answers it, so that the machine can wait for it without knowing its name.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.markers import Schema, name512
from capm3_api.meta import Object
from capm3_api.model import Model
from capm3_api.v1beta2.common import ObjectRef


class Metal3DataClaimSpec(Model):
    template: Annotated[ObjectRef | None, Schema("Metal3DataTemplate that is asked for.")] = None


class Metal3DataClaimStatus(Model):
    rendered_data: Annotated[ObjectRef | None, Schema("Metal3Data that answers the claim.")] = None
    error_message: Annotated[str, name512("Why there is none.")] = ""


class Metal3DataClaim(Object):
    """A claim for metadata and network data."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta2"
    KIND = "Metal3DataClaim"

    spec: Annotated[Metal3DataClaimSpec, Schema("What is asked for.")] = Metal3DataClaimSpec()
    status: Annotated[Metal3DataClaimStatus, Schema("What was given.")] = Metal3DataClaimStatus()
