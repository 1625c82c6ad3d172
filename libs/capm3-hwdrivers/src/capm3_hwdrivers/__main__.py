"""``python -m capm3_hwdrivers`` and the script ``capm3-bmc``: the BMC commands with this library alone."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from capm3_hwdrivers import commands


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit code."""
    parser = argparse.ArgumentParser(prog="capm3-bmc", description=f"{commands.HELP}.")
    commands.add_arguments(parser)
    try:
        return commands.run(parser.parse_args(argv))
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
