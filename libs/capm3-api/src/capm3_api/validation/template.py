"""When the specification inside a template may change.

Apart from the kinds, because the topology controller of Cluster API expects one behaviour of all of them: a template
is replaced by a new one, never changed, and its dry run must pass all the same (field report B14, contract section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from capm3_api.validation import errors
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import Change, at, mapping, normal

RULE = "template-immutable"
DRY_RUN_ANNOTATION = "topology.cluster.x-k8s.io/dry-run"
DETAIL = (
    "spec.template.spec is immutable: create a template with a new name and refer to that one "
    "(metadata and the fields beside spec.template may change)"
)


def immutable(
    change: Change, rules: Callable[[Change], Sequence[FieldError]], *, mutable: tuple[str, ...] = ()
) -> list[FieldError]:
    """An error when ``spec.template.spec`` changes on update.

    Args:
        rules: the create rules of the kind; a stored template that breaks them may be mended.
        mutable: fields of the inner spec that may change, since a controller carries them to the machines.
    """
    if change.old is None or _is_topology_dry_run(change):
        return []
    old, new = (_frozen(obj, mutable) for obj in (change.old, change.new))
    if normal(old) == normal(new) or any(not error.rule for error in rules(Change(change.old))):
        return []
    return [errors.invalid("spec.template.spec", at(change.new, "spec", "template", "spec"), DETAIL, rule=RULE)]


def _frozen(obj: Any, mutable: tuple[str, ...]) -> dict[str, Any]:
    spec = mapping(at(obj, "spec", "template", "spec"))
    return {key: value for key, value in spec.items() if key not in mutable}


def _is_topology_dry_run(change: Change) -> bool:
    annotations = mapping(at(change.new, "metadata", "annotations"))
    return change.dry_run and DRY_RUN_ANNOTATION in annotations
