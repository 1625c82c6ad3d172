"""Which host a machine gets, or why none."""

from __future__ import annotations

import random
from typing import Any

import pytest
from capm3_api import names, selectors
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import hosts
from capm3_managers.machine import powerpolicy, selection

RNG = random.Random(7)
MARKS = {"metadata": {"annotations": {}}}


def marked(name: str, value: str = "") -> Raw:
    return {"metadata": {"annotations": {name: value}}}


ELIGIBLE = [
    ("inspecting", {"status": {"provisioning": {"state": "inspecting"}}}, False),
    ("error", {"status": {"errorMessage": "bad credentials"}}, False),
    ("detached", marked("baremetalhost.metal3.io/detached"), False),
    ("paused", marked("baremetalhost.metal3.io/paused", "someone"), False),
    ("unhealthy-old", marked("capi.metal3.io/unhealthy"), False),
    ("unhealthy-new", marked("capm3.metal3.io/unhealthy"), False),
    ("externally", {"spec": {"externallyProvisioned": True}}, False),
    ("user-image", {"spec": {"image": {"url": "http://img.example.test/mine.raw"}}}, False),
    ("user-custom-deploy", {"spec": {"customDeploy": {"method": "x"}}}, False),
    ("terminating", {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, False),
    ("in-use", {"spec": {"consumerRef": {"kind": "Metal3Machine", "name": "other"}}}, False),
    ("no-state", {"status": {"provisioning": None}}, False),
    ("plain-available", {}, True),
    ("plain-ready", {"status": {"provisioning": {"state": "ready"}}}, True),
]


@pytest.mark.parametrize(("changes", "eligible"), [row[1:] for row in ELIGIBLE], ids=[row[0] for row in ELIGIBLE])
def test_b02_only_a_usable_host_is_free(changes: Raw, eligible: bool) -> None:
    host = builders.host(**changes)
    assert (hosts.refusal(host) == "") is eligible
    assert (hosts.FREE in hosts.claimable(host)) is eligible
    choice = selection.choose([], [host], selection.Wish(), RNG)
    assert (choice.host is not None) is eligible


def labelled(name: str, labels: dict[str, str], **changes: Any) -> Raw:
    return builders.host(name, metadata={"labels": labels}, **changes)


def test_labels_decide_who_fits() -> None:
    wish = selection.Wish(selectors.Selector((selectors.Requirement("rack", "Equals", ("r1",)),)))
    found = selection.choose([], [labelled("h1", {"rack": "r2"}), labelled("h2", {"rack": "r1"})], wish, RNG)
    assert found.host and found.host["metadata"]["name"] == "h2"
    assert selection.summary([labelled("h1", {"rack": "r2"})], wish) == "1 host: 1 with other labels"


def domains(*names_: str) -> list[Raw]:
    key = names.FAILURE_DOMAIN_LABEL
    return [labelled(f"h-{name or 'none'}", {key: name} if name else {}) for name in names_]


@pytest.mark.parametrize("seed", range(5))
def test_b05_a_host_of_the_wanted_failure_domain_goes_first(seed: int) -> None:
    wish = selection.Wish(failure_domain="rack-2")
    found = selection.choose([], domains("rack-1", "rack-2", ""), wish, random.Random(seed))
    assert found.host and found.host["metadata"]["name"] == "h-rack-2" and not found.note


def test_b05_a_fallback_names_the_real_domain() -> None:
    found = selection.choose([], domains("rack-1"), selection.Wish(failure_domain="rack-2"), RNG)
    assert found.host
    assert found.note == 'no host is free in failure domain "rack-2": h-rack-1 is in failure domain "rack-1"'


def test_b05_a_required_failure_domain_is_waited_for() -> None:
    wish = selection.Wish(failure_domain="rack-2", domain_required=True)
    found = selection.choose([], domains("rack-1", ""), wish, RNG)
    assert found.host is None and found.domain_missing
    assert found.note == '2 free, but none in failure domain "rack-2"'


def kept(name: str, state: str = "available", owner: str = "md-a", **changes: Any) -> Raw:
    return labelled(name, {names.NODE_REUSE_LABEL: owner}, state=state, **changes)


def test_a_host_kept_for_the_owner_goes_before_free_ones() -> None:
    wish = selection.Wish(reuse_name="md-a")
    found = selection.choose([kept("h1")], [builders.host("h2")], wish, RNG)
    assert found.via_reuse and found.host and found.host["metadata"]["name"] == "h1"


def test_a_host_kept_for_the_owner_is_waited_for_while_it_is_cleaned() -> None:
    wish = selection.Wish(reuse_name="md-a")
    found = selection.choose([kept("h1", "deprovisioning"), kept("h3")], [builders.host("h2")], wish, RNG)
    assert found.host is None
    assert found.note == "host h1 is kept for md-a and still deprovisioning"


@pytest.mark.parametrize("wish", [selection.Wish(), selection.Wish(reuse_name="cp-a")])
def test_a_host_kept_for_another_owner_is_not_taken(wish: selection.Wish) -> None:
    assert selection.choose([kept("h1")], [], wish, RNG).host is None
    assert hosts.refusal(kept("h1")) == "kept for node reuse"


def test_the_summary_counts_what_is_wrong_with_hosts() -> None:
    used = builders.host("h1", spec={"consumerRef": {"kind": "Metal3Machine", "name": "x"}})
    found = [used, {**used, "metadata": {"name": "h2"}}, builders.host("h3", status={"errorMessage": "x"})]
    assert selection.summary(found, selection.Wish()) == "3 hosts: 2 in use, 1 in error"
    assert selection.summary([], selection.Wish()) == "there are no hosts"


POWER = [
    # disablePowerOff, fast track, cleaning mode, online
    (True, False, "metadata", True),
    (True, True, "disabled", True),
    (False, True, "metadata", True),
    (False, True, "", True),
    (False, True, "disabled", False),
    (False, False, "metadata", False),
    (False, False, "disabled", False),
]


@pytest.mark.parametrize(("never_off", "fast", "mode", "online"), POWER)
def test_power_after_release_follows_the_table(never_off: bool, fast: bool, mode: str, online: bool) -> None:
    host = builders.host(spec={"disablePowerOff": never_off, "automatedCleaningMode": mode or None})
    assert powerpolicy.online_after_release(host, fast_track=fast) is online
