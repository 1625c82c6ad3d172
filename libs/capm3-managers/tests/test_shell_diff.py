"""Merge patches: what turns one object into another, and back again."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from capm3_managers import diff
from hypothesis import given, settings
from hypothesis import strategies as st

SCALARS = st.one_of(st.booleans(), st.integers(-3, 3), st.sampled_from(["", "a", "b"]))
KEYS = st.sampled_from(["a", "b", "c", "metadata"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3))
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


@settings(max_examples=300, deadline=None)
@given(OBJECTS, OBJECTS)
def test_the_patch_leads_from_one_object_to_the_other(observed: Any, wanted: Any) -> None:
    assert diff.apply(observed, diff.merge_patch(observed, wanted)) == wanted


@settings(max_examples=100, deadline=None)
@given(OBJECTS)
def test_equal_objects_need_no_patch(value: Any) -> None:
    assert diff.merge_patch(value, copy.deepcopy(value)) == {}


@settings(max_examples=100, deadline=None)
@given(OBJECTS, OBJECTS)
def test_neither_side_is_changed(observed: Any, patch: Any) -> None:
    before = copy.deepcopy((observed, patch))
    diff.apply(observed, patch)
    diff.merge_patch(observed, patch)
    assert (observed, patch) == before


def test_a_patch_holds_only_what_differs() -> None:
    observed = {
        "spec": {"online": True, "bmc": {"address": "x", "futureOption": [1]}},
        "metadata": {"labels": {"a": "1"}},
    }
    wanted = {"spec": {"online": False, "bmc": {"address": "x", "futureOption": [1]}}, "metadata": {"labels": {}}}
    assert diff.merge_patch(observed, wanted) == {"spec": {"online": False}, "metadata": {"labels": {"a": None}}}


@pytest.mark.parametrize(("observed", "wanted"), [(1, True), (0, False), (1, 1.0), ("1", 1)])
def test_values_of_another_type_differ_although_python_calls_them_equal(observed: Any, wanted: Any) -> None:
    assert diff.merge_patch({"a": observed}, {"a": wanted}) == {"a": wanted}


def test_a_null_that_the_server_sent_is_no_difference() -> None:
    assert diff.merge_patch({"a": None, "b": {"c": None}}, {"a": None, "b": {"c": None}}) == {}


def test_the_result_shares_nothing_with_the_patch() -> None:
    patch = {"a": {"b": [1]}}
    result = diff.apply({}, patch)
    result["a"]["b"].append(2)
    assert patch == {"a": {"b": [1]}}


@pytest.mark.parametrize(
    ("patch", "found"), [({}, False), ({"a": {"b": 1}}, False), ({"a": {"b": []}}, True), ({"a": {"b": None}}, False)]
)
def test_a_patch_that_replaces_a_list_is_seen(patch: Any, found: bool) -> None:
    assert diff.has_list(patch) is found
