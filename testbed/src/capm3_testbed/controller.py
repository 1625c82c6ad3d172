"""Runs the program ``capm3-controller`` against a tier, as its users do: a process with flags.

Apart from the stack, because tests also run several of them at once, kill them and start them again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from capm3_testbed import net
from capm3_testbed.children import Child
from capm3_testbed.kubeconfig import Access

FLAGS = (
    "--diagnostics-address=0",
    "--host-manager",
    "--ip-pools",
    "--kube-api-qps=200",
    "--kube-api-burst=400",
    "--host-power-poll=10s",
    "--requeue-after=3s",  # made-up servers boot in a second, so nobody has to wait for 30
)


class ControllerProcess:
    """One running controller.

    Args:
        folder: for its kubeconfig and log.
        flags: besides those of every run here.
    """

    def __init__(self, access: Access, folder: Path, flags: Sequence[str] = (), name: str = "capm3-controller") -> None:
        self._kubeconfig = access.write(folder / f"{name}.kubeconfig")
        self._log = folder / f"{name}.log"
        self._name = name
        self.health_port = net.free_port()
        self._flags = (*FLAGS, *flags)
        self.child: Child | None = None

    def start(self, timeout: float = 30.0) -> None:
        """Starts it and waits until it is ready.

        Raises:
            ChildFailedError: it ended.
            TimeoutError: it was not ready in time.
        """
        self.launch()
        self.wait_ready(timeout)

    def launch(self) -> None:
        command = [
            sys.executable,
            "-m",
            "capm3_controller",
            f"--kubeconfig={self._kubeconfig}",
            f"--health-addr=127.0.0.1:{self.health_port}",
            *self._flags,
        ]
        self.child = Child(self._name, command, self._log)

    def wait_ready(self, timeout: float = 30.0) -> None:
        net.wait_until(f"{self._name} is ready", self.ready, timeout)

    def ready(self) -> bool:
        """Whether ``/readyz`` says so.

        Raises:
            ChildFailedError: it ended.
        """
        if self.child is None:
            return False
        self.child.require_running()
        return net.answers_ok(self.health_port, "/readyz")

    def stop(self) -> None:
        if self.child is not None:
            self.child.stop(timeout=15.0)

    def kill(self) -> None:
        """Ends it as a crash would."""
        if self.child is not None:
            self.child.kill()

    def log(self, lines: int = 40) -> str:
        return self.child.tail(lines) if self.child is not None else ""
