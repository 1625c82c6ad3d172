"""Metal3DataClaim v1beta1.

Apart from the Metal3Data that answers it, so that the machine can wait for it without knowing its name.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.external.core import ObjectReference
from capm3_api.markers import Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model


class Metal3DataClaimSpec(Model):
    template: Annotated[ObjectReference, required("Metal3DataTemplate that is asked for.")] = ObjectReference()


class Metal3DataClaimStatus(Model):
    rendered_data: Annotated[ObjectReference | None, Schema("Metal3Data that answers the claim.")] = None
    error_message: Annotated[str | None, Schema("Why there is none.")] = None


class Metal3DataClaim(Object):
    """A claim for metadata and network data."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta1"
    KIND = "Metal3DataClaim"

    spec: Annotated[Metal3DataClaimSpec, Schema("What is asked for.")] = Metal3DataClaimSpec()
    status: Annotated[Metal3DataClaimStatus, Schema("What was given.")] = Metal3DataClaimStatus()
