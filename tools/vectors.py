"""Compares our behaviour with outputs recorded from the Go programs, kind by kind.

Takes a folder laid out like ``vectors/`` (conversion, admission, rendering, lifecycle) or one of those four. A
difference that is registered (docs/reference/quirks.md names it and its reason) is counted apart; an unregistered one
fails.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

Row = tuple[str, str, str]
Compare = Callable[[Path], Iterable[Row]]

PROTOCOL = "capm3_webhook.testing.vectors_protocol"
COMPARISONS = {
    "conversion": ("capm3_api.testing.vectors_conversion", PROTOCOL),
    "admission": ("capm3_api.testing.vectors_admission", PROTOCOL),
    "rendering": ("capm3_managers.testing.vectors_rendering",),
    "lifecycle": ("capm3_managers.testing.vectors_lifecycle",),
}


def folders(root: Path) -> list[tuple[str, Path]]:
    """The comparisons that the folder has data for."""
    if root.name in COMPARISONS:
        return [(root.name, root)]
    return [(name, root / name) for name in COMPARISONS if (root / name).is_dir()]


def rows(name: str, folder: Path) -> Iterable[Row]:
    """What every module that compares such a folder says."""
    for path in COMPARISONS[name]:
        try:
            module = importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name != path:
                raise
            print(f"{name}: not compared, {path} does not exist yet")
            continue
        run: Compare = module.compare
        yield from run(folder)


def compare(name: str, folder: Path, *, verbose: bool) -> int:
    """Prints one comparison's table; returns how many cases differ without being registered."""
    counts: dict[str, Counter[str]] = {}
    differing = 0
    for case, verdict, detail in rows(name, folder):
        counts.setdefault(case.split("/")[0], Counter())[verdict] += 1
        if verdict == "differing":
            differing += 1
            print(f"  DIFFERING {name}/{case}: {detail}")
        elif verbose and verdict != "agreed":
            print(f"  {verdict} {name}/{case}: {detail}")
    for kind, seen in sorted(counts.items()):
        print(
            f"{name:11} {kind:34} "
            + "  ".join(f"{word} {seen[word]}" for word in ("agreed", "differing", "registered", "pending"))
        )
    return differing


def main() -> int:
    """Runs every comparison that the folder has data for; 1 on an unregistered difference, 2 on a wrong folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-v", "--verbose", action="store_true", help="list the registered differences too")
    args = parser.parse_args()
    found = folders(args.folder.resolve())
    if not found:
        wanted = ", ".join(COMPARISONS)
        print(
            f"{args.folder}: none of {wanted} is in it; name such a folder or the one that holds them", file=sys.stderr
        )
        return 2
    differing = sum(compare(name, folder, verbose=args.verbose) for name, folder in found)
    print(f"unregistered differences: {differing}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
