"""Writes the CRDs of all kinds to ``libs/capm3-api/src/capm3_api/crds``; ``--check`` only compares.

Apart from `capm3_api.crdgen`, which makes them but touches no files.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import yaml
from capm3_api import crdgen, crdgen_facts

FOLDER = Path(__file__).resolve().parent.parent / "libs/capm3-api/src/capm3_api/crds"


def rendered() -> dict[str, str]:
    """File name to YAML text."""
    return {
        crdgen.file_name(facts.kind): "---\n"
        + yaml.safe_dump(crdgen.generate(facts), sort_keys=True, width=1000, default_flow_style=False)
        for facts in crdgen_facts.ALL.values()
    }


def main() -> int:
    """Returns 1 when ``--check`` finds a file that differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 on a difference")
    check = parser.parse_args().check
    texts = rendered()
    stale = [name for name, text in texts.items() if not _same(FOLDER / name, text)]
    extra = sorted(path for path in FOLDER.glob("*.yaml") if path.name not in texts)
    if check:
        for name in [*stale, *(path.name for path in extra)]:
            print(f"differs: {name}; run python tools/gen_crds.py")
        return 1 if stale or extra else 0
    for name in stale:
        (FOLDER / name).write_text(texts[name])
        print(f"written: {name}")
    for path in extra:
        path.unlink()
        print(f"removed: {path.name}")
    return 0


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main())
