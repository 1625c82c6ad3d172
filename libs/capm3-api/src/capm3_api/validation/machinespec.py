"""The rules for the specification of a machine, wherever it is embedded.

Apart from Metal3Machine and Metal3MachineTemplate, so that a rule can't hold for one and not for the other (field
report B13). Source: behaviour facts on CAPM3 3.4 and 3.5, field reports B04 and B10.
"""

from __future__ import annotations

from capm3_api import names, selectors
from capm3_api.validation import errors, image
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import Change, at, text

NAMESPACE_RULE = "cross-namespace"
"""References to other namespaces that the Go program lets in and only its controllers refuse."""

_SECRETS = ("userData", "metaData", "networkData")


def check(change: Change, *spec: str, template: bool = False) -> list[FieldError]:
    """Everything about the machine spec at the path of keys `spec`.

    Args:
        template: whether it is the one of a template; the Go program does not look at a template's Secrets.
    """
    found = image.check(change, *spec)
    for name in _SECRETS:
        found += _foreign(change, (*spec, name), "secret", NAMESPACE_RULE if template else "")
    found += _foreign(change, (*spec, "dataTemplate"), "data template", NAMESPACE_RULE)
    if change.touched(*spec, "hostSelector"):
        parsed = selectors.parse(at(change.new, *spec, "hostSelector"), ".".join((*spec, "hostSelector")))
        found += parsed if isinstance(parsed, list) else []
    return found


def _foreign(change: Change, path: tuple[str, ...], what: str, rule: str) -> list[FieldError]:
    namespace = text(at(change.new, *path, "namespace"))
    if not namespace or namespace == change.namespace or (rule and not change.touched(*path)):
        return []
    detail = f"cross-namespace {what} references are not allowed"
    return [errors.forbidden(".".join((*path, "namespace")), detail, rule=rule)]


def host_annotation(change: Change) -> list[FieldError]:
    """The host that a Metal3Machine names by annotation must be in its own namespace."""
    value = text(at(change.new, "metadata", "annotations", names.HOST_ANNOTATION))
    namespace = value.partition("/")[0] if "/" in value else ""
    touched = change.touched("metadata", "annotations", names.HOST_ANNOTATION)
    if not touched or not namespace or namespace == change.namespace:
        return []
    path = f"metadata.annotations[{names.HOST_ANNOTATION}]"
    return [errors.forbidden(path, "cross-namespace host references are not allowed", rule=NAMESPACE_RULE)]
