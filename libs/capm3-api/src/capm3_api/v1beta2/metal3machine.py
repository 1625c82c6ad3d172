"""Metal3Machine v1beta2: one machine of a cluster and how its host is to be provisioned.

Apart from its template, which repeats the spec of it.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from capm3_api.external.capi import LegacyCondition
from capm3_api.external.core import SecretReference
from capm3_api.markers import Schema, keyed, name512, required
from capm3_api.meta import Object
from capm3_api.model import Model
from capm3_api.v1beta2.common import Conditions, Initialization, ObjectRef

ADDRESS_TYPES = ("Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS")
CHECKSUM_TYPES = ("md5", "sha256", "sha512")
DISK_FORMATS = ("raw", "qcow2", "vdi", "vmdk", "live-iso")
CLEANING_MODES = ("metadata", "disabled")


class Image(Model):
    """The image that the host gets."""

    url: Annotated[str, name512("Where the image is.", required=True, format="uri")] = ""
    checksum: Annotated[
        str | None, Schema("Digest of the image, or the URL of a file with it.", min_length=0, max_length=512)
    ] = None
    checksum_type: Annotated[str, Schema("Kind of digest.", enum=CHECKSUM_TYPES)] = ""
    disk_format: Annotated[str, Schema("Format of the image.", enum=DISK_FORMATS)] = ""


class CustomDeploy(Model):
    method: Annotated[str, name512("Name of the deploy step that the agent on the host runs.", required=True)] = ""


class HostSelectorRequirement(Model):
    key: Annotated[str, name512("Label that is looked at.", required=True)] = ""
    operator: Annotated[str, required("How it is compared: in, notin, exists, doesnotexist, =, ==, !=, gt, lt.")] = ""
    values: Annotated[
        list[str],
        required(
            "What it is compared with.",
            max_items=512,
            list_type="set",
            items=Schema(min_length=1, max_length=512),
        ),
    ] = []


class HostSelector(Model):
    """Which hosts are fit; all given labels and expressions must match."""

    match_labels: Annotated[dict[str, str], Schema("Labels the host must have, with these values.")] = {}
    match_expressions: Annotated[
        list[HostSelectorRequirement], keyed("Expressions about labels of the host.", "key")
    ] = []


class Metal3MachineSpec(Model):
    provider_id: Annotated[
        str, Field(alias="providerID"), name512("Identity of the machine for Kubernetes: metal3://...")
    ] = ""
    image: Annotated[Image, Schema("Image for the host.")] = Image()
    custom_deploy: Annotated[CustomDeploy, Schema("Deploy step of one's own in place of an image.")] = CustomDeploy()
    user_data: Annotated[SecretReference | None, Schema("Secret with the user data.")] = None
    host_selector: Annotated[HostSelector | None, Schema("Which hosts are fit; any when absent.")] = None
    data_template: Annotated[
        ObjectRef | None, Schema("Metal3DataTemplate that the metadata and network data are made from.")
    ] = None
    meta_data: Annotated[SecretReference | None, Schema("Secret with the metadata.")] = None
    network_data: Annotated[SecretReference | None, Schema("Secret with the network data.")] = None
    automated_cleaning_mode: Annotated[
        str, Schema("Whether disks of the host are wiped afterwards.", enum=CLEANING_MODES)
    ] = ""
    failure_domain: Annotated[
        str, Schema("Failure domain to take the host from; follows the Machine.", min_length=1, max_length=256)
    ] = ""


class MachineAddress(Model):
    type: Annotated[str, required("Kind of address.", enum=ADDRESS_TYPES)] = ""
    address: Annotated[str, required("The address.", min_length=1, max_length=256)] = ""


class LegacyStatus(Model):
    conditions: Annotated[list[LegacyCondition], Schema("Conditions in the older form.")] = []
    failure_reason: Annotated[str | None, Schema("A failure that needs a person, in one word.")] = None
    failure_message: Annotated[str | None, Schema("A failure that needs a person, in words.")] = None


class Deprecated(Model):
    v1beta1: Annotated[LegacyStatus, Schema("Status of the v1beta1 contract.", keep_empty=True)] = LegacyStatus()


class Metal3MachineStatus(Model):
    initialization: Annotated[Initialization, Schema("What was reached once.", min_properties=1)] = Initialization()
    last_updated: Annotated[str, Schema("When the status was last written.", format="date-time")] = ""
    addresses: Annotated[
        list[MachineAddress], Schema("Addresses of the host.", min_items=1, max_items=32, list_type="atomic")
    ] = []
    user_data: Annotated[SecretReference | None, Schema("Secret with the user data in use.")] = None
    meta_data: Annotated[SecretReference | None, Schema("Secret with the metadata in use.")] = None
    network_data: Annotated[SecretReference | None, Schema("Secret with the network data in use.")] = None
    rendered_data: Annotated[ObjectRef | None, Schema("Metal3Data that was made for the machine.")] = None
    conditions: Conditions = []
    deprecated: Annotated[Deprecated, Schema("Fields that go away with v1beta1.", keep_empty=True)] = Deprecated()


class Metal3Machine(Object):
    """The bare-metal side of a Machine."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta2"
    KIND = "Metal3Machine"

    spec: Annotated[Metal3MachineSpec, Schema("The machine as it should be.")] = Metal3MachineSpec()
    status: Annotated[Metal3MachineStatus, Schema("The machine as it is.")] = Metal3MachineStatus()
