"""``capm3 demo``: the same as ``capm3-testbed demo``, in the common frame.

Apart from `cli`, so that the list of ``capm3`` names the demo by a module of the shape that the frame asks for.
"""

from __future__ import annotations

import argparse

from capm3_testbed import cli

HELP = f"{cli.DEMO_HELP}; virtual servers, no cluster needed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "'capm3-testbed' has more: up, status and down for a testbed in the background, doctor."
    parser.add_argument("--verbose", action="store_true", help="also show what the stand-ins log")
    cli.add_demo_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    return cli.run(arguments)
