"""A plan in the making: immutable, each step returns a new one.

It is where the vocabulary of the steps lives (`patch`, `act`, `outcome`, `wait`, `fail`, `end`), so that a step says what
it means and none writes a condition, a finalizer or a time by hand.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from capm3_api import condition
from capm3_api.model import Raw

from capm3_managers import diff
from capm3_managers.env import Env
from capm3_managers.outcomes import Outcome
from capm3_managers.plan import Action, Plan


@dataclasses.dataclass(frozen=True)
class Draft:
    """Args:
    wanted: the reconciled object as it should be so far.
    now: RFC 3339 time of the pass, for conditions.
    ended: no later step runs (the manager's closing step still does).
    guarded: see `plan.Plan`.
    """

    wanted: Raw
    now: str
    actions: tuple[Action, ...] = ()
    requeue_after: float | None = None
    retry: bool = False
    because: str = ""
    ended: bool = False
    guarded: bool = False
    facts: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def start(cls, observed: Raw, env: Env) -> Self:
        """A draft that changes nothing yet."""
        return cls(wanted=observed, now=env.timestamp)

    def patch(self, patch: Raw) -> Self:
        """The wanted object with a JSON merge patch applied (``None`` removes a field)."""
        return dataclasses.replace(self, wanted=diff.apply(self.wanted, patch))

    def act(self, *actions: Action) -> Self:
        """Appends actions, in order."""
        return dataclasses.replace(self, actions=self.actions + actions)

    def outcome(self, outcome: Outcome, message: str | None = None) -> Self:
        """Writes the outcome's condition in both forms; see `capm3_api.condition` for times and order."""
        text = outcome.message if message is None else message
        shown = f"{outcome.prefix}: {text}" if outcome.prefix else text
        wanted = self.wanted
        if outcome.type:
            wanted = condition.set_condition(wanted, outcome.type, outcome.status, outcome.reason, shown, now=self.now)
        if outcome.legacy:
            old = outcome.legacy
            told = text if old.told else ""
            wanted = condition.set_legacy(wanted, old.type, old.status, old.reason, old.severity, told, now=self.now)
        return dataclasses.replace(self, wanted=wanted, because=shown or outcome.reason)

    def wait(self, outcome: Outcome, message: str | None = None, *, seconds: float | None = None) -> Self:
        """Writes the outcome and ends: a watch, or the timer if `seconds` are given, brings the object back."""
        return self.outcome(outcome, message).end(seconds=seconds)

    def fail(self, outcome: Outcome, message: str | None = None) -> Self:
        """Writes the outcome and ends: the queue brings the object back with growing delay."""
        return dataclasses.replace(self.outcome(outcome, message), retry=True, ended=True)

    def end(self, because: str = "", *, seconds: float | None = None) -> Self:
        """Ends the pass."""
        draft = self if seconds is None else self.again(seconds)
        return dataclasses.replace(draft, because=because or draft.because, ended=True)

    def again(self, seconds: float) -> Self:
        """Asks for another pass after at most `seconds`; the shortest wish wins."""
        shortest = seconds if self.requeue_after is None else min(seconds, self.requeue_after)
        return dataclasses.replace(self, requeue_after=shortest)

    def guard(self) -> Self:
        """Makes the writes of the reconciled object conditional on the version it was read in."""
        return dataclasses.replace(self, guarded=True)

    def summarise(self, types: Sequence[str], legacy_types: Sequence[str]) -> Self:
        """Writes Ready in both forms; see `capm3_api.condition`."""
        wanted = condition.summarise(self.wanted, types, now=self.now)
        wanted = condition.summarise_legacy(wanted, legacy_types, now=self.now)
        return dataclasses.replace(self, wanted=wanted)

    def fact(self, name: str, value: Any) -> Self:
        """Adds a field to the pass's log line; never a secret."""
        return dataclasses.replace(self, facts=(*self.facts, (name, value)))

    def with_finalizer(self, name: str) -> Self:
        finalizers = list((self.wanted.get("metadata") or {}).get("finalizers") or [])
        if name in finalizers:
            return self
        return self.patch({"metadata": {"finalizers": [*finalizers, name]}})

    def without_finalizer(self, name: str) -> Self:
        finalizers = list((self.wanted.get("metadata") or {}).get("finalizers") or [])
        if name not in finalizers:
            return self
        finalizers.remove(name)
        return self.patch({"metadata": {"finalizers": finalizers or None}})

    def plan(self) -> Plan:
        return Plan(
            self.wanted, self.actions, self.requeue_after, self.retry, self.because, self.facts, guarded=self.guarded
        )


S = TypeVar("S")
Step = Callable[[S, Draft, Env], Draft]


def run(steps: Sequence[Step[S]], closing: Sequence[Step[S]], snapshot: S, draft: Draft, env: Env) -> Plan:
    """Runs steps until one ends the pass, then the closing ones (summaries), and makes the plan."""
    for step in steps:
        draft = step(snapshot, draft, env)
        if draft.ended:
            break
    for step in closing:
        draft = step(snapshot, draft, env)
    return draft.plan()
