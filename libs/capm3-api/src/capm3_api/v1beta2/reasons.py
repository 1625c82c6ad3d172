"""Condition types and reasons of v1beta2, each string once.

Apart from the managers' table of outcomes, which says when each is used: this module is for everyone who reads
conditions. Source: behaviour facts on CAPM3, section 4.2 and the conditions of the Go program.
"""

from __future__ import annotations

# Types
READY = "Ready"
PAUSED = "Paused"
INFRASTRUCTURE_READY = "BaremetalInfrastructureReady"
ASSOCIATE_HOST = "AssociateBareMetalHost"
ASSOCIATE_METADATA = "AssociateMetal3MachineMetaData"
DATA_READY = "Metal3DataReady"

# Types of the older form
LEGACY_ASSOCIATE_HOST = "AssociateBMH"
LEGACY_NODE_READY = "KubernetesNodeReady"
LEGACY_OWNER_REMEDIATED = "OwnerRemediated"

# Reasons that several types share
NOT_READY = "NotReady"
READY_UNKNOWN = "ReadyUnknown"
NOT_YET_REPORTED = "NotYetReported"
NOT_PAUSED = "NotPaused"
DELETING = "Deleting"
INVALID_CONFIGURATION = "InvalidConfiguration"
CREATE_ERROR = "CreateError"
UPDATE_ERROR = "UpdateError"
DELETE_ERROR = "DeleteError"
DELETION_FAILED = "DeletionFailed"

# BaremetalInfrastructureReady
ENDPOINT_FAILED = "ControlPlaneEndpointFailed"

# AssociateBareMetalHost
ASSOCIATED = "AssociateBareMetalHostSuccess"
ASSOCIATED_VIA_NODE_REUSE = "AssociateBareMetalHostViaNodeReuseSuccess"
ASSOCIATE_FAILED = "AssociateBareMetalHostFailed"
WAITING_FOR_OWNER = "WaitingForMetal3MachineOwnerRef"
WAITING_FOR_INFRASTRUCTURE = "WaitingForClusterInfrastructureReady"
WAITING_FOR_METAL3_CLUSTER = "WaitingforMetal3Cluster"
WAITING_FOR_BOOTSTRAP = "WaitingForBootstrapData"
HOST_PAUSE_SET_FAILED = "BareMetalHostPauseAnnotationSetFailed"
HOST_PAUSE_REMOVE_FAILED = "BareMetalHostPauseAnnotationRemoveFailed"

# AssociateMetal3MachineMetaData
METADATA_ASSOCIATED = "AssociateMetal3MachineMetaDataSuccess"
METADATA_FAILED = "AssociateMetal3MachineMetaDataFailed"
METADATA_DISSOCIATE_FAILED = "DisassociateM3MetaDataFailed"

# Metal3DataReady
SECRETS_READY = "Metal3DataSecretsReady"
SECRETS_EXTERNAL = "SecretsSetExternally"
WAITING_FOR_DATA = "WaitingForMetal3Data"
