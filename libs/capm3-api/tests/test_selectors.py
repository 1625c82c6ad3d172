"""Which hosts a ``hostSelector`` selects, and what an unreadable one is told."""

from __future__ import annotations

import pytest
from capm3_api import selectors

HOSTS = {"h1": {"rack": "r1", "gpu": "", "size": "8"}, "h2": {"rack": "r2", "size": "x"}, "h3": {}}


def _matching(selector: object) -> list[str]:
    parsed = selectors.parse(selector)
    assert isinstance(parsed, selectors.Selector), parsed
    return [name for name, labels in HOSTS.items() if parsed.matches(labels)]


@pytest.mark.parametrize(
    ("operator", "key", "values", "expected"),
    [
        ("In", "rack", ["r1", "r2"], ["h1", "h2"]),
        ("in", "rack", ["r1"], ["h1"]),
        ("IN", "gpu", [""], ["h1"]),
        ("NotIn", "rack", ["r2"], ["h1", "h3"]),
        ("notin", "rack", ["r2"], ["h1", "h3"]),
        ("Exists", "gpu", [], ["h1"]),
        ("exists", "gpu", None, ["h1"]),
        ("DoesNotExist", "rack", [], ["h3"]),
        ("doesnotexist", "rack", None, ["h3"]),
        ("!", "rack", [], ["h3"]),
        ("=", "rack", ["r1"], ["h1"]),
        ("==", "rack", ["r1"], ["h1"]),
        ("!=", "rack", ["r1"], ["h2", "h3"]),
        ("Gt", "size", ["7"], ["h1"]),
        ("lt", "size", ["7"], []),
    ],
)
def test_every_operator_selects_as_kubernetes_does(operator, key, values, expected):
    expression = {"key": key, "operator": operator}
    if values is not None:
        expression["values"] = values
    assert _matching({"matchExpressions": [expression]}) == expected


@pytest.mark.parametrize("selector", [None, {}, {"matchLabels": None}, {"matchExpressions": []}])
def test_an_empty_selector_selects_every_host(selector):
    assert _matching(selector) == ["h1", "h2", "h3"]


def test_labels_and_expressions_must_both_hold():
    both = {"matchLabels": {"rack": "r1"}, "matchExpressions": [{"key": "gpu", "operator": "!"}]}
    assert _matching(both) == []


@pytest.mark.parametrize(
    ("selector", "paths"),
    [
        ("text", ["spec.hostSelector"]),
        ({"matchLabels": ["a"]}, ["spec.hostSelector.matchLabels"]),
        ({"matchLabels": {"-bad": "x"}}, ["spec.hostSelector.matchLabels"]),
        ({"matchLabels": {"a": "no blank"}}, ["spec.hostSelector.matchLabels.a"]),
        ({"matchLabels": {"a": 1}}, ["spec.hostSelector.matchLabels.a"]),
        ({"matchExpressions": {}}, ["spec.hostSelector.matchExpressions"]),
        ({"matchExpressions": ["x"]}, ["spec.hostSelector.matchExpressions[0]"]),
        (
            {"matchExpressions": [{"key": "a", "operator": "near", "values": []}]},
            ["spec.hostSelector.matchExpressions[0].operator"],
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": []}, {"operator": "Exists"}]},
            ["spec.hostSelector.matchExpressions[0].values", "spec.hostSelector.matchExpressions[1].key"],
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]},
            ["spec.hostSelector.matchExpressions[0].values"],
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "=", "values": ["x", "y"]}]},
            ["spec.hostSelector.matchExpressions[0].values"],
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["many"]}]},
            ["spec.hostSelector.matchExpressions[0].values[0]"],
        ),
    ],
)
def test_an_unreadable_selector_is_an_error_with_its_path_and_never_selects(selector, paths):
    parsed = selectors.parse(selector)
    assert isinstance(parsed, list)
    assert [error.path for error in parsed] == paths
    assert all(error.rule == selectors.RULE for error in parsed)
