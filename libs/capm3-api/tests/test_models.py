"""Objects of every kind are read leniently and written back as they were."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from capm3_api import v1beta1, v1beta2
from capm3_api.external import bmo, capi, core, ipam
from capm3_api.meta import Object
from capm3_api.testing import builders

EXTERNAL = [
    value
    for module in (bmo, capi, core, ipam)
    for _, value in inspect.getmembers(module, inspect.isclass)
    if issubclass(value, Object) and value is not Object
]
ALL: list[type[Object]] = [*v1beta2.KINDS.values(), *v1beta1.KINDS.values(), *EXTERNAL]
BUILT = [
    (function.__name__, function())
    for _, function in inspect.getmembers(builders, inspect.isfunction)
    if function.__module__ == builders.__name__ and not function.__name__.startswith("_")
    if function.__name__ != "hardware_details"
]


def _name(model: type[Object]) -> str:
    return f"{model.API_VERSION} {model.KIND}"


@pytest.mark.parametrize("model", ALL, ids=_name)
def test_unknown_fields_survive(model: type[Object]) -> None:
    raw = {
        "apiVersion": model.API_VERSION,
        "kind": model.KIND,
        "metadata": {"name": "a", "managedFields": [{"manager": "x"}]},
        "spec": {"newField": {"a": [1, None]}},
        "extra": "kept",
    }
    read = model.from_raw(raw)
    assert read.to_raw() == raw
    assert read.problems == ()


@pytest.mark.parametrize("model", ALL, ids=_name)
@pytest.mark.parametrize("value", [7, "text", [1], None, {"metadata": 3, "spec": []}])
def test_any_json_in_any_place_is_read_without_an_exception(model: type[Object], value: Any) -> None:
    read = model.from_raw({"metadata": {"name": "a", "labels": value}, "spec": value, "status": value})
    assert read.key.name == "a"


@pytest.mark.parametrize(("name", "raw"), BUILT, ids=[name for name, _ in BUILT])
def test_what_a_builder_makes_is_read_without_problems(name: str, raw: dict[str, Any]) -> None:
    by_kind = {(model.API_VERSION, model.KIND): model for model in ALL}
    read = by_kind[(raw["apiVersion"], raw["kind"])].from_raw(raw)
    assert read.problems == ()
    assert read.to_raw() == raw


def test_absent_null_and_empty_stay_apart() -> None:
    for spec in ({}, {"dataTemplate": None}, {"dataTemplate": {}}):
        machine = v1beta2.Metal3Machine.from_raw({"metadata": {"name": "a"}, "spec": spec})
        assert machine.to_raw()["spec"] == spec
        assert machine.spec.has("data_template") == ("dataTemplate" in spec)


def test_a_value_of_the_wrong_type_becomes_a_problem_with_its_path() -> None:
    machine = v1beta2.Metal3Machine.from_raw({"spec": {"image": {"url": 5, "checksum": "abc"}, "providerID": []}})
    assert sorted(problem.path for problem in machine.problems) == ["spec.image.url", "spec.providerID"]
    assert machine.spec.image.checksum == "abc"
    assert machine.spec.image.url == ""


def test_a_secret_never_shows_its_values() -> None:
    secret = core.Secret.from_raw(builders.bmc_secret())
    assert secret.value("password") == b"password"
    assert builders.b64("password") not in repr(secret)


def test_a_builder_keyword_is_a_merge_patch() -> None:
    machine = builders.metal3_machine("x", namespace="n", spec={"image": None, "providerID": "metal3://n/h/x"})
    assert machine["spec"] == {"providerID": "metal3://n/h/x"}
    assert machine["metadata"]["namespace"] == "n"
