"""The program ``capm3-testbed``: demo, up, status, down, binaries, doctor.

Only the command line: what the commands do is in `demo`, `background` and `doctor`.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from capm3_testbed import background, doctor
from capm3_testbed.apiserver import binaries
from capm3_testbed.demo import run as demo
from capm3_testbed.tiers import TIERS

INTERRUPTED = 130
DEMO_HELP = "a manifest goes in, a cluster's machines come out ready"


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 as wished, 1 not, 2 unreadable command line, 130 after Ctrl-C."""
    return run(_parser().parse_args(argv))


def run(args: argparse.Namespace) -> int:
    """Does what the command line says."""
    logging.basicConfig(level=logging.DEBUG if args.verbose else logging.ERROR, format="%(name)s: %(message)s")
    signal.signal(signal.SIGTERM, _terminated)
    # A shell starts background jobs of a script with SIGINT ignored, which every child would inherit: an interrupted
    # script, or a CI job, would leave servers behind.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    console = Console(stderr=getattr(args, "output", "text") == "json")
    try:
        return int(_COMMANDS[args.command](args, console))
    except KeyboardInterrupt:
        console.print("interrupted; everything that was started is ended")
        return INTERRUPTED
    except (*demo.EXPECTED, background.BackgroundError) as error:
        console.print(f"failed: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        return 1


def _terminated(number: int, frame: object) -> None:
    """SIGTERM ends like Ctrl-C, so that every started part is ended in order."""
    raise KeyboardInterrupt


def _demo(args: argparse.Namespace, console: Console) -> int:
    options = demo.Options(args.tier, args.manifest, args.timeout, args.delete, args.output)
    if args.keep or args.notify:
        return background.demo(options, console, args.notify)
    demo.run(options, console)
    return 0


def _up(args: argparse.Namespace, console: Console) -> int:
    return background.up(args.tier, args.hosts, console, args.notify)


def _status(args: argparse.Namespace, console: Console) -> int:
    return background.status(args.tier, console)


def _down(args: argparse.Namespace, console: Console) -> int:
    return background.down(args.tier, console)


def _binaries(args: argparse.Namespace, console: Console) -> int:
    found = binaries.find(lambda text: console.print(text, markup=False, highlight=False))
    for path in (found.etcd, found.kube_apiserver):
        console.print(str(path), markup=False, highlight=False, soft_wrap=True)
    return 0


def _doctor(args: argparse.Namespace, console: Console) -> int:
    return doctor.main(console)


_COMMANDS = {
    "demo": _demo,
    "up": _up,
    "status": _status,
    "down": _down,
    "binaries": _binaries,
    "doctor": _doctor,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="capm3-testbed", description="Virtual bare metal for Cluster API Provider Metal3"
    )
    parser.add_argument("--verbose", action="store_true", help="also show what the stand-ins log")
    commands = parser.add_subparsers(dest="command", required=True)
    shown = commands.add_parser("demo", help=DEMO_HELP)
    add_demo_arguments(shown)
    up = commands.add_parser("up", help="start a testbed in the background")
    _tier(up)
    up.add_argument("--hosts", type=int, default=4, help="how many servers (default 4)")
    _notify(up)
    for name, text in (("status", "say what runs in the background"), ("down", "end what runs in the background")):
        _tier(commands.add_parser(name, help=text))
    commands.add_parser("binaries", help="find etcd and kube-apiserver, or build them")
    commands.add_parser("doctor", help="check what each tier needs on this machine")
    return parser


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
    """What a demo can be told; for ``capm3 demo`` too."""
    _tier(parser)
    parser.add_argument("--manifest", type=Path, help="a manifest of your own; ${IMAGE_URL} in it is the live ISO")
    parser.add_argument("--keep", action="store_true", help="leave everything running and say how to reach it")
    parser.add_argument("--delete", action="store_true", help="delete the cluster at the end, see every host released")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds to wait (default 300)")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text")
    _notify(parser)


def _notify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--notify", type=int, default=0, help=argparse.SUPPRESS)


def _tier(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tier", choices=sorted(TIERS), default="embedded", help="which API server (default embedded)")


if __name__ == "__main__":
    sys.exit(main())
