"""Metal3Data and Metal3DataClaim: names and references that fit each other and stay.

Source: behaviour facts on CAPM3 3.7 and 3.8. A claim without a template, on which the Go program panics, is refused
with a field error here.
"""

from __future__ import annotations

from typing import Any

from capm3_api.validation import errors
from capm3_api.validation.errors import FieldError
from capm3_api.validation.machinespec import NAMESPACE_RULE
from capm3_api.validation.values import Change, at, number, text

_FIXED = "cannot be modified"


def check_data(change: Change) -> list[FieldError]:
    return _create_data(change) if change.old is None else _update_data(change)


def _create_data(change: Change) -> list[FieldError]:
    name, index = text(at(change.new, "metadata", "name")), at(change.new, "spec", "index")
    template = at(change.new, "spec", "template")
    found = []
    if index is not None and template is not None and name != f"{text(at(template, 'name'))}-{number(index)}":
        detail = "should follow the convention <Metal3Template Name>-<index>"
        found.append(errors.invalid("metadata.name", name, detail))
    if number(index) < 0:
        found.append(errors.invalid("spec.index", index, "must be positive value"))
    for field, what in (("template", "template"), ("claim", "claim")):
        namespace = text(at(change.new, "spec", field, "namespace"))
        if namespace and namespace != change.namespace:
            detail = f"cross-namespace {what} references are not allowed"
            found.append(errors.forbidden(f"spec.{field}.namespace", detail, rule=NAMESPACE_RULE))
    return found


def _update_data(change: Change) -> list[FieldError]:
    old, new = at(change.old, "spec"), at(change.new, "spec")
    found = []
    if number(at(old, "index")) != number(at(new, "index")):
        found.append(errors.invalid("spec.index", at(new, "index"), _FIXED))
    for field in ("template", "claim"):
        if not _same_reference(at(old, field), at(new, field), change.namespace):
            found.append(errors.invalid(f"spec.{field}", at(new, field), _FIXED))
    return found


def _same_reference(old: Any, new: Any, namespace: str) -> bool:
    """Whether two references mean one object; one without a namespace means its own.

    The data controller writes the missing namespace of a template into the object, which the Go program's own rule
    refuses.
    """
    left, right = ((text(at(item, "name")), text(at(item, "namespace"))) for item in (old, new))
    if left == right:
        return True
    filled = [(name, space or namespace) for name, space in (left, right)]
    return bool(left[0]) and not left[1] and filled[0] == filled[1]


def check_claim(change: Change) -> list[FieldError]:
    new, old = at(change.new, "spec", "template"), at(change.old, "spec", "template")
    name, namespace = text(at(new, "name")), text(at(new, "namespace"))
    found = []
    if change.old is None or new is None:
        found += [] if name else [errors.invalid("spec.template.name", "", "must be set")]
    elif (text(at(old, "name")), text(at(old, "namespace"))) != (name, namespace):
        found.append(errors.invalid("spec.template", new, _FIXED))
    if namespace and namespace != change.namespace:
        detail = (
            "must be empty or match the Metal3DataClaim namespace; cross-namespace template references are not allowed"
        )
        found.append(errors.invalid("spec.template.namespace", namespace, detail))
    return found
