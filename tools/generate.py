"""Writes everything that is generated and checked in: CRDs, manifests, reference pages; ``--check`` only compares.

The pages are made from the tables and the programs that they describe, so that they can't say something else.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from capm3_api import names
from capm3_managers import outcomes, remedies

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "reference"
HELP_PYTHON = (3, 11)
"""The page of programs is made and compared on this Python alone: others wrap help texts in other places."""

PROGRAMS = (
    ("capm3-controller", ("--help",)),
    ("capm3-webhook", ("--help",)),
    ("capm3", ("--help",)),
    ("capm3", ("validate", "--help")),
    ("capm3", ("convert", "--help")),
    ("capm3", ("crds", "--help")),
    ("capm3", ("render", "--help")),
    ("capm3", ("explain", "--help")),
    ("capm3", ("tree", "--help")),
    ("capm3", ("demo", "--help")),
    ("capm3-bmc", ("--help",)),
    ("capm3-testbed", ("--help",)),
    ("capm3-testbed", ("demo", "--help")),
)


def conditions_page() -> str:
    """The page of conditions: every outcome, in both forms, and what to do about it."""
    lines = [
        "# Conditions, and what to do about them",
        "",
        "Made from `capm3_managers.outcomes` by `nox -s generate`. A message may say more than the default given here.",
        "",
        "| condition | status | reason | default message | older form (reason, severity) | what to do |",
        "|---|---|---|---|---|---|",
    ]
    for name, outcome in outcomes.TABLE.items():
        legacy = outcome.legacy
        older = f"`{legacy.type}` {legacy.status} {legacy.reason} {legacy.severity}".strip() if legacy else ""
        text = ": ".join(part for part in (outcome.prefix, outcome.message) if part)
        todo = remedies.REMEDIES.get(name, "")
        lines.append(f"| `{outcome.type}` | {outcome.status} | `{outcome.reason}` | {text} | {older} | {todo} |")
    return "\n".join(lines) + "\n"


def names_page() -> str:
    """The page of labels, annotations and finalizers."""
    lines = [
        "# Labels, annotations and finalizers",
        "",
        "Made from `capm3_api.names` by `nox -s generate`.",
        "",
        "| what | value |",
        "|---|---|",
    ]
    for name, value in sorted(vars(names).items()):
        if name.isupper() and name.endswith(("_LABEL", "_ANNOTATION", "_FINALIZER")):
            words = name.lower().replace("_", " ")
            lines.append(f"| {words} | `{value}` |")
    return "\n".join(lines) + "\n"


def programs_page() -> str:
    """The page of programs: the help text of each, as it prints it."""
    lines = ["# Programs", "", "Made from the programs' own `--help` by `nox -s generate`.", ""]
    for program, arguments in PROGRAMS:
        command = [str(Path(sys.executable).parent / program), *arguments]
        answer = subprocess.run(
            command, capture_output=True, text=True, env={"COLUMNS": "110", "PATH": "/usr/bin:/bin"}, check=True
        )
        lines += [f"## {' '.join([program, *arguments[:-1]])}", "", "```text", answer.stdout.rstrip(), "```", ""]
    return "\n".join(lines)


def main() -> int:
    """Returns 1 when ``--check`` finds something stale."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 on a difference")
    check = parser.parse_args().check
    failed = 0
    for tool in ("gen_crds.py", "gen_config.py"):
        command = [sys.executable, str(ROOT / "tools" / tool), *(["--check"] if check else [])]
        failed = subprocess.run(command, check=False).returncode or failed
    pages = {"conditions.md": conditions_page(), "annotations.md": names_page()}
    if sys.version_info[:2] == HELP_PYTHON:
        pages["cli.md"] = programs_page()
    for name, text in pages.items():
        path = PAGES / name
        if path.exists() and path.read_text() == text:
            continue
        if check:
            print(f"differs: docs/reference/{name}; run nox -s generate")
            failed = 1
        else:
            path.write_text(text)
            print(f"written: docs/reference/{name}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
