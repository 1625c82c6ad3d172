"""What the life of a machine costs: live reads and writes, counted in a world without faults."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from capm3_api import kinds
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.testing import cache, datasite

Counts = collections.Counter[str]


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Counts:
    """Counts what the managers ask the API server itself."""
    counts: Counts = collections.Counter()
    get, listed = cache.Cache.get, cache.Cache.list

    def counted_get(self: cache.Cache, kind: Kind, key: Key, *, live: bool = False) -> Raw | None:
        counts[f"get {kind.plural}"] += live
        return get(self, kind, key, live=live)

    def counted_list(self: cache.Cache, kind: Kind, namespace: str, **how: Any) -> Sequence[Raw]:
        counts[f"list {kind.plural}"] += bool(how.get("live"))
        return listed(self, kind, namespace, **how)

    monkeypatch.setattr(cache.Cache, "get", counted_get)
    monkeypatch.setattr(cache.Cache, "list", counted_list)
    return counts


def lives(machines: int, counts: Counts) -> Mapping[str, float]:
    """Live reads a machine, from its creation to rest."""
    counts.clear()
    run = datasite.scenario(datasite.site(machines))
    run.until_settled(silent=False)
    return {what: count / machines for what, count in counts.items() if count}


def test_a_machine_costs_the_same_however_many_there_are(live: Counts) -> None:
    few, many = lives(2, live), lives(12, live)
    assert many == pytest.approx(few, rel=0.5)
    assert "list baremetalhosts" not in many


def test_b01_a_claim_lists_no_hosts_and_reads_only_the_chosen_one(live: Counts) -> None:
    spent = lives(1, live)
    assert spent["get baremetalhosts"] <= 4
    assert spent["get metal3machines"] == 1


def test_a_change_of_a_host_in_use_costs_no_request(live: Counts) -> None:
    world = datasite.site(1)
    run = datasite.scenario(world)
    run.until_settled()
    live.clear()
    before = len(world.writes)
    world.patch(kinds.BARE_METAL_HOST, Key("site-a", "h-m0"), {"status": {"errorCount": 1}}, subresource="status")
    run.until_settled(silent=False)
    assert not any(what.endswith(("baremetalhosts", "secrets")) and count for what, count in live.items())
    ours = (kinds.METAL3_MACHINE, kinds.METAL3_DATA, kinds.SECRET, kinds.IP_CLAIM)
    assert not [write for write in world.writes[before:] if write.kind in ours]


def test_the_writes_of_a_machines_life_are_these(live: Counts) -> None:
    world = datasite.site(1)
    datasite.scenario(world).until_settled()
    counts = collections.Counter(f"{write.verb} {write.kind.plural}" for write in world.writes)
    assert counts["patch metal3machines"] == 7
    assert counts["patch metal3datas"] == 3
    assert counts["patch secrets"] == 1 and counts["create secrets"] == 2
    ours = [write for write in world.writes if write.kind == kinds.BARE_METAL_HOST and "status" not in write.patch]
    assert len(ours) == 2, "one claim, one hand-over of image and data"
