"""Shapes that several v1beta1 kinds share.

Apart from the kinds, so that each shape is defined once; apart from v1beta2, because v1beta1 knows hardly any rules.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from capm3_api.external.capi import LegacyCondition
from capm3_api.external.core import Condition
from capm3_api.markers import Schema, required
from capm3_api.model import Model
from capm3_api.v1beta2.common import CONDITIONS, OBJECTS

LegacyConditions = Annotated[list[LegacyCondition], Schema("Conditions in the older form.")]
LastUpdated = Annotated[str, Schema("When the status was last written.", format="date-time")]
FailureReason = Annotated[str | None, Schema("A failure that needs a person, in one word.")]
FailureMessage = Annotated[str | None, Schema("A failure that needs a person, in words.")]


class FailureDomain(Model):
    """A part of the site that can fail on its own; its name is the key in the map."""

    control_plane: Annotated[bool, Schema("Whether control plane machines may be placed in it.")] = False
    attributes: Annotated[dict[str, str], Schema("Free attributes.")] = {}


FailureDomains = Annotated[dict[str, FailureDomain], Schema("Failure domains of the cluster by name.")]


class NewerStatus(Model):
    """What v1beta2 puts straight into the status."""

    conditions: Annotated[list[Condition], CONDITIONS] = []


Newer = Annotated[NewerStatus | None, Schema("Status in the form of v1beta2.")]


class TypedLocalObjectReference(Model):
    """Names a pool of IP addresses. Group and kind are optional here, unlike in the Go program's schema."""

    SCHEMA: ClassVar[Schema] = Schema(map_type="atomic")

    api_group: Annotated[str | None, Schema("API group of the pool.", default="ipam.metal3.io")] = None
    kind: Annotated[str, Schema("Kind of the pool.", default="IPPool")] = ""
    name: Annotated[str, required("Name of the pool.")] = ""


class ObjectAnnotation(Model):
    """A value that an annotation of another object holds."""

    object: Annotated[str, required("Object with the annotation.", enum=OBJECTS)] = ""
    annotation: Annotated[str, required("Key of the annotation.")] = ""
