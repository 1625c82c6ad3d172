"""The states of a host and what holds in each: a table.

Data apart from the steps, so that what to read, what an error is called and what the conditions say in a state can be
seen, and documented, in one place (behaviour facts on the Baremetal Operator, sections 1.2 and 4).
"""

from __future__ import annotations

import dataclasses

NONE = ""
UNMANAGED = "unmanaged"
REGISTERING = "registering"
INSPECTING = "inspecting"
MATCH_PROFILE = "match profile"
PREPARING = "preparing"
AVAILABLE = "available"
READY = "ready"
PROVISIONING = "provisioning"
PROVISIONED = "provisioned"
EXTERNALLY_PROVISIONED = "externally provisioned"
DEPROVISIONING = "deprovisioning"
POWERING_OFF = "powering off before delete"
DELETING = "deleting"

REGISTRATION_ERROR = "registration error"
INSPECTION_ERROR = "inspection error"
PREPARATION_ERROR = "preparation error"
PROVISIONING_ERROR = "provisioning error"
POWER_ERROR = "power management error"


@dataclasses.dataclass(frozen=True)
class State:
    """Args:
    error: ``status.errorType`` when an action on the server fails in this state.
    progress: reason of the true condition Progressing; ``""``: nothing goes on.
    operation: name in ``status.operationHistory`` of the time spent here.
    reads_inventory: the pass needs the server's hardware.
    reads_media: the pass needs what is in the virtual CD.
    asks: the pass needs the server at all.
    """

    name: str
    error: str = POWER_ERROR
    progress: str = ""
    operation: str = ""
    manageable: bool = True
    available: bool = False
    provisioned: bool = False
    reads_inventory: bool = False
    reads_media: bool = False
    asks: bool = True


_ROWS = (
    State(NONE, manageable=False, asks=False),
    State(UNMANAGED, manageable=False, asks=False),
    State(REGISTERING, REGISTRATION_ERROR, "Registering", "register", manageable=False),
    State(INSPECTING, INSPECTION_ERROR, "Inspecting", "inspect", reads_inventory=True),
    State(MATCH_PROFILE, PREPARATION_ERROR, "Inspecting", asks=False),
    State(PREPARING, PREPARATION_ERROR, "Preparing"),
    State(AVAILABLE, available=True, reads_media=True),
    State(READY, available=True, reads_media=True),
    State(PROVISIONING, PROVISIONING_ERROR, "Provisioning", "provision", reads_media=True),
    State(PROVISIONED, provisioned=True, reads_media=True),
    State(EXTERNALLY_PROVISIONED, provisioned=True),
    State(DEPROVISIONING, PROVISIONING_ERROR, "Deprovisioning", "deprovision", reads_media=True),
    State(POWERING_OFF, progress="PoweringOffBeforeDelete"),
    State(DELETING, progress="Deleting", asks=False),
)
STATES = {row.name: row for row in _ROWS}

POWER_MANAGED = (AVAILABLE, READY, PROVISIONED, EXTERNALLY_PROVISIONED)
"""States in which ``spec.online`` decides about the power, and in which a host may be detached."""


def of(name: str) -> State:
    """The state's row; a name that nobody knows counts as not yet seen."""
    return STATES.get(name, STATES[NONE])
