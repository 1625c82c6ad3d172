"""The program ``capm3`` (and ``kubectl capm3``): a frame that lists the sub-commands which installed packages register.

Apart from the sub-commands, so that one name on the path serves every package that is installed and none has to import
another. A package registers a module under the entry-point group ``capm3.commands``; the entry point's name is the
sub-command's. The module has:

* ``HELP``: one line for the list;
* ``add_arguments(parser)``: fills in an `argparse.ArgumentParser`;
* ``run(arguments) -> int``: does it, and returns the exit code.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Protocol

GROUP = "capm3.commands"


class Command(Protocol):
    """What a registered module must have."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...


def commands() -> dict[str, importlib.metadata.EntryPoint]:
    """The registered sub-commands by name; nothing is imported yet."""
    found = importlib.metadata.entry_points(group=GROUP)
    return {entry.name: entry for entry in sorted(found, key=lambda entry: entry.name)}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit code: 0 well, 1 something found wrong, 2 wrong usage."""
    given = list(sys.argv[1:] if argv is None else argv)
    known = commands()
    wanted = next((word for word in given if not word.startswith("-")), "")
    # Only the command that is called for gets imported: the list of a full installation holds heavy packages.
    chosen = {wanted: known[wanted]} if wanted in known and given[0] == wanted else known
    parser, runners = _parser(chosen)
    arguments = parser.parse_args(given)
    if not arguments.command:
        parser.print_help()
        return 2
    try:
        return runners[arguments.command].run(arguments)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: no fault of ours, and nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def _parser(entries: Mapping[str, importlib.metadata.EntryPoint]) -> tuple[argparse.ArgumentParser, dict[str, Command]]:
    made = argparse.ArgumentParser(
        prog="capm3",
        description="Tools for people who run bare-metal clusters with Cluster API Provider Metal3.",
        epilog="'capm3 COMMAND --help' tells more on a command. 'kubectl capm3' is the same program.",
    )
    made.add_argument("--version", action="version", version=f"capm3 {importlib.metadata.version('capm3-api')}")
    group = made.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    runners: dict[str, Command] = {}
    for name, entry in entries.items():
        try:
            command: Command = entry.load()
        except ImportError as problem:
            group.add_parser(name, help=f"(not usable here: {problem})")
            runners[name] = _Unusable(name, str(problem))
            continue
        command.add_arguments(group.add_parser(name, help=command.HELP, description=command.HELP))
        runners[name] = command
    return made, runners


class _Unusable:
    """Stands for a command whose package is installed without what it needs."""

    def __init__(self, name: str, reason: str) -> None:
        self.HELP = f"(not usable here: {reason})"
        self._text = f"capm3 {name}: cannot be used here: {reason}\n"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Nothing to add."""

    def run(self, arguments: argparse.Namespace) -> int:
        sys.stderr.write(self._text)
        return 2


if __name__ == "__main__":
    raise SystemExit(main())
