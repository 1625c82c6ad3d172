"""Views of objects of any shape end well: what can't be read is left out."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Sequence
from typing import Any

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.overview import chain, findings, states, tree
from capm3_managers.testing import datasite, fixtures

ODD: list[Any] = [None, "", "text", 0, -1, True, 1.5, [], {}, ["x"], [None], [{}], {"x": 1}, {"name": 3}, [[1]]]
GIVEN = ("apiVersion", "kind", "metadata")
"""What every API server checks itself, whatever the schema."""


class Plain:
    """`overview.objects.Objects` over a list."""

    def __init__(self, objects: Sequence[Raw]) -> None:
        self._objects = objects

    def all(self, kind: Kind) -> Sequence[Raw]:
        return [obj for obj in self._objects if obj["apiVersion"] == kind.api_version and obj["kind"] == kind.kind]

    def get(self, kind: Kind, key: Key) -> Raw | None:
        return next((obj for obj in self.all(kind) if meta.key_of(obj) == key), None)


def worlds() -> list[list[Raw]]:
    """A site at three moments: untouched, settled, and with a machine going."""
    site = datasite.site(2)
    moments = [site.all()]
    config = kinds.KUBEADM_CONFIG.new(
        fixtures.NAMESPACE, "m1", status={"conditions": [{"type": "Ready", "status": "False"}]}
    )
    site.put(config)
    datasite.scenario(site).until_settled()
    moments.append(site.all())
    site.delete(kinds.METAL3_MACHINE, fixtures.key("m0"))
    moments.append(site.all())
    return [copy.deepcopy(list(moment)) for moment in moments]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*path, key))


def mutated(obj: Raw, draw: random.Random) -> Raw:
    result = copy.deepcopy(obj)
    places = [path for path in paths(result) if path[0] not in GIVEN]
    if not places:
        return result
    path = draw.choice(places)
    here: Any = result
    for part in path[:-1]:
        here = here[part]
    here[path[-1]] = draw.choice(ODD)
    return result


def test_no_shape_of_an_object_breaks_a_view() -> None:
    draw = random.Random(11)
    for moment in worlds():
        for _ in range(150):
            objects = list(moment)
            for _ in range(3):
                at = draw.randrange(len(objects))
                objects[at] = mutated(objects[at], draw)
            look = Plain(objects)
            states.rows(look)
            for root in tree.forest(look):
                assert all(isinstance(line, str) for line in tree.lines(root))
            for kind in findings.KINDS:
                for obj in look.all(kind):
                    assert all(link.finding.what for link in chain.explain(look, kind, obj))
