"""A strict world refuses what the API server would, so that the scenarios on it prove the form of every write."""

from __future__ import annotations

from typing import Any

import pytest
from capm3_api import kinds
from capm3_api.testing import builders
from capm3_managers.ports import ApiError
from capm3_managers.testing import fixtures, strict
from capm3_managers.testing.world import World


@pytest.mark.parametrize(
    ("spec", "reason"),
    [({"index": -1}, "Invalid"), ({"index": "0"}, "Invalid"), ({"nonsense": 1}, "BadRequest")],
)
def test_a_value_that_the_schema_does_not_allow_is_refused(spec: dict[str, Any], reason: str) -> None:
    world = strict.install(World())
    with pytest.raises(ApiError) as caught:
        world.create(builders.data("d", spec=spec))
    assert caught.value.reason == reason


def test_defaults_are_filled_in() -> None:
    world = strict.install(World())
    world.create(builders.data_template("dt1", spec={"metaData": {"indexes": [{"key": "i"}]}}))
    found = world.get(kinds.METAL3_DATA_TEMPLATE, fixtures.key("dt1"))
    assert found is not None and found["spec"]["metaData"]["indexes"] == [{"key": "i", "step": 1}]
