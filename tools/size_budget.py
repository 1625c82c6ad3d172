"""Checks the size budgets: files of at most 300 lines, functions of at most 40 (docstrings not counted).

Over the budget is reported; over the hard limit (400 and 60) fails, unless size_budget.toml names the place with a
reason. Tests are left out: a table of cases may be as long as it needs to be.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

FILE, FILE_HARD = 300, 400
FUNCTION, FUNCTION_HARD = 40, 60


def sources() -> list[Path]:
    """Python files that git tracks or would track, tests left out."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return [Path(name) for name in names if "/tests/" not in name and Path(name).exists()]


def functions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Name and length of every function, without its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node, clean=False)
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            yield node.name, size - (docstring.count("\n") + 1 if docstring else 0)


def rows() -> Iterator[tuple[int, int, int, str]]:
    """(size, budget, hard limit, place) of everything over its budget."""
    for path in sources():
        text = path.read_text()
        lines = text.count("\n")
        if lines > FILE:
            yield lines, FILE, FILE_HARD, str(path)
        for name, size in functions(ast.parse(text)):
            if size > FUNCTION:
                yield size, FUNCTION, FUNCTION_HARD, f"{path}:{name}"


def main() -> int:
    """Prints what is over; 1 when something is over its hard limit without a reason."""
    reasons: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text()).get("exceptions", {})
    failed = 0
    seen = set()
    for size, budget, hard, place in sorted(rows(), reverse=True):
        seen.add(place)
        if place in reasons:
            verdict = f"allowed: {reasons[place]}"
        elif size > hard:
            verdict, failed = f"FAILED, the hard limit is {hard}", failed + 1
        else:
            verdict = f"over the budget of {budget}"
        print(f"{size:5} lines  {place}  {verdict}")
    for place in sorted(set(reasons) - seen):
        print(f"FAILED: the exception for {place} is not needed any more; take it out of size_budget.toml")
        failed += 1
    print(f"{len(sources())} files checked, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
