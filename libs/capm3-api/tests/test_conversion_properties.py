"""No field is lost between the versions, in either direction, whatever the object looks like.

One object is tried with every property: to make one takes longer than all the checks.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from capm3_api import conversion, v1beta1, v1beta2
from capm3_api.conversion import hub, tidy
from capm3_api.model import Raw
from capm3_api.testing import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

KINDS = sorted(v1beta2.KINDS)
MODELS = {"v1beta1": v1beta1.KINDS, "v1beta2": v1beta2.KINDS}
CHECKS = settings(
    max_examples=strategies.examples(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
EDITABLE = ("host", "url", "checksum", "providerID", "failureDomain", "method", "errorMessage", "interface")
"""Texts that both versions have with the same meaning."""


@pytest.mark.timeout(120 + strategies.examples() / 4)
@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
@pytest.mark.parametrize("kind", KINDS)
def test_conversion_loses_nothing(kind: str, version: str) -> None:
    @CHECKS
    @given(strategies.objects(kind, version), st.integers(0, 1000))
    def check(obj: Raw, choice: int) -> None:
        before = copy.deepcopy(obj)
        there = conversion.convert(obj, _other(version))
        back = conversion.convert(there, version)
        assert obj == before
        _check_there_and_back_is_the_identity(obj, back)
        _check_preserved_v1beta1_data_come_back_to_the_letter(obj, there, back)
        _check_going_there_twice_gives_the_same(there, back)
        _check_preserved_v1beta2_data_have_the_form_of_go(there if version == "v1beta2" else back)
        _check_unknown_fields_survive(obj)
        _check_an_edit_in_between_wins(there, choice)

    check()


def _check_there_and_back_is_the_identity(obj: Raw, back: Raw) -> None:
    assert _meaning(back) == _meaning(obj)
    kept = {key: value for key, value in obj["metadata"].items() if key != "annotations"}
    assert {key: value for key, value in back["metadata"].items() if key != "annotations"} == kept
    assert _annotations(back, users=True) == _annotations(obj)


def _check_preserved_v1beta1_data_come_back_to_the_letter(obj: Raw, there: Raw, back: Raw) -> None:
    if hub.OLD_DATA in _annotations(there):
        assert _body(back) == _body(obj)


def _check_going_there_twice_gives_the_same(there: Raw, back: Raw) -> None:
    version = there["apiVersion"].rpartition("/")[2]
    assert _meaning(conversion.convert(back, version)) == _meaning(there)


def _check_preserved_v1beta2_data_have_the_form_of_go(old: Raw) -> None:
    text = _annotations(old).get(hub.DATA)
    if text is None:
        assert not hub.SPOKES[old["kind"]].always
        return
    data = json.loads(text)
    assert text == json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert data["kind"] == old["kind"] and "metadata" not in data


def _check_unknown_fields_survive(obj: Raw) -> None:
    changed = copy.deepcopy(obj)
    changed.setdefault("spec", {})["newField"] = {"a": [1, {"b": None}]}
    changed.setdefault("status", {})["newField"] = 7
    changed["newPart"] = {"x": 1}
    version = obj["apiVersion"].rpartition("/")[2]
    there = conversion.convert(changed, _other(version))
    assert there["spec"]["newField"] == {"a": [1, {"b": None}]}
    assert there["status"]["newField"] == 7
    assert there["newPart"] == {"x": 1}
    assert _meaning(conversion.convert(there, version)) == _meaning(changed)


def _check_an_edit_in_between_wins(there: Raw, choice: int) -> None:
    paths = [path for path in _texts(_body(there)) if path[-1] in EDITABLE]
    if not paths:
        return
    path = paths[choice % len(paths)]
    edited = copy.deepcopy(there)
    parent = _at(edited, path[:-1])
    parent[path[-1]] = "edited"
    version = there["apiVersion"].rpartition("/")[2]
    again = conversion.convert(conversion.convert(edited, _other(version)), version)
    assert _at(again, path) == "edited"


def _other(version: str) -> str:
    return "v1beta2" if version == "v1beta1" else "v1beta1"


def _body(obj: Raw) -> Raw:
    return {key: value for key, value in obj.items() if key not in ("apiVersion", "kind", "metadata")}


def _meaning(obj: Raw) -> Raw:
    """What the object says: an empty value of a field that knows no difference to absent is left out.

    Twice, since an object that is left empty by the first time says nothing either.
    """
    version = obj["apiVersion"].rpartition("/")[2]
    model = MODELS[version][obj["kind"]]
    once = tidy.tidy(model, _body(obj), soft=version == "v1beta1")
    return tidy.tidy(model, once, soft=version == "v1beta1")


def _annotations(obj: Raw, *, users: bool = False) -> dict[str, str]:
    found = obj["metadata"].get("annotations") or {}
    return {key: value for key, value in found.items() if not (users and key in (hub.DATA, hub.OLD_DATA))}


def _texts(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(node, dict):
        return [leaf for key, value in node.items() for leaf in _texts(value, (*path, key))]
    return [path] if isinstance(node, str) else []


def _at(node: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        node = node[part]
    return node
