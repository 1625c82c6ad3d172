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

from capm3_managers.testing import lifecycle_rules, replay

Row = tuple[str, str, str]
COMPARED = ("Metal3Cluster", "Metal3Machine", "BareMetalHost", "Metal3DataClaim", "Secret", "Node")
PENDING = {
    "capi-core-machinedeployment": "needs Cluster API core",
    "capi-core-remediation": "needs Cluster API core and the remediation manager",
    "cleaning-template-sync": "needs the machine template manager",
    "crd-migration": "another form of recording",
    "label-sync": "needs the label sync manager",
    "remediation-deleted-early": "needs the remediation manager",
    "remediation-drain": "needs the remediation manager",
    "remediation-edge": "needs the remediation manager",
    "remediation-node-delete-mode": "needs the remediation manager",
    "remediation-retry-exhausted": "needs the remediation manager",
    "watch-filter": "the filter belongs to the controller",
}


def compare(folder: Path) -> Iterator[Row]:
    """A row for every compared object of every step: (kind/file/step/name, verdict, detail)."""
    for path in sorted(folder.glob("*.json")):
        if path.stem in PENDING:
            yield f"{path.stem}/all", "pending", PENDING[path.stem]
            continue
        yield from compare_recording(path.stem, json.loads(path.read_text()))


def compare_recording(name: str, recording: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of one recording."""
    for number, step in enumerate(replay.run(recording), 1):
        where = f"{name}/{number}"
        if step.problem:
            yield f"Steps/{where}", "differing", step.problem
        yield from _step_rows(where, name, step)


def _step_rows(where: str, name: str, step: replay.Step) -> Iterator[Row]:
    recorded, ours = _by_name(step.recorded), _by_name(step.ours)
    for ref in sorted({*recorded, *ours}):
        case = f"{ref[0]}/{where}/{ref[1]}"
        yield (case, *_verdict(lifecycle_rules.Pair(name, step.name, ref, recorded.get(ref), ours.get(ref))))


def _verdict(pair: lifecycle_rules.Pair) -> tuple[str, str]:
    used: list[str] = []
    for rule in lifecycle_rules.RULES:
        if pair.recorded == pair.ours:
            break
        changed = rule.apply(pair)
        if changed != pair:
            used.append(rule.quirk)
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
    return {(obj["kind"], meta.key_of(obj).name): obj for obj in objects if obj.get("kind") in COMPARED}
