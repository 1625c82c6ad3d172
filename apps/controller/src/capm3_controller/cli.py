"""The program ``capm3-controller``: reads the command line, runs until a signal, says why when it can't.

Exit codes: 0 stopped as asked, 1 could not start or lost the lease, 2 unreadable command line.
"""

from __future__ import annotations

import importlib.metadata
import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence

from capm3_controller import flags, settings, wiring
from capm3_controller.kube.endpoint import EndpointError
from capm3_controller.process import Controller
from capm3_controller.runtime import logs
from capm3_controller.runtime.serving import AddressError
from capm3_controller.settings import Settings, SettingsError

PROGRAM = "capm3-controller"
log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if any(arg in ("-h", "--help", "-help") for arg in args):
        sys.stdout.write(flags.usage(PROGRAM))
        return 0
    if any(arg in ("--version", "-version") for arg in args):
        sys.stdout.write(f"{PROGRAM} {importlib.metadata.version('capm3-controller')}\n")
        return 0
    try:
        chosen = flags.parse(args)
    except flags.FlagError as error:
        sys.stderr.write(f"{flags.usage(PROGRAM)}\n{PROGRAM}: {error}\n")
        return 2
    return run(chosen)


def run(chosen: Settings) -> int:
    """Runs with these settings until a signal or the loss of the lease."""
    try:
        settings.check(chosen)
        verbosity = logs.setup(chosen.logging_format, chosen.v, _vmodule(chosen.vmodule))
        controller = wiring.build(chosen, verbosity=verbosity)
    except (SettingsError, EndpointError, AddressError) as error:
        sys.stderr.write(f"{PROGRAM}: can't start: {error}\n")
        return 1
    _on_signals(controller)
    log.info("Starting", extra={"facts": {"agent": wiring.user_agent(), **controller.ports}})
    controller.start()
    controller.wait()
    return 0 if controller.stop() else 1


def _on_signals(controller: Controller) -> None:
    """The first signal stops in order, the second at once.

    The signals come through a pipe to a thread: a Python signal handler runs in the middle of whatever the main thread
    holds.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: None)
    signal.set_wakeup_fd(writer)

    def listen() -> None:
        name = signal.Signals(os.read(reader, 1)[0]).name
        log.info("Stopping; another signal ends at once", extra={"facts": {"signal": name}})
        controller.ask_to_stop()
        os.read(reader, 1)
        os._exit(1)

    threading.Thread(target=listen, name="signals", daemon=True).start()


def _vmodule(items: Sequence[str]) -> Mapping[str, int]:
    table = {}
    for item in items:
        name, _, level = item.partition("=")
        if not name or not level.isdigit():
            raise SettingsError(f"--vmodule: {item!r} is not PATTERN=N")
        table[name] = int(level)
    return table


if __name__ == "__main__":
    raise SystemExit(main())
