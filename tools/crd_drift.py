"""Compares the CRDs that we ship with those of the Go programs: ``crd_drift.py --reference DIR``.

Apart from the generator and its test, because the reference is not part of this repository. Descriptions and annotations
are not compared. A difference that is meant stands in ``crd_drift.toml`` with its reason; any other one is an error.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from capm3_api import crdgen

REGISTER = Path(__file__).with_suffix(".toml")
_UNORDERED = ("required", "enum", "shortNames", "categories")


@dataclasses.dataclass(frozen=True)
class Rule:
    """One meant difference: CRD name and path (both regular expressions) and why."""

    id: str
    crd: re.Pattern[str]
    path: re.Pattern[str]
    reason: str

    def covers(self, crd: str, item: Difference) -> bool:
        """Only where ours has or accepts more: a required field fewer, or a key that the reference has not."""
        if not (self.crd.fullmatch(crd) and self.path.fullmatch(item.path)):
            return False
        if item.path.endswith(".required"):
            return set(_listed(item.ours)) < set(_listed(item.reference))
        return item.reference is ABSENT


@dataclasses.dataclass(frozen=True)
class Difference:
    path: str
    reference: Any
    ours: Any

    def __str__(self) -> str:
        return f"{self.path}: reference {_short(self.reference)}, ours {_short(self.ours)}"


class _Absent:
    def __repr__(self) -> str:
        return "has none"


ABSENT = _Absent()


def rules() -> list[Rule]:
    """The registered differences."""
    table = tomllib.loads(REGISTER.read_text())
    return [
        Rule(row["id"], re.compile(row["crd"]), re.compile(row["path"]), row["reason"]) for row in table["registered"]
    ]


def comparable(node: Any, *, names: bool = False) -> Any:
    """The node without descriptions; lists whose order means nothing are sorted.

    Args:
        names: the keys of `node` are names of fields, not words of OpenAPI.
    """
    if isinstance(node, list):
        return [comparable(item) for item in node]
    if not isinstance(node, dict):
        return node
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key == "description" and not names:
            continue
        if key in _UNORDERED and not names and isinstance(value, list):
            result[key] = sorted(value, key=repr)
        else:
            result[key] = comparable(value, names=key == "properties" and not names)
    return result


def view(crd: dict[str, Any]) -> dict[str, Any]:
    """The parts of a CRD that are compared; versions by name."""
    spec = comparable(crd["spec"])
    spec.pop("conversion", None)
    spec["versions"] = {version["name"]: version for version in spec["versions"]}
    return {"labels": crd["metadata"].get("labels") or {}, **spec}


def differences(reference: Any, ours: Any, path: str = "") -> Iterator[Difference]:
    """Every place in which the two differ, deepest first."""
    if isinstance(reference, dict) and isinstance(ours, dict):
        for key in sorted(reference.keys() | ours.keys()):
            there = f"{path}.{key}" if path else str(key)
            yield from differences(reference.get(key, ABSENT), ours.get(key, ABSENT), there)
    elif reference != ours:
        yield Difference(path, reference, ours)


def load_reference(folder: Path) -> dict[str, dict[str, Any]]:
    """All CRDs under a folder, by name."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.rglob("*.y*ml")):
        for document in yaml.load_all(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
                found[document["metadata"]["name"]] = document
    return found


def compare(folder: Path, out: Any = sys.stdout) -> int:
    """Prints the comparison; returns the number of differences that are not registered."""
    reference = load_reference(folder)
    registered = rules()
    used: set[str] = set()
    wrong = 0
    for crd in crdgen.all_crds():
        name = crd["metadata"]["name"]
        if name not in reference:
            print(f"differing  {name}: the reference has no such CRD", file=out)
            wrong += 1
            continue
        found = list(differences(view(reference[name]), view(crd)))
        unknown = []
        for item in found:
            rule = next((candidate for candidate in registered if candidate.covers(name, item)), None)
            if rule is None:
                unknown.append(item)
            else:
                used.add(rule.id)
        word = "differing" if unknown else "agreed"
        print(f"{word:10} {name}: {len(unknown)} differing, {len(found) - len(unknown)} registered", file=out)
        for item in unknown:
            print(f"    {item}", file=out)
        wrong += len(unknown)
    for rule in registered:
        print(f"registered {rule.id} ({'seen' if rule.id in used else 'not seen'}): {rule.reason}", file=out)
    print(f"{wrong or 'no'} unregistered differences", file=out)
    return wrong


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."


def main() -> int:
    """Returns 1 on an unregistered difference, 2 when the folder is missing or a file in it is no YAML."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", type=Path, required=True, help="folder with capm3/, bmo/ and ipam/")
    folder = parser.parse_args().reference
    if not folder.is_dir():
        print(f"no such folder: {folder}", file=sys.stderr)
        return 2
    try:
        return 1 if compare(folder) else 0
    except yaml.YAMLError as problem:
        print(f"a file below {folder} is no valid YAML: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
