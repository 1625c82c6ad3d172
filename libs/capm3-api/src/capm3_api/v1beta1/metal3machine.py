"""Metal3Machine v1beta1: references in the old long form, readiness is one flag.

Apart from its template, which repeats the spec of it.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from capm3_api.external.core import ObjectReference, SecretReference
from capm3_api.markers import Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model
from capm3_api.v1beta1.common import FailureMessage, FailureReason, LastUpdated, LegacyConditions, Newer
from capm3_api.v1beta2.metal3machine import CHECKSUM_TYPES, CLEANING_MODES, DISK_FORMATS, MachineAddress


class Image(Model):
    """The image that the host gets."""

    url: Annotated[str, required("Where the image is.")] = ""
    checksum: Annotated[str, Schema("Digest of the image, or the URL of a file with it.")] = ""
    checksum_type: Annotated[str | None, Schema("Kind of digest.", enum=CHECKSUM_TYPES)] = None
    format: Annotated[str | None, Schema("Format of the image.", enum=DISK_FORMATS)] = None


class CustomDeploy(Model):
    method: Annotated[str, required("Name of the deploy step that the agent on the host runs.")] = ""


class HostSelectorRequirement(Model):
    key: Annotated[str, required("Label that is looked at.")] = ""
    operator: Annotated[str, required("How it is compared: in, notin, exists, doesnotexist, =, ==, !=, gt, lt.")] = ""
    values: Annotated[list[str], required("What it is compared with.")] = []


class HostSelector(Model):
    """Which hosts are fit; all given labels and expressions must match."""

    match_labels: Annotated[dict[str, str], Schema("Labels the host must have, with these values.")] = {}
    match_expressions: Annotated[list[HostSelectorRequirement], Schema("Expressions about labels of the host.")] = []


class Metal3MachineSpec(Model):
    provider_id: Annotated[
        str | None, Field(alias="providerID"), Schema("Identity of the machine for Kubernetes: metal3://...")
    ] = None
    image: Annotated[Image, Schema("Image for the host.")] = Image()
    custom_deploy: Annotated[CustomDeploy | None, Schema("Deploy step of one's own in place of an image.")] = None
    user_data: Annotated[SecretReference | None, Schema("Secret with the user data.")] = None
    host_selector: Annotated[HostSelector, Schema("Which hosts are fit; any when empty.")] = HostSelector()
    data_template: Annotated[
        ObjectReference | None, Schema("Metal3DataTemplate that the metadata and network data are made from.")
    ] = None
    meta_data: Annotated[SecretReference | None, Schema("Secret with the metadata.")] = None
    network_data: Annotated[SecretReference | None, Schema("Secret with the network data.")] = None
    automated_cleaning_mode: Annotated[
        str | None, Schema("Whether disks of the host are wiped afterwards.", enum=CLEANING_MODES)
    ] = None
    failure_domain: Annotated[str, Schema("Failure domain to take the host from; follows the Machine.")] = ""


class Metal3MachineStatus(Model):
    last_updated: LastUpdated = ""
    failure_reason: FailureReason = None
    failure_message: FailureMessage = None
    addresses: Annotated[list[MachineAddress], Schema("Addresses of the host.")] = []
    phase: Annotated[str, Schema("Not written by anyone.")] = ""
    ready: Annotated[bool, Schema("Whether the host is provisioned.")] = False
    user_data: Annotated[SecretReference | None, Schema("Secret with the user data in use.")] = None
    rendered_data: Annotated[ObjectReference | None, Schema("Metal3Data that was made for the machine.")] = None
    meta_data: Annotated[SecretReference | None, Schema("Secret with the metadata in use.")] = None
    network_data: Annotated[SecretReference | None, Schema("Secret with the network data in use.")] = None
    conditions: LegacyConditions = []
    v1beta2: Newer = None


class Metal3Machine(Object):
    """The bare-metal side of a Machine."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta1"
    KIND = "Metal3Machine"

    spec: Annotated[Metal3MachineSpec, Schema("The machine as it should be.")] = Metal3MachineSpec()
    status: Annotated[Metal3MachineStatus, Schema("The machine as it is.")] = Metal3MachineStatus()
