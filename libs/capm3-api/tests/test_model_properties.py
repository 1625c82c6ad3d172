"""Whatever a CRD accepts is read by the typed objects without a problem and written back as it was."""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest
from capm3_api import v1beta1, v1beta2
from capm3_api.external import bmo, ipam
from capm3_api.meta import Object
from capm3_api.testing import strategies
from hypothesis import strategies as st

FOREIGN: tuple[type[Object], ...] = (
    bmo.BareMetalHost,
    bmo.HardwareData,
    ipam.IPPool,
    ipam.IPClaim,
    ipam.IPAddress,
)
ALL: list[type[Object]] = [*v1beta2.KINDS.values(), *v1beta1.KINDS.values(), *FOREIGN]
SETTINGS = hypothesis.settings(
    max_examples=strategies.examples(20), deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)


def _name(model: type[Object]) -> str:
    return f"{model.API_VERSION} {model.KIND}"


def objects(model: type[Object]) -> st.SearchStrategy[Any]:
    return strategies.objects(model.KIND, model.API_VERSION.rpartition("/")[2])


def places(value: Any) -> list[dict[str, Any]]:
    """Every map in a JSON value, itself included."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = [place for item in inner for place in places(item)]
    return [value, *found] if isinstance(value, dict) else found


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("model", ALL, ids=_name)
def test_a_valid_object_is_read_without_problems_and_written_back(model: type[Object]) -> None:
    @SETTINGS
    @hypothesis.given(objects(model))
    def holds(raw: Any) -> None:
        read = model.from_raw(raw)
        assert read.problems == ()
        assert read.to_raw() == raw == read.raw

    holds()


@pytest.mark.parametrize("model", ALL, ids=_name)
def test_a_null_anywhere_is_no_problem_and_changes_nothing_else(model: type[Object]) -> None:
    @SETTINGS
    @hypothesis.given(objects(model), st.data())
    def holds(raw: Any, data: st.DataObject) -> None:
        spots = [(place, key) for part in ("spec", "status") for place in places(raw.get(part)) for key in place]
        for place, key in spots and data.draw(st.lists(st.sampled_from(spots), max_size=3)):
            place[key] = None
        read = model.from_raw(raw)
        assert read.problems == ()
        assert without_nulls(read.to_raw()) == without_nulls(raw)
        assert read.raw == raw

    holds()
