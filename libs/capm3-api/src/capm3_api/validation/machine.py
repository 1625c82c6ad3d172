"""Metal3Machine and Metal3MachineTemplate: the shared machine rules, and that a template does not change.

Source: behaviour facts on CAPM3 3.4 and 3.5, field reports B10, B13 and B14.
"""

from __future__ import annotations

from capm3_api.validation import machinespec, template
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import Change

MUTABLE = ("automatedCleaningMode",)
"""The template controller carries this one to the machines, so that it must be open to change."""


def check_machine(change: Change) -> list[FieldError]:
    return machinespec.check(change, "spec") + machinespec.host_annotation(change)


def check_template(change: Change) -> list[FieldError]:
    return _create(change) + template.immutable(change, _create, mutable=MUTABLE)


def _create(change: Change) -> list[FieldError]:
    return machinespec.check(change, "spec", "template", "spec", template=True)
