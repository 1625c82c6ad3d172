"""What a ``hostSelector`` means: a requirement on the labels of a host, or the list of what is wrong with it.

Apart from the kinds that carry it, because admission and the choice of a host must read it in one way, and because an
invalid expression must never end as "matches everything". Source: behaviour facts on CAPM3 5.2.6, field report B04.
The Kubernetes operators are taken in any letter case beside the older spellings; ``DoesNotExist``, which the Go program
refuses, is one of them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from capm3_api import schema_meta
from capm3_api.validation import errors
from capm3_api.validation.errors import FieldError

RULE = "host-selector"
"""Id of the admission rules of this module in the table of differences."""

_ALIASES = {
    "in": "In",
    "notin": "NotIn",
    "exists": "Exists",
    "doesnotexist": "DoesNotExist",
    "!": "DoesNotExist",
    "=": "Equals",
    "==": "Equals",
    "!=": "NotEquals",
    "gt": "Gt",
    "lt": "Lt",
}
_COUNTS = {
    "In": "at least one value is required",
    "NotIn": "at least one value is required",
    "Equals": "exactly one value is required",
    "NotEquals": "exactly one value is required",
    "Gt": "exactly one value is required",
    "Lt": "exactly one value is required",
    "Exists": "no values are allowed with this operator",
    "DoesNotExist": "no values are allowed with this operator",
}
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "=", "==", "!=", "!")


@dataclasses.dataclass(frozen=True)
class Requirement:
    """One condition on one label; `operator` is a value of the alias table."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        found = labels.get(self.key)
        if self.operator in ("In", "Equals"):
            return found in self.values
        if self.operator in ("NotIn", "NotEquals"):
            return found not in self.values
        if self.operator == "Exists":
            return found is not None
        if self.operator == "DoesNotExist":
            return found is None
        return self._compares(found)

    def _compares(self, found: str | None) -> bool:
        """``Gt`` and ``Lt``: a label that is absent or no integer never matches."""
        if found is None or not _is_integer(found):
            return False
        bound = int(self.values[0])
        return int(found) > bound if self.operator == "Gt" else int(found) < bound


@dataclasses.dataclass(frozen=True)
class Selector:
    """All requirements hold; none at all matches every host."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        return all(requirement.matches(labels or {}) for requirement in self.requirements)

    def __str__(self) -> str:
        shown = [f"{item.key} {item.operator} {','.join(item.values)}".rstrip() for item in self.requirements]
        return "; ".join(shown) or "any host"


def parse(raw: Any, path: str = "spec.hostSelector") -> Selector | list[FieldError]:
    """Reads a ``hostSelector``; ``None`` and ``{}`` select every host.

    Args:
        raw: the JSON value.
        path: where it stands, for the errors.
    Returns:
        the selector, or everything that is wrong with it (never empty).
    """
    if raw is None:
        return Selector()
    if not isinstance(raw, Mapping):
        return [errors.invalid(path, raw, "must be an object with matchLabels and matchExpressions", rule=RULE)]
    found: list[Requirement] = []
    wrong = _labels(raw.get("matchLabels"), f"{path}.matchLabels", found)
    wrong += _expressions(raw.get("matchExpressions"), f"{path}.matchExpressions", found)
    return wrong or Selector(tuple(found))


def _labels(raw: Any, path: str, found: list[Requirement]) -> list[FieldError]:
    if raw is None:
        return []
    if not isinstance(raw, Mapping):
        return [errors.invalid(path, raw, "must be an object", rule=RULE)]
    wrong = []
    for key in sorted(raw, key=str):
        problem = schema_meta.key_problem(str(key))
        if problem:
            wrong.append(errors.invalid(path, key, problem, rule=RULE))
        wrong += _values_problems([raw[key]], f"{path}.{key}", one=True)
        found.append(Requirement(str(key), "Equals", (str(raw[key]),)))
    return wrong


def _expressions(raw: Any, path: str, found: list[Requirement]) -> list[FieldError]:
    if raw is None:
        return []
    if not isinstance(raw, list):
        return [errors.invalid(path, raw, "must be a list", rule=RULE)]
    wrong: list[FieldError] = []
    for index, item in enumerate(raw):
        wrong += _expression(item, f"{path}[{index}]", found)
    return wrong


def _expression(raw: Any, path: str, found: list[Requirement]) -> list[FieldError]:
    if not isinstance(raw, Mapping):
        return [errors.invalid(path, raw, "must be an object", rule=RULE)]
    key, spelled, values = raw.get("key"), raw.get("operator"), raw.get("values") or []
    wrong = []
    problem = schema_meta.key_problem(key) if isinstance(key, str) else "must be a string"
    if problem:
        wrong.append(errors.invalid(f"{path}.key", key, problem, rule=RULE))
    operator = _ALIASES.get(spelled.lower()) if isinstance(spelled, str) else None
    if operator is None:
        detail = f"must be one of {', '.join(OPERATORS)} (in any letter case)"
        return [*wrong, errors.invalid(f"{path}.operator", spelled, detail, rule=RULE)]
    if not isinstance(values, list):
        return [*wrong, errors.invalid(f"{path}.values", values, "must be a list", rule=RULE)]
    wrong += _count_problem(operator, values, f"{path}.values") or _values_problems(values, f"{path}.values")
    if operator in ("Gt", "Lt") and not wrong and not _is_integer(values[0]):
        wrong.append(errors.invalid(f"{path}.values[0]", values[0], "must be an integer", rule=RULE))
    found.append(Requirement(str(key), operator, tuple(str(value) for value in values)))
    return wrong


def _count_problem(operator: str, values: list[Any], path: str) -> list[FieldError]:
    text = _COUNTS[operator]
    fits = {"at": len(values) > 0, "exactly": len(values) == 1, "no": not values}[text.split()[0]]
    if fits:
        return []
    if not values:
        return [errors.required(path, text, rule=RULE)]
    return [errors.invalid(path, values, text, rule=RULE)]


def _values_problems(values: list[Any], path: str, *, one: bool = False) -> list[FieldError]:
    wrong = []
    for index, value in enumerate(values):
        where = path if one else f"{path}[{index}]"
        problem = schema_meta.label_value_problem(value) if isinstance(value, str) else "must be a string"
        if problem:
            wrong.append(errors.invalid(where, value, problem, rule=RULE))
    return wrong


def _is_integer(text: Any) -> bool:
    return isinstance(text, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", text) is not None
