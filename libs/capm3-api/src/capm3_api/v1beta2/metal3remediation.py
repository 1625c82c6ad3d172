"""Metal3Remediation v1beta2: the mending of one unhealthy machine.

Apart from its template, which repeats the spec of it.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.markers import Schema
from capm3_api.meta import Object
from capm3_api.model import Model

PHASES = ("Running", "Waiting", "Deleting machine", "Failed")


class RemediationStrategy(Model):
    type: Annotated[str, Schema("What is done.", enum=("Reboot",))] = ""
    retry_limit: Annotated[int | None, Schema("How often.", default=1, minimum=1, format="int32")] = None
    timeout_seconds: Annotated[
        int | None, Schema("Seconds from one try to the next.", default=600, minimum=100, format="int32")
    ] = None


class Metal3RemediationSpec(Model):
    strategy: Annotated[RemediationStrategy | None, Schema("How the machine is mended.")] = None


class Metal3RemediationStatus(Model):
    phase: Annotated[str, Schema("Where it stands.", enum=PHASES)] = ""
    retry_count: Annotated[int | None, Schema("Tries so far.", minimum=1, format="int32")] = None
    last_remediated: Annotated[str, Schema("When the last try began.", format="date-time")] = ""


class Metal3Remediation(Object):
    """An order to mend a machine; it has the machine's name."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta2"
    KIND = "Metal3Remediation"

    spec: Annotated[Metal3RemediationSpec, Schema("What is to be done.")] = Metal3RemediationSpec()
    status: Annotated[Metal3RemediationStatus, Schema("How far it is.")] = Metal3RemediationStatus()
