"""What people are told to do about an outcome."""

from __future__ import annotations

from capm3_managers import outcomes, remedies
from capm3_managers.data import report


def test_every_remedy_belongs_to_an_outcome() -> None:
    assert set(remedies.REMEDIES) - set(outcomes.TABLE) == set()


def test_every_outcome_that_is_not_good_has_a_remedy() -> None:
    fine = {"NOT_PAUSED", "MACHINE_DELETING"}
    bad = {
        name for name, item in outcomes.TABLE.items() if item.status == "False" or item.type in ("Paused", "Deleting")
    }
    shared = {name for name in bad if remedies.of(outcomes.TABLE[name].type, outcomes.TABLE[name].reason)}
    assert bad - shared - fine == set()


def test_outcomes_that_share_a_reason_are_told_apart_by_their_message() -> None:
    for name in ("NODE_LABEL_FAILED", "CLOUD_PROVIDER_FAILED", "HOST_UPDATE_FAILED"):
        item = outcomes.TABLE[name]
        assert remedies.of(item.type, item.reason, f"{item.prefix}: no answer") == remedies.REMEDIES[name]


def test_reasons_of_data_have_remedies_in_any_condition() -> None:
    reasons = {
        value for name, value in vars(report).items() if name.isupper() and name not in ("ANNOTATION", "LONGEST_ERROR")
    }
    assert reasons == set(remedies.OF_DATA)
    assert "capm3 render" in remedies.of(outcomes.DATA_READY, report.HOST_INTERFACE_NOT_FOUND)


def test_an_unknown_reason_has_no_remedy() -> None:
    assert remedies.of("Ready", "NotReady") == ""
