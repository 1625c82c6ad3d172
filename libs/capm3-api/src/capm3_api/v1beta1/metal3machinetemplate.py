"""Metal3MachineTemplate v1beta1.

Apart from Metal3Machine, because it is never provisioned and changes by its own rules.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.markers import Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model
from capm3_api.v1beta1.metal3machine import Metal3MachineSpec


class Metal3MachineTemplateResource(Model):
    spec: Annotated[Metal3MachineSpec, required("Spec of the result.")] = Metal3MachineSpec()


class Metal3MachineTemplateSpec(Model):
    template: Annotated[Metal3MachineTemplateResource, required("The Metal3Machine to make.")] = (
        Metal3MachineTemplateResource()
    )
    node_reuse: Annotated[
        bool,
        Schema("Whether a host goes back to the machine set or control plane that used it last.", default=False),
    ] = False


class Metal3MachineTemplate(Object):
    """A template for Metal3Machines."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta1"
    KIND = "Metal3MachineTemplate"

    spec: Annotated[Metal3MachineTemplateSpec, Schema("The template.")] = Metal3MachineTemplateSpec()
