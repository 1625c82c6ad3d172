"""Shapes that several v1beta2 kinds share: references, failure domains, images, conditions, template metadata.

Apart from the kinds, so that each shape is defined once and means the same everywhere.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from capm3_api.external.core import Condition
from capm3_api.markers import DNS1123, KIND, Schema, keyed, name512, required
from capm3_api.model import Model

OBJECTS = ("machine", "metal3machine", "baremetalhost")
"""Which object a value is taken from."""

CONDITIONS = Schema("State as conditions.", list_type="map", list_keys=("type",), max_items=32)
Conditions = Annotated[list[Condition], CONDITIONS]


class ObjectRef(Model):
    """Names an object whose kind the field tells (``Metal3ObjectRef``)."""

    SCHEMA: ClassVar[Schema] = Schema(map_type="atomic")

    name: Annotated[str, Schema("Name of the object.", min_length=1, max_length=253)] = ""
    namespace: Annotated[
        str,
        Schema("Namespace of the object; empty means that of the referring one.", min_length=1, max_length=253),
    ] = ""


class PoolRef(Model):
    """Names a pool of IP addresses of any provider."""

    name: Annotated[str, required("Name of the pool.", pattern=DNS1123, min_length=1, max_length=253)] = ""
    api_group: Annotated[
        str,
        Schema("API group of the pool.", default="ipam.metal3.io", pattern=DNS1123, min_length=1, max_length=253),
    ] = ""
    kind: Annotated[str, Schema("Kind of the pool.", default="IPPool", pattern=KIND, min_length=1, max_length=63)] = ""


class ObjectAnnotation(Model):
    """A value that an annotation of another object holds."""

    object: Annotated[str, required("Object with the annotation.", enum=OBJECTS)] = ""
    annotation: Annotated[str, name512("Key of the annotation.", required=True)] = ""


class FailureDomain(Model):
    """A part of the site that can fail on its own."""

    name: Annotated[str, required("Name of the failure domain.", min_length=1, max_length=256)] = ""
    control_plane: Annotated[bool | None, Schema("Whether control plane machines may be placed in it.")] = None
    attributes: Annotated[dict[str, str], Schema("Free attributes.")] = {}


FailureDomains = Annotated[list[FailureDomain], keyed("Failure domains of the cluster.", "name", max_items=100)]


class Initialization(Model):
    """Facts that once true stay true."""

    provisioned: Annotated[bool | None, Schema("Whether the infrastructure is ready for use.")] = None


class TemplateMeta(Model):
    """Labels and annotations for the objects made from a template."""

    labels: Annotated[dict[str, str], Schema("Labels to set.")] = {}
    annotations: Annotated[dict[str, str], Schema("Annotations to set.")] = {}
