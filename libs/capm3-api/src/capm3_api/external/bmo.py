"""BareMetalHost and HardwareData of the Baremetal Operator, complete; the hardware details stand in `hardware`.

Apart from our kinds, because the Baremetal Operator owns these; where our `host` manager serves them in its place, the
CRDs that we ship come from here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from capm3_api.external.core import Condition, ObjectReference, SecretReference
from capm3_api.external.hardware import HardwareDetails, Raid, RootDeviceHints
from capm3_api.markers import MAC, MAC_ANYWHERE, Schema, required
from capm3_api.meta import Object
from capm3_api.model import Model

_BOOT_MODES = ("UEFI", "UEFISecureBoot", "legacy")


class BMC(Model):
    """How the management controller of the host is reached."""

    address: Annotated[str, required("URL of the controller; its scheme chooses the protocol.")] = ""
    credentials_name: Annotated[str, required("Secret with the keys username and password.")] = ""
    disable_certificate_verification: Annotated[
        bool | None, Schema("Trust any certificate. Only for controllers that have none of their own.")
    ] = None


class Image(Model):
    """What is written to, or booted on, the host."""

    url: Annotated[str, required("Where the image is.")] = ""
    checksum: Annotated[str, Schema("Digest of the image, or the URL of a file with it.")] = ""
    checksum_type: Annotated[str, Schema("Kind of digest.", enum=("md5", "sha256", "sha512", "auto"))] = ""
    format: Annotated[str | None, Schema("Format of the image.", enum=("raw", "qcow2", "vdi", "vmdk", "live-iso"))] = (
        None
    )
    oci_auth_secret_name: Annotated[
        str | None, Field(alias="ociAuthSecretName"), Schema("Secret with the login of the OCI registry.")
    ] = None


class CustomDeploy(Model):
    method: Annotated[str, required("Name of the deploy step that the agent on the host runs.")] = ""


class Firmware(Model):
    """No longer used; kept because stored objects may have it."""

    virtualization_enabled: Annotated[bool | None, Schema("CPU virtualisation.", enum=(True, False))] = None
    simultaneous_multithreading_enabled: Annotated[
        bool | None, Schema("Several threads a core.", enum=(True, False))
    ] = None
    sriov_enabled: Annotated[bool | None, Schema("SR-IOV of network cards.", enum=(True, False))] = None


class NetworkAttachment(Model):
    name: Annotated[str, Schema("Name of the HostNetworkAttachment.", max_length=253)] = ""
    namespace: Annotated[str, Schema("Its namespace.", max_length=63)] = ""


class SwitchPort(Model):
    switch_id: Annotated[str, Field(alias="switchID"), required("MAC address of the switch.", pattern=MAC)] = ""
    port_id: Annotated[str, Field(alias="portID"), required("Name of the port on the switch.")] = ""


class HostInterface(Model):
    name: Annotated[str, Schema("Name of the interface.", pattern=r"^[a-zA-Z0-9._-]+$")] = ""
    mac_address: Annotated[str, Schema("Its MAC address.", pattern=MAC)] = ""
    host_network_attachment: Annotated[NetworkAttachment | None, Schema("Network it is attached to.")] = None
    switch_port: Annotated[SwitchPort | None, Schema("Where it is plugged in.")] = None


class Taint(Model):
    """No longer used."""

    key: Annotated[str, required("Key of the taint.")] = ""
    value: Annotated[str, Schema("Value of the taint.")] = ""
    effect: Annotated[str, required("Effect of the taint.")] = ""
    time_added: Annotated[str, Schema("When it was added.", format="date-time")] = ""


class BareMetalHostSpec(Model):
    taints: Annotated[list[Taint], Schema("No longer used.")] = []
    bmc: Annotated[BMC, Schema("Management controller.")] = BMC()
    raid: Annotated[Raid | None, Schema("RAID volumes to make before provisioning.")] = None
    firmware: Annotated[Firmware | None, Schema("No longer used.")] = None
    hardware_profile: Annotated[str, Schema("No longer used; a name of a known kind of hardware.")] = ""
    root_device_hints: Annotated[RootDeviceHints | None, Schema("Which disk the image is written to.")] = None
    boot_mode: Annotated[str, Schema("Firmware mode the host boots in.", enum=_BOOT_MODES)] = ""
    boot_mac_address: Annotated[
        str,
        Field(alias="bootMACAddress"),
        Schema("MAC address of the interface the host boots from.", pattern=MAC_ANYWHERE),
    ] = ""
    online: Annotated[bool, required("Whether the host should be powered on.")] = False
    consumer_ref: Annotated[ObjectReference | None, Schema("Object that uses the host.")] = None
    image: Annotated[Image | None, Schema("Image to provision.")] = None
    user_data: Annotated[SecretReference | None, Schema("Secret with the user data, key userData or value.")] = None
    preprovisioning_network_data_name: Annotated[
        str, Schema("Secret with network data for the time before provisioning.")
    ] = ""
    network_data: Annotated[SecretReference | None, Schema("Secret with the network data, key networkData.")] = None
    meta_data: Annotated[SecretReference | None, Schema("Secret with the metadata, key metaData.")] = None
    description: Annotated[str, Schema("Free text for people.")] = ""
    externally_provisioned: Annotated[
        bool | None, Schema("Something else provisions the host; only its power is managed here.")
    ] = None
    automated_cleaning_mode: Annotated[
        str,
        Schema("Whether disks are wiped between uses.", default="metadata", enum=("metadata", "disabled")),
    ] = ""
    custom_deploy: Annotated[CustomDeploy | None, Schema("Deploy step of one's own in place of an image.")] = None
    architecture: Annotated[str, Schema("CPU architecture; found by inspection when empty.")] = ""
    disable_power_off: Annotated[bool | None, Schema("Never power the host off; reboot it instead.")] = None
    inspection_mode: Annotated[str, Schema("How the hardware is inspected.", enum=("disabled", "agent", "fast"))] = ""
    network_interfaces: Annotated[list[HostInterface], Schema("Known interfaces and where they are plugged in.")] = []


class Provision(Model):
    """What is, or is being, provisioned."""

    state: Annotated[str, required("State of the host in its life.")] = ""
    id: Annotated[str, Field(alias="ID"), required("Identity of the host in the provisioner.")] = ""
    image: Annotated[Image | None, Schema("Image on the host.")] = None
    root_device_hints: Annotated[RootDeviceHints | None, Schema("Hints that were used.")] = None
    boot_mode: Annotated[str, Schema("Firmware mode that was used.", enum=_BOOT_MODES)] = ""
    raid: Annotated[Raid | None, Schema("RAID volumes that were made.")] = None
    firmware: Annotated[Firmware | None, Schema("No longer used.")] = None
    custom_deploy: Annotated[CustomDeploy | None, Schema("Deploy step that was run.")] = None


class Credentials(Model):
    """Which credentials, and which version of them."""

    credentials: Annotated[SecretReference | None, Schema("The Secret.")] = None
    credentials_version: Annotated[str, Schema("Its resourceVersion.")] = ""


class Operation(Model):
    start: Annotated[str | None, Schema("When it began.", format="date-time", nullable=True)] = None
    end: Annotated[str | None, Schema("When it ended.", format="date-time", nullable=True)] = None


class OperationHistory(Model):
    register_: Annotated[Operation, Field(alias="register"), Schema("Last registration.")] = Operation()
    inspect: Annotated[Operation, Schema("Last inspection.")] = Operation()
    provision: Annotated[Operation, Schema("Last provisioning.")] = Operation()
    deprovision: Annotated[Operation, Schema("Last deprovisioning.")] = Operation()


class BareMetalHostStatus(Model):
    operational_status: Annotated[
        str,
        required("How the host is.", enum=("", "OK", "discovered", "error", "delayed", "detached", "servicing")),
    ] = ""
    error_type: Annotated[
        str,
        Schema(
            "Which step failed.",
            enum=(
                "provisioned registration error",
                "registration error",
                "inspection error",
                "preparation error",
                "provisioning error",
                "power management error",
                "servicing error",
            ),
        ),
    ] = ""
    last_updated: Annotated[str | None, Schema("When the status was last written.", format="date-time")] = None
    hardware_profile: Annotated[str, Schema("No longer used.")] = ""
    hardware: Annotated[HardwareDetails | None, Schema("What inspection found.")] = None
    provisioning: Annotated[Provision, required("What is on the host.")] = Provision()
    good_credentials: Annotated[Credentials, Schema("Credentials that worked last.")] = Credentials()
    tried_credentials: Annotated[Credentials, Schema("Credentials that were sent last.")] = Credentials()
    error_message: Annotated[str, required("What went wrong.")] = ""
    powered_on: Annotated[bool, required("Whether the host is powered on.")] = False
    operation_history: Annotated[OperationHistory, Schema("When the host was last worked on.")] = OperationHistory()
    error_count: Annotated[int, required("Failures since the last success.", default=0)] = 0
    provisioning_fail_count: Annotated[int, required("Failed tries to provision the image.", default=0)] = 0
    last_attempted_image: Annotated[Image | None, Schema("Image that those tries were about.")] = None
    conditions: Annotated[
        list[Condition], Schema("State as conditions.", list_keys=("type",), list_type="map", max_items=32)
    ] = []


class BareMetalHost(Object):
    """A server and what should be on it."""

    API_VERSION = "metal3.io/v1alpha1"
    KIND = "BareMetalHost"

    spec: Annotated[BareMetalHostSpec, Schema("The host as it should be.")] = BareMetalHostSpec()
    status: Annotated[BareMetalHostStatus, Schema("The host as it is.")] = BareMetalHostStatus()


class HardwareDataSpec(Model):
    hardware: Annotated[HardwareDetails | None, Schema("What inspection found.")] = None


class HardwareData(Object):
    """What is known of a host's hardware; it has the host's name."""

    API_VERSION = "metal3.io/v1alpha1"
    KIND = "HardwareData"

    spec: Annotated[HardwareDataSpec, Schema("The hardware.")] = HardwareDataSpec()
