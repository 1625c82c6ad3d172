"""What an applier wrote in v1beta1 it reads again, so that it finds nothing to apply a second time.

Appliers merge objects field by field but replace lists as a whole: entries of lists must come back with nothing added and
nothing lost, other than empty texts. Fields outside of lists may get company.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from capm3_api import conversion, schema, schemas, v1beta2
from capm3_api.conversion import hub
from capm3_api.model import Raw
from capm3_api.testing import strategies
from hypothesis import HealthCheck, given, settings

_DEFAULTED = (".timeout", ".retryLimit", ".step", ".mtu")
"""Numbers that v1beta2 does not allow to be zero: a zero becomes the default."""
SETTINGS = settings(
    max_examples=strategies.examples(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def unsettled(written: Any, read: Any, path: str, *, in_list: bool = False) -> Iterator[str]:
    """Paths at which an applier would find a difference."""
    if isinstance(written, dict) and isinstance(read, dict):
        for key in written.keys() | (read.keys() if in_list else set()):
            yield from unsettled(written.get(key), read.get(key), f"{path}.{key}", in_list=in_list)
    elif isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for index, pair in enumerate(zip(written, read, strict=True)):
            yield from unsettled(*pair, f"{path}[{index}]", in_list=True)
    elif written is None and not in_list:
        return
    elif written != read and not _says_nothing(written) and not path.endswith(_DEFAULTED):
        yield f"{path}: wrote {written!r}, read {read!r}"


def _says_nothing(value: Any) -> bool:
    """Empty texts, which the schema of v1beta2 refuses."""
    return all(map(_says_nothing, value.values())) if isinstance(value, dict) and value else value == ""


def _decoded(obj: Raw) -> Raw:
    shape = schemas.of(obj["apiVersion"], obj["kind"])
    assert shape is not None
    return schema.default(shape, schema.prune(shape, obj)[0])


@pytest.mark.timeout(120 + strategies.examples() / 4)
@pytest.mark.parametrize("kind", sorted(v1beta2.KINDS))
def test_a_v1beta1_object_is_read_as_it_was_applied(kind: str) -> None:
    @SETTINGS
    @given(strategies.objects(kind, "v1beta1"))
    def check(obj: Raw) -> None:
        sent = _decoded(obj)
        stored = _decoded(conversion.convert(sent, "v1beta2"))
        read = _decoded(conversion.convert(stored, "v1beta1"))
        assert list(unsettled(sent.get("spec"), read.get("spec"), "spec")) == []

    check()


@pytest.mark.parametrize(
    ("spec", "annotated"),
    [
        ({"networkData": {"networks": {"ipv4": [{"id": "a", "link": "b", "routes": []}]}}}, True),
        ({"metaData": {"indexes": [{"key": "a", "offset": 0, "step": 1}]}}, False),
        ({"metaData": {"fromHostInterfaces": [{"key": "a", "interface": "b", "fromBootMAC": False}]}}, True),
        (
            {"networkData": {"links": {"ethernets": [{"id": "a", "macAddress": {"string": "02:00:00:00:00:01"}}]}}},
            False,
        ),
    ],
    ids=["empty-list", "zero", "false", "no-empty-values"],
)
def test_values_that_mean_nothing_come_back_and_are_kept_in_the_annotation_only_where_needed(
    spec: Raw, annotated: bool
) -> None:
    obj = {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
        "kind": "Metal3DataTemplate",
        "metadata": {"name": "t"},
        "spec": {"clusterName": "c", **spec},
    }
    stored = conversion.convert(obj, "v1beta2")
    assert (hub.OLD_DATA in stored["metadata"].get("annotations", {})) == annotated
    assert list(unsettled(obj["spec"], conversion.convert(stored, "v1beta1")["spec"], "spec")) == []
