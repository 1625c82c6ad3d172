"""Compares the life cycles recorded from the Go programs with what our managers make of the same writes.

Apart from `replay`, which only runs them. Every difference that is meant has a rule in `RULES` with the id under which
docs/reference/quirks.md gives its reason; a rule takes the difference out of both sides, so anything else still shows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from capm3_api import meta
from capm3_api.model import Raw

from capm3_managers.testing import lifecycle_excuses, lifecycle_rules, replay

Row = tuple[str, str, str]
COMPARED = ("Metal3Cluster", "Metal3Machine", "BareMetalHost", "Metal3DataClaim", "Secret", "Node")
_PENDING = (
    ("/metal3remediations", "needs the remediation manager"),
    ("metal3-label-sync-prefixes", "needs the label sync manager"),
    ("--watch-filter", "the filter belongs to the controller"),
    ("/customresourcedefinitions", "another form of recording"),
)
"""A text in a recording, and what the replay lacks for it."""


def compare(folder: Path) -> Iterator[Row]:
    """A row for every compared object of every step: (kind/file/step/name, verdict, detail)."""
    for path in sorted(folder.glob("*.json")):
        recording = json.loads(path.read_text(encoding="utf-8"))
        missing = pending(path.stem, recording)
        if missing:
            yield f"{path.stem}/all", "pending", missing
            continue
        try:
            yield from list(compare_recording(path.stem, recording))
        except Exception as error:
            yield f"{path.stem}/all", "differing", f"failed: {error!r}"


def pending(name: str, recording: Mapping[str, Any]) -> str:
    """What the replay lacks for a recording; ``""`` for nothing."""
    if name.startswith("capi-core"):
        return "needs Cluster API core"
    if not all(isinstance(step.get("snapshot"), list) for step in recording.get("steps") or [{}]):
        return "another form of recording"
    if any(_changes_cleaning(action) for step in recording["steps"] for action in step["actions"]):
        return "needs the machine template manager"
    text = json.dumps(recording)
    return next((missing for mark, missing in _PENDING if mark in text), "")


def _changes_cleaning(action: Mapping[str, Any]) -> bool:
    """Whether a template's cleaning mode is changed, which its manager copies to the machines."""
    changes = action.get("method") != "POST" and "/metal3machinetemplates" in str(action.get("path"))
    return changes and "automatedCleaningMode" in json.dumps(action.get("body"))


def compare_recording(name: str, recording: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of one recording."""
    excuses = lifecycle_excuses.Excuses(recording)
    for number, step in enumerate(replay.run(recording), 1):
        where = f"{name}/{number}"
        if step.problem:
            yield f"Steps/{where}", "differing", step.problem
        yield from _step_rows(where, name, step, excuses)


def _step_rows(where: str, name: str, step: replay.Step, excuses: lifecycle_excuses.Excuses) -> Iterator[Row]:
    recorded, ours = _by_name(step.recorded), _by_name(step.ours)
    excuses.look(recorded, ours)
    for ref in sorted(ref for ref in {*recorded, *ours} if ref[0] in COMPARED):
        case = f"{ref[0]}/{where}/{ref[1]}"
        sides = (recorded.get(ref), ours.get(ref))
        yield (case, *_verdict(lifecycle_rules.Pair(name, step.name, ref, *sides, ours, excuses.of(ref))))


def _verdict(pair: lifecycle_rules.Pair) -> tuple[str, str]:
    used: list[str] = []
    for rule in lifecycle_rules.RULES:
        if pair.recorded == pair.ours:
            break
        changed = rule.apply(pair)
        if changed != pair:
            used.append(rule.quirk or pair.excuse)
            pair = changed
    if pair.recorded != pair.ours:
        return "differing", "; ".join(_differences(pair.recorded, pair.ours))
    return ("registered", ", ".join(dict.fromkeys(used))) if used else ("agreed", "")


def _differences(recorded: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Where two values part, as ``path: theirs -> ours``."""
    if isinstance(recorded, dict) and isinstance(ours, dict):
        for key in sorted({*recorded, *ours}):
            yield from _differences(recorded.get(key), ours.get(key), f"{path}.{key}" if path else key)
    elif isinstance(recorded, list) and isinstance(ours, list) and _keyed(recorded) and _keyed(ours):
        yield from _differences(_mapped(recorded), _mapped(ours), path)
    elif recorded != ours:
        yield f"{path}: {json.dumps(recorded)[:300]} -> {json.dumps(ours)[:300]}"


def _keyed(items: list[Any]) -> bool:
    return all(isinstance(item, dict) and "type" in item for item in items)


def _mapped(items: list[Raw]) -> Raw:
    return {str(item["type"]): item for item in items}


def _by_name(objects: Iterable[Raw]) -> dict[tuple[str, str], Raw]:
    return {(obj["kind"], meta.key_of(obj).name): obj for obj in objects}
