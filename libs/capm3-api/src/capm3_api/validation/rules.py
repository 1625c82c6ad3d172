"""Which rules hold for which kind: the one entrance for the webhook, the managers and ``capm3 validate``.

Apart from the rules themselves, so that the three callers can't hold different sets. Everything is pure and works on
v1beta2 objects; older versions are converted first. Deletion is always allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from capm3_api.model import Raw
from capm3_api.validation import cluster, data, datatemplate, machine, remediation
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import Change

Check = Callable[[Change], list[FieldError]]

CHECKS: Mapping[str, Check] = {
    "Metal3Cluster": cluster.check_cluster,
    "Metal3ClusterTemplate": cluster.check_template,
    "Metal3Machine": machine.check_machine,
    "Metal3MachineTemplate": machine.check_template,
    "Metal3DataTemplate": datatemplate.check,
    "Metal3Data": data.check_data,
    "Metal3DataClaim": data.check_claim,
    "Metal3Remediation": remediation.check_remediation,
    "Metal3RemediationTemplate": remediation.check_template,
}
"""A row for each of the nine kinds."""

WARNINGS: Mapping[str, Callable[[Change], list[str]]] = {"Metal3DataTemplate": datatemplate.warnings}


def validate(new: Raw, old: Raw | None = None, *, dry_run: bool = False) -> list[FieldError]:
    """Everything that is wrong with a create (`old` is ``None``) or an update; empty when it may pass.

    Args:
        new: a v1beta2 object after defaulting; values of any shape are borne.
        old: the stored object, in the same version.
        dry_run: whether the request asks for a dry run.
    """
    check = CHECKS.get(str(new.get("kind")))
    return check(Change(new, old, dry_run)) if check else []


def validate_stored(obj: Raw) -> list[FieldError]:
    """What a manager must hold against an object that may have been stored before the rules existed.

    The create rules, judged on the object alone.
    """
    return validate(obj)


def warnings(new: Raw, old: Raw | None = None) -> list[str]:
    """What a client should be told although the request passes."""
    warn = WARNINGS.get(str(new.get("kind")))
    return warn(Change(new, old)) if warn else []
