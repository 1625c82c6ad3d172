"""Child processes of the testbed: started with their output in a file, ended by their own process id.

Apart from the servers they run, because etcd, kube-apiserver, the controller and the webhooks are all ended alike.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class ChildFailedError(Exception):
    """A child process ended when it should not have; the message ends with its last lines."""


class Child:
    """One running process in a session of its own, so that Ctrl-C reaches only us and we end it in order."""

    def __init__(self, name: str, command: Sequence[str], log: Path, environ: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **(environ or {})},
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """``None`` while it runs."""
        return self._process.poll()

    def require_running(self) -> None:
        """Raises:
        ChildFailedError: it has ended.
        """
        code = self.exit_code
        if code is not None:
            raise ChildFailedError(f"{self.name} ended with exit code {code}:\n{self.tail()}")

    def tail(self, lines: int = 15) -> str:
        """The last lines of its output."""
        try:
            text = self.log.read_text(errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def send(self, number: signal.Signals) -> None:
        """Sends a signal; a process that has ended is left alone."""
        if self.exit_code is None:
            self._process.send_signal(number)

    def stop(self, timeout: float = 10.0) -> None:
        """Asks it to end, and ends it for good when it does not within `timeout` seconds."""
        self.send(signal.SIGTERM)
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Ends it without asking."""
        self.send(signal.SIGKILL)
        self._process.wait()
