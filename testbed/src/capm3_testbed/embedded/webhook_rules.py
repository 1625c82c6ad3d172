"""Whether a webhook's rule and selectors fit a request: pure functions over the configuration's own words.

Apart from the calling, so that the matching can be tested as a table.
"""

from __future__ import annotations

from collections.abc import Mapping

from capm3_api.meta import Kind
from capm3_api.model import Raw
from capm3_managers.testing.world_types import metadata_of


def fits(rule: Raw, kind: Kind, subresource: str, operation: str) -> bool:
    """Whether a ``rules`` entry is for this resource and operation."""
    scope = rule.get("scope") or "*"
    return (
        _has(rule.get("operations"), operation)
        and _has(rule.get("apiGroups"), kind.group)
        and _has(rule.get("apiVersions"), kind.version)
        and scope in ("*", "Namespaced" if kind.namespaced else "Cluster")
        and any(_resource_fits(text, kind.plural, subresource) for text in rule.get("resources") or [])
    )


def selects(selector: Raw | None, new: Raw | None, old: Raw | None) -> bool:
    """Whether a label selector fits the object as it will be or as it was; an empty one fits all."""
    if not selector:
        return True
    return any(obj is not None and _selects(selector, metadata_of(obj).get("labels") or {}) for obj in (new, old))


def _has(values: list[str] | None, wanted: str) -> bool:
    return any(value in ("*", wanted) for value in values or [])


def _resource_fits(text: str, plural: str, subresource: str) -> bool:
    name, _, sub = text.partition("/")
    if text == "*/*":
        return True
    return name in ("*", plural) and (sub == subresource or (sub == "*" and bool(subresource)))


def _selects(selector: Raw, labels: Mapping[str, str]) -> bool:
    equal = all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
    return equal and all(_expression(item, labels) for item in selector.get("matchExpressions") or [])


def _expression(expression: Raw, labels: Mapping[str, str]) -> bool:
    key, values = expression.get("key") or "", expression.get("values") or []
    operator = expression.get("operator")
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    if operator == "In":
        return key in labels and labels[key] in values
    return labels.get(key) not in values
