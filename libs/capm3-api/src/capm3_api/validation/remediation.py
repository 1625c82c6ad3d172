"""Metal3Remediation and Metal3RemediationTemplate: a strategy that can be carried out.

One check with the words of each kind as a table. The template may change: the health check clones it for each
remediation, and the Go program lets it change. Source: behaviour facts on CAPM3 3.9 and 3.10.
"""

from __future__ import annotations

import dataclasses

from capm3_api.validation import errors
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import Change, at, number

MIN_TIMEOUT_SECONDS = 100
MIN_RETRY_LIMIT = 1
STRATEGY = "Reboot"


@dataclasses.dataclass(frozen=True)
class _Words:
    path: tuple[str, ...]
    type: str
    retry: str


_REMEDIATION = _Words(("spec", "strategy"), "is only supported remediation strategy", "is minimum retrylimit")
_TEMPLATE = _Words(
    ("spec", "template", "spec", "strategy"),
    "only supported remediation strategy is reboot",
    "minimum retry limit is 1",
)


def check_remediation(change: Change) -> list[FieldError]:
    """Without a strategy there is nothing to check (and the controller does nothing)."""
    return _strategy(change, _REMEDIATION) if at(change.new, *_REMEDIATION.path) is not None else []


def check_template(change: Change) -> list[FieldError]:
    """A template without a strategy is refused; the Go program panics on it, which refuses it too."""
    if at(change.new, *_TEMPLATE.path) is None:
        return [errors.required(".".join(_TEMPLATE.path), "a remediation strategy must be set")]
    return _strategy(change, _TEMPLATE)


def _strategy(change: Change, words: _Words) -> list[FieldError]:
    strategy, path = at(change.new, *words.path), ".".join(words.path)
    timeout, retries = number(at(strategy, "timeoutSeconds")), number(at(strategy, "retryLimit"))
    kind = at(strategy, "type") or ""
    found = []
    if timeout and timeout < MIN_TIMEOUT_SECONDS:
        found.append(errors.invalid(f"{path}.timeoutSeconds", timeout, "min duration is 100 seconds"))
    if kind != STRATEGY:
        found.append(errors.invalid(f"{path}.type", kind, words.type))
    if retries < MIN_RETRY_LIMIT:
        found.append(errors.invalid(f"{path}.retryLimit", retries, words.retry))
    return found
