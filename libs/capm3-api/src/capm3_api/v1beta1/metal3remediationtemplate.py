"""Metal3RemediationTemplate v1beta1.

Apart from Metal3Remediation, because it is never acted upon.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.markers import Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model
from capm3_api.v1beta1.metal3remediation import Metal3RemediationSpec, Metal3RemediationStatus


class Metal3RemediationTemplateResource(Model):
    spec: Annotated[Metal3RemediationSpec, required("Spec of the result.")] = Metal3RemediationSpec()


class Metal3RemediationTemplateSpec(Model):
    template: Annotated[Metal3RemediationTemplateResource, required("The Metal3Remediation to make.")] = (
        Metal3RemediationTemplateResource()
    )


class Metal3RemediationTemplateStatus(Model):
    status: Annotated[Metal3RemediationStatus, required("Not written by anyone.")] = Metal3RemediationStatus()


class Metal3RemediationTemplate(Object):
    """A template for Metal3Remediations."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta1"
    KIND = "Metal3RemediationTemplate"

    spec: Annotated[Metal3RemediationTemplateSpec, Schema("The template.")] = Metal3RemediationTemplateSpec()
    status: Annotated[Metal3RemediationTemplateStatus, Schema("Not written by anyone.")] = (
        Metal3RemediationTemplateStatus()
    )
