"""Picks from constraints.txt what one app needs, hashes and all, for pip's ``--require-hashes`` in its image.

Apart from the other tools, because it runs inside of the image build: standard library only. What needs what is read from
the ``# via`` notes that uv writes; `pip check` at the end of the build is the second opinion.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple


class Pin(NamedTuple):
    """One package of constraints.txt: its lines without notes, and who asked for it (normal names)."""

    text: str
    needed_by: frozenset[str]


def normal(name: str) -> str:
    """A package's name in the one spelling (PEP 503), extras and versions dropped."""
    found = re.match(r"[A-Za-z0-9._-]+", name.strip())
    return re.sub(r"[-_.]+", "-", found[0] if found else "").lower()


def pins(constraints: str) -> dict[str, Pin]:
    """All packages of a file as ``uv pip compile --generate-hashes`` writes it."""
    found: dict[str, Pin] = {}
    for block in re.split(r"(?m)^(?=[A-Za-z0-9])", constraints)[1:]:
        lines = block.splitlines()
        notes = [line.strip().lstrip("# ") for line in lines if line.lstrip().startswith("#")]
        parents = {normal(note.removeprefix("via")) for note in notes}
        text = "\n".join(line for line in lines if line.strip() and not line.lstrip().startswith("#"))
        found[normal(lines[0])] = Pin(text, frozenset(parents - {""}))
    return found


def direct(projects: Iterable[Path], own: frozenset[str]) -> set[str]:
    """Third-party packages that these projects depend on (not by extras)."""
    named = {normal(name) for project in projects for name in _dependencies(project)}
    return named - own


def closure(table: Mapping[str, Pin], roots: set[str]) -> list[str]:
    """The roots and everything that they pull in, sorted.

    Raises:
        SystemExit: a root is not pinned.
    """
    missing = sorted(roots - set(table))
    if missing:
        raise SystemExit(f"constraints.txt lacks {', '.join(missing)}; run nox -s constraints")
    chosen: set[str] = set()
    while roots:
        chosen |= roots
        roots = {name for name, pin in table.items() if pin.needed_by & chosen} - chosen
    return sorted(chosen)


def _dependencies(project: Path) -> list[str]:
    data = tomllib.loads((project / "pyproject.toml").read_text())
    return list(data["project"]["dependencies"])


def _build_dependencies(project: Path) -> list[str]:
    data = tomllib.loads((project / "pyproject.toml").read_text())
    return list(data["build-system"]["requires"])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("constraints", type=Path, help="constraints.txt")
    parser.add_argument("projects", type=Path, nargs="+", help="folders of our packages that go into the image")
    parser.add_argument("--build", action="store_true", help="what builds the packages, not what runs them")
    parser.add_argument("-o", "--output", type=Path, required=True, help="file to write")
    given = parser.parse_args()
    own = frozenset(
        normal(tomllib.loads((project / "pyproject.toml").read_text())["project"]["name"]) for project in given.projects
    )
    table = pins(given.constraints.read_text())
    if given.build:
        roots = {normal(name) for project in given.projects for name in _build_dependencies(project)}
    else:
        roots = direct(given.projects, own)
    chosen = closure(table, roots)
    given.output.write_text("".join(f"{table[name].text}\n" for name in chosen))
    print(f"{given.output}: {' '.join(chosen)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
