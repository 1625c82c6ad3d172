"""What people do about an outcome: one short text for each, keyed by the outcome's name in `outcomes.TABLE`.

Apart from the outcomes, which are the wire contract: these texts are ours alone, and never written into an object. The
reference page and ``capm3 explain`` both say them.
"""

from __future__ import annotations

from capm3_managers import outcomes
from capm3_managers.data import report
from capm3_managers.outcomes import Outcome

REMEDIES: dict[str, str] = {
    "CLUSTER_OWNER_LOST": "Look at the Cluster that the owner reference names; the error says why it could not "
    "be read.",
    "CLUSTER_INVALID": "Mend the field that the message names.",
    "CLUSTER_DELETING": "Wait, or delete the machines that the message names.",
    "PAUSED": "Take away `spec.paused` of the Cluster or the annotation `cluster.x-k8s.io/paused`.",
    "WAITING_FOR_OWNER": "Cluster API sets it; a Metal3Machine made by hand needs a Machine whose "
    "`infrastructureRef` names it.",
    "OWNER_MISSING": "The Machine that the owner reference names is gone: delete the Metal3Machine, or "
    "restore the Machine.",
    "NO_CLUSTER": "Give the Machine the label `cluster.x-k8s.io/cluster-name` with the name of a "
    "Cluster in its namespace.",
    "WAITING_FOR_INFRASTRUCTURE": "Look at the Metal3Cluster: its Ready condition says what is missing.",
    "WAITING_FOR_METAL3_CLUSTER": "Create the Metal3Cluster that the Cluster's `infrastructureRef` names.",
    "MACHINE_PAUSED": "Take away the pause; see `Paused`.",
    "WAITING_FOR_BOOTSTRAP": "Look at the Machine's bootstrap object: it has not made its data Secret yet.",
    "ASSOCIATION_FAILED": "The message says which hosts were looked at and why none fits; add or free a host, "
    "or mend the selector.",
    "NO_HOST_IN_DOMAIN": "Add or free a host of that failure domain, or set `--failure-domain-policy=preferred`.",
    "CROSS_NAMESPACE": "Keep what a machine refers to in the machine's own namespace.",
    "INVALID_MACHINE": "Mend the field that the message names.",
    "HOST_EXTERNALLY_PROVISIONED": "Somebody set `externallyProvisioned` on the host after it was chosen: undo it, or "
    "delete the Machine.",
    "HOST_IN_ERROR": "Look at the host's `status.errorMessage`; nothing is released or erased because of it.",
    "HOST_UNUSABLE": "The host changed after it was chosen; the message says how. Mend the host, or delete "
    "the Machine.",
    "HOST_TAKEN": "The host that the annotation names belongs to another consumer; take the annotation "
    "away, or free the host.",
    "METADATA_FAILED": "Look at the Metal3Data that the message names; a missing network interface or pool "
    "is named there.",
    "METADATA_CROSS_NAMESPACE": "Use a data template in the machine's own namespace.",
    "HOST_UPDATE_FAILED": "The message has the reason; the pass is repeated by itself.",
    "MACHINE_UPDATE_FAILED": "The message has the reason; the pass is repeated by itself.",
    "CLOUD_PROVIDER_FAILED": "The cloud provider has not set the Node's provider ID yet; see whether it runs in "
    "the workload cluster.",
    "NODE_LABEL_FAILED": "No Node, or several, carry the label `metal3.io/uuid` of this host: look at the "
    "kubelet's `node-labels`.",
    "HOSTNAME_FAILED": "No Node has the host's name yet: see whether the server has booted and joined.",
    "DELETION_WAITS": "The message says what the deletion waits for, most often the host's deprovisioning.",
    "WAITING_FOR_DATA": "Look at the Metal3Data and the IP claims of this machine.",
}

OF_DATA: dict[str, str] = {
    report.HOST_INTERFACE_NOT_FOUND: "Name an interface that the host has, or give the MAC address as annotation; "
    "`capm3 render FILE...` checks a template against every host.",
    report.HARDWARE_DETAILS_MISSING: "Let the host be inspected (no `inspect.metal3.io: disabled`), or give MAC addresses "
    "that need no inspection.",
    report.MAC_ADDRESS_INVALID: "Mend the MAC address at the place that the message names.",
    report.ANNOTATION_NOT_FOUND: "Set the annotation that the message names, or take it out of the template.",
    report.POOL_NOT_FOUND: "Create the IPPool, or name another one in the template.",
    report.POOL_NAME_INVALID: "Give the pool a name that an object can have.",
    report.POOL_REFERENCES_CONFLICT: "Give one of the two pools another name.",
    report.CLAIM_NOT_OURS: "Delete the claim that the message names, or reserve the address with `preAllocations`.",
    report.ADDRESS_NOT_ALLOCATED: "Look at the pool: it may be used up, or its manager may not run.",
    report.TEMPLATE_INVALID: "Mend the Metal3DataTemplate at the place that the message names.",
    report.REFERENCE_INVALID: "Mend the reference that the message names.",
    report.SECRET_NOT_OURS: "Delete the Secret that the message names, or give the template's Secrets other names.",
    report.DELETION_BLOCKED: "Wait for what the message names, or delete it.",
}
"""The same for what a Metal3Data reports; such a reason stands in the machine's condition ``Metal3DataReady``."""


OF_HOSTS: dict[str, str] = {
    "registration error": "Mend address or credentials of the BMC; `capm3 bmc probe ADDRESS` tries them from here.",
    "inspection error": "See whether the server boots the inspection image, or disable inspection.",
    "preparation error": "Look at the firmware, RAID or BIOS settings that the host asks for.",
    "provisioning error": "See whether the image's URL and checksum are right and the server can reach it.",
    "power management error": "Try `capm3 bmc power` against this server; its BMC refuses or does not answer.",
    "provisioned registration error": "Mend address or credentials of the BMC; the server itself goes on running.",
    "detach error": "Look at the host's `status.errorMessage`.",
    "servicing error": "Look at the firmware or BIOS settings that were changed.",
    "": "Nothing has looked at the host yet: see whether the Baremetal Operator, or capm3-controller's host controller, runs.",
    "unmanaged": "Give the host `spec.bmc.address` and `spec.bmc.credentialsName`.",
    "registering": "The BMC is tried; if it lasts, `capm3 bmc probe ADDRESS` tells what a BMC answers.",
    "inspecting": "Wait; a server that never answers is shown by its console.",
    "provisioning": "Wait; a server that does not come up is shown by its console.",
    "deprovisioning": "Wait; a host's disks are cleaned unless `automatedCleaningMode` is `disabled`.",
}
"""What to do about a host: by ``status.errorType`` when it has an error, else by its provisioning state."""

NOT_LOOKED_AT = (
    "See whether capm3-controller runs, watches this namespace (`--namespace`) and this object (`--watch-filter`)."
)
"""About an object of ours without any condition."""


def of(type_: str, reason: str, message: str = "") -> str:
    """What to do about a condition; ``""`` when nothing is known.

    Args:
        message: tells outcomes apart that share a reason.
    """
    if reason in OF_DATA:
        return OF_DATA[reason]
    found = [name for name, item in outcomes.TABLE.items() if (item.type, item.reason) == (type_, reason)]
    told = [name for name in found if name in REMEDIES]
    best = max(told, key=lambda name: _likeness(outcomes.TABLE[name], message), default="")
    return REMEDIES.get(best, "")


def _likeness(outcome: Outcome, message: str) -> int:
    """How much of the message is the outcome's own text."""
    start = outcome.prefix or outcome.message
    return len(start) if start and message.startswith(start) else 0
