"""The draft: its words write conditions, waits and finalizers, and change nothing else."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest
from capm3_api import condition, kinds
from capm3_managers import draft as drafts
from capm3_managers import outcomes
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.plan import Delete

ENV = Env(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), random.Random(0))
OBJ = kinds.METAL3_MACHINE.new("ns", "m")


def start() -> Draft:
    return Draft.start(OBJ, ENV)


def test_a_step_that_ends_keeps_later_ones_from_running_but_not_the_closing_ones() -> None:
    seen: list[str] = []

    def step(name: str, *, ends: bool = False) -> Any:
        def run(snapshot: None, draft: Draft, env: Env) -> Draft:
            seen.append(name)
            return draft.end(name) if ends else draft

        return run

    plan = drafts.run([step("a"), step("b", ends=True), step("c")], [step("z")], None, start(), ENV)
    assert seen == ["a", "b", "z"] and plan.because == "b"


def test_a_draft_is_never_changed_in_place() -> None:
    draft = start()
    draft.patch({"spec": {"a": 1}}).with_finalizer("f").outcome(outcomes.PAUSED).act(Delete(kinds.SECRET, None))  # type: ignore[arg-type]
    assert draft == start() and kinds.METAL3_MACHINE.new("ns", "m") == OBJ


def test_an_outcome_is_told_in_both_forms_with_and_without_prefix() -> None:
    draft = start().wait(outcomes.ASSOCIATION_FAILED, "no luck", seconds=30)
    new = condition.get(draft.wanted, "AssociateBareMetalHost") or {}
    old = condition.get_legacy(draft.wanted, "AssociateBMH") or {}
    assert new["message"] == "failed to associate the Metal3Machine to a BareMetalHost: no luck"
    assert (old["message"], old["severity"], old["reason"]) == ("no luck", "Error", "AssociateBMHFailed")
    assert draft.because == new["message"] and draft.requeue_after == 30 and draft.ended and not draft.retry


def test_a_plain_wait_carries_no_message_in_the_older_form() -> None:
    draft = start().wait(outcomes.WAITING_FOR_OWNER)
    assert "message" not in (condition.get_legacy(draft.wanted, "AssociateBMH") or {"message": 1})


def test_a_failure_is_tried_again_with_the_queues_delay() -> None:
    plan = start().fail(outcomes.CLUSTER_OWNER_LOST, "gone").plan()
    assert plan.retry and plan.requeue_after is None


def test_the_shortest_wish_for_another_pass_wins() -> None:
    assert start().again(30).again(5).again(60).requeue_after == 5


def test_finalizers_are_added_once_and_removed_wholly() -> None:
    draft = start().with_finalizer("f").with_finalizer("f")
    assert draft.wanted["metadata"]["finalizers"] == ["f"]
    assert "finalizers" not in draft.without_finalizer("f").wanted["metadata"]
    assert draft.without_finalizer("other") is draft


def test_the_same_outcome_twice_changes_nothing() -> None:
    later = Env(ENV.now + datetime.timedelta(hours=1), ENV.rng)
    first = start().outcome(outcomes.WAITING_FOR_BOOTSTRAP)
    again = Draft.start(first.wanted, later).outcome(outcomes.WAITING_FOR_BOOTSTRAP)
    assert again.wanted == first.wanted


def test_every_outcome_has_a_reason_that_the_wire_accepts() -> None:
    assert len(outcomes.TABLE) > 30
    for name, outcome in outcomes.TABLE.items():
        assert outcome.status in ("True", "False", "Unknown"), name
        assert outcome.reason.isidentifier(), name
        if outcome.legacy is not None and outcome.legacy.status != "True":
            assert outcome.legacy.reason and outcome.legacy.severity in ("Error", "Warning", "Info"), name


@pytest.mark.parametrize("seconds", [30, 5])
def test_a_wait_is_worded_as_the_go_program_words_it(seconds: int) -> None:
    assert outcomes.again("x", seconds) == f"x. Object will be requeued after {seconds}s"
