"""Every way a pass can end or wait, in one table: condition, reason, severity and default message.

No condition is written by hand elsewhere, so this file and the reference page made from it are all a user needs to know
about what the managers say. Texts that the Go program has too are its wire contract (behaviour facts, section 4); reasons
that only this program has are marked "ours" and stand in docs/reference/quirks.md.
"""

from __future__ import annotations

import dataclasses

REQUEUE_SECONDS = 30.0
"""How long a wait lasts that no watch ends, and what the messages say about it."""


@dataclasses.dataclass(frozen=True)
class Legacy:
    """The same thing in the older form, under ``status.deprecated.v1beta1.conditions``.

    Args:
        told: whether the message is carried too; the plain waits of the Go program have none here.
    """

    type: str
    status: str
    reason: str = ""
    severity: str = ""
    told: bool = False


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Args:
    type: condition type in ``status.conditions``; ``""`` when there is only the legacy form.
    status: ``True``, ``False`` or ``Unknown``.
    message: default message; the draft may give a better one.
    legacy: the older form, if there is one.
    prefix: stands before the message in ``status.conditions``, and not in the older form.
    """

    type: str
    status: str
    reason: str
    message: str = ""
    legacy: Legacy | None = None
    prefix: str = ""

    def but(self, reason: str) -> Outcome:
        """The same outcome with a more telling reason in ``status.conditions``."""
        return dataclasses.replace(self, reason=reason)


def again(text: str, seconds: float = REQUEUE_SECONDS) -> str:
    """The message of a wait as the Go program words it."""
    return f"{text}. Object will be requeued after {seconds:.0f}s"


# Metal3Cluster

CLUSTER_READY = "BaremetalInfrastructureReady"
CLUSTER_SUMMARY = (CLUSTER_READY,)

CLUSTER_OK = Outcome(CLUSTER_READY, "True", "Ready", legacy=Legacy(CLUSTER_READY, "True"))
CLUSTER_OWNER_LOST = Outcome(
    CLUSTER_READY,
    "False",
    "FailedToGetOwnerCluster",
    legacy=Legacy(CLUSTER_READY, "False", "InternalFailureOccured", "Error", told=True),
)
CLUSTER_INVALID = Outcome(
    CLUSTER_READY, "False", "InvalidConfiguration", prefix="Invalid Metal3Cluster provided", legacy=None
)
CLUSTER_DELETING = Outcome("Deleting", "True", "Deleting")  # ours: says what the deletion waits for

# Pause, for every kind

PAUSED = Outcome("Paused", "True", "Paused")
NOT_PAUSED = Outcome("Paused", "False", "NotPaused")

# Metal3Machine

ASSOCIATED = "AssociateBareMetalHost"
METADATA = "AssociateMetal3MachineMetaData"
DATA_READY = "Metal3DataReady"
MACHINE_SUMMARY = (ASSOCIATED, METADATA, DATA_READY)
LEGACY_ASSOCIATED = "AssociateBMH"
LEGACY_NODE = "KubernetesNodeReady"
MACHINE_LEGACY_SUMMARY = (LEGACY_ASSOCIATED, DATA_READY, LEGACY_NODE)


def _waiting(legacy_reason: str) -> Legacy:
    return Legacy(LEGACY_ASSOCIATED, "False", legacy_reason, "Info")


def _failed() -> Legacy:
    return Legacy(LEGACY_ASSOCIATED, "False", "AssociateBMHFailed", "Error", told=True)


def _node(legacy_reason: str, severity: str = "Warning") -> Legacy:
    return Legacy(LEGACY_NODE, "False", legacy_reason, severity, told=True)


WAITING_FOR_OWNER = Outcome(
    ASSOCIATED,
    "False",
    "WaitingForMetal3MachineOwnerRef",
    "Waiting for Machine Controller to set OwnerRef on Metal3Machine",
    _waiting("WaitingForM3MachineOwnerRef"),
)
OWNER_MISSING = Outcome(  # ours: the Go program only logs it
    ASSOCIATED,
    "False",
    "WaitingForMetal3MachineOwnerRef",
    "metal3Machine's owner Machine could not be retrieved",
    _waiting("WaitingForM3MachineOwnerRef"),
)
NO_CLUSTER = Outcome(
    ASSOCIATED,
    "False",
    "WaitingForClusterInfrastructureReady",
    "Machine is missing cluster label or cluster does not exist",
)
WAITING_FOR_INFRASTRUCTURE = Outcome(
    ASSOCIATED,
    "False",
    "WaitingForClusterInfrastructureReady",
    "Waiting for Metal3Cluster Controller to create cluster infrastructure",
    _waiting("WaitingForClusterInfrastructure"),
)
WAITING_FOR_METAL3_CLUSTER = Outcome(
    ASSOCIATED,
    "False",
    "WaitingforMetal3Cluster",
    "Waiting for Metal3Cluster Controller to create the Metal3Cluster",
    _waiting("WaitingforMetal3Cluster"),
)
MACHINE_PAUSED = Outcome(ASSOCIATED, "False", "Paused", legacy=_waiting("Metal3MachinePaused"))
WAITING_FOR_BOOTSTRAP = Outcome(
    ASSOCIATED,
    "False",
    "WaitingForBootstrapData",
    "Waiting for bootstrap data to be ready before proceeding",
    _waiting("WaitingForBootstrapReady"),
)
ASSOCIATION_FAILED = Outcome(
    ASSOCIATED,
    "False",
    "AssociateBareMetalHostFailed",
    legacy=_failed(),
    prefix="failed to associate the Metal3Machine to a BareMetalHost",
)
NO_HOST = ASSOCIATION_FAILED
NO_HOST_IN_DOMAIN = ASSOCIATION_FAILED.but("NoHostInFailureDomain")  # ours
CROSS_NAMESPACE = ASSOCIATION_FAILED.but("CrossNamespaceReference")  # ours
INVALID_MACHINE = ASSOCIATION_FAILED.but("InvalidConfiguration")  # ours: a field of the spec can't be read
ASSOCIATED_OK = Outcome(ASSOCIATED, "True", "AssociateBareMetalHostSuccess", legacy=Legacy(LEGACY_ASSOCIATED, "True"))
ASSOCIATED_BY_REUSE = ASSOCIATED_OK.but("AssociateBareMetalHostViaNodeReuseSuccess")

# ours: what can happen to a host after the pick (report B02); nothing is released or deprovisioned because of it
HOST_EXTERNALLY_PROVISIONED = Outcome(ASSOCIATED, "False", "BareMetalHostExternallyProvisioned", legacy=_failed())
HOST_IN_ERROR = Outcome(ASSOCIATED, "False", "BareMetalHostInError", legacy=_failed())
HOST_UNUSABLE = Outcome(ASSOCIATED, "False", "BareMetalHostUnusable", legacy=_failed())
HOST_TAKEN = Outcome(ASSOCIATED, "False", "BareMetalHostTaken", legacy=_failed())

AFTER_THE_PICK = tuple(
    outcome.reason for outcome in (HOST_EXTERNALLY_PROVISIONED, HOST_IN_ERROR, HOST_UNUSABLE, HOST_TAKEN)
)
"""Reasons that only a machine with a host can have."""

METADATA_OK = Outcome(METADATA, "True", "AssociateMetal3MachineMetaDataSuccess")
METADATA_FAILED = Outcome(
    METADATA,
    "False",
    "AssociateMetal3MachineMetaDataFailed",
    legacy=_node("AssociateM3MetaDataFailed"),
    prefix="Failed to get the Metal3Metadata",
)
METADATA_CROSS_NAMESPACE = METADATA_FAILED.but("CrossNamespaceReference")  # ours
HOST_UPDATE_FAILED = Outcome(METADATA, "False", "CreateError", prefix="failed to update BareMetalHost")
MACHINE_UPDATE_FAILED = Outcome(METADATA, "False", "UpdateError", prefix="Failed to update the Metal3Machine")
CLOUD_PROVIDER_FAILED = Outcome(
    METADATA,
    "False",
    "CreateError",
    prefix="failed to set ProviderID on Metal3Machine based on Cloud Provider Node ProviderID",
)
NODE_LABEL_FAILED = Outcome(
    METADATA, "False", "CreateError", prefix="failed to set ProviderID on Metal3Machine based on Node label"
)
HOSTNAME_FAILED = Outcome(
    METADATA, "False", "UpdateError", prefix="unable to find Node by hostname, it may not be ready yet"
)
MACHINE_DELETING = Outcome(METADATA, "False", "Deleting", legacy=_node("Deleting", "Info"))
DELETION_WAITS = Outcome(
    METADATA, "False", "DeletionFailed", legacy=_node("DeletionFailed"), prefix="failed to delete Metal3Machine"
)

WAITING_FOR_DATA = Outcome(
    DATA_READY, "False", "WaitingForMetal3Data", legacy=Legacy(DATA_READY, "False", "WaitingForMetal3Data", "Info")
)
DATA_OK = Outcome(DATA_READY, "True", "Metal3DataSecretsReady", legacy=Legacy(DATA_READY, "True"))
DATA_EXTERNAL = Outcome(DATA_READY, "True", "SecretsSetExternally", legacy=Legacy(DATA_READY, "True"))


TABLE: dict[str, Outcome] = {
    name: value for name, value in list(globals().items()) if isinstance(value, Outcome) and name.isupper()
}
"""Every outcome by its name, for the reference page."""
