"""Metal3Remediation v1beta1: the time-out is a text like ``5m0s``.

Apart from its template, which repeats the spec of it.
"""

from __future__ import annotations

from typing import Annotated

from capm3_api.markers import Schema
from capm3_api.meta import Object
from capm3_api.model import Model


class RemediationStrategy(Model):
    type: Annotated[str, Schema("What is done: Reboot.")] = ""
    retry_limit: Annotated[int, Schema("How often.")] = 0
    timeout: Annotated[str | None, Schema("From one try to the next, as a Go duration.")] = None


class Metal3RemediationSpec(Model):
    strategy: Annotated[RemediationStrategy | None, Schema("How the machine is mended.")] = None


class Metal3RemediationStatus(Model):
    phase: Annotated[str, Schema("Where it stands: Running, Waiting, Deleting machine, Failed.")] = ""
    retry_count: Annotated[int, Schema("Tries so far.")] = 0
    last_remediated: Annotated[str | None, Schema("When the last try began.", format="date-time")] = None


class Metal3Remediation(Object):
    """An order to mend a machine; it has the machine's name."""

    API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta1"
    KIND = "Metal3Remediation"

    spec: Annotated[Metal3RemediationSpec, Schema("What is to be done.")] = Metal3RemediationSpec()
    status: Annotated[Metal3RemediationStatus, Schema("How far it is.")] = Metal3RemediationStatus()
