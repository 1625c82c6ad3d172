"""Builds etcd and kube-apiserver from the committed tools modules with Go.

Apart from finding them, because it takes minutes, needs a compiler and the network, and shows how far it is.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

Say = Callable[[str], None]
_REPORT_SECONDS = 5.0


class MissingToolError(Exception):
    """Something that the tier needs is not on this machine; the message says what and how to mend it."""


@dataclasses.dataclass(frozen=True)
class Program:
    """Args:
    name: of the executable.
    package: its Go package.
    module: folder of the tools module, below ``tools``.
    ldflags: what the linker puts in, besides stripping.
    """

    name: str
    version: str
    package: str
    module: str
    ldflags: str = ""


_VERSION = "k8s.io/component-base/version"
KUBE_APISERVER = Program(
    "kube-apiserver",
    "1.36.3",
    "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube",
    f"-X {_VERSION}.gitVersion=v1.36.3 -X {_VERSION}.gitMajor=1 -X {_VERSION}.gitMinor=36",
)
ETCD = Program("etcd", "3.6.16", "go.etcd.io/etcd/server/v3", "etcd")


def tools_folder() -> Path:
    """The tools modules: beside the sources in a checkout, inside the package when it was installed as a wheel."""
    here = Path(__file__).resolve()
    for candidate in (here.parents[3] / "tools", here.parents[1] / "tools"):
        if (candidate / "kube" / "go.mod").is_file():
            return candidate
    raise MissingToolError("the Go modules of the testbed (tools/kube, tools/etcd) are not beside the package")


def build(program: Program, folder: Path, say: Say) -> Path:
    """Compiles one program into `folder`.

    Raises:
        MissingToolError: there is no Go, or the build failed; the message ends with its last lines.
    """
    go = shutil.which("go")
    if go is None:
        raise MissingToolError(
            f"{program.name} is not here and Go is not installed: install Go 1.26 or later (https://go.dev/dl), "
            "or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver"
        )
    module = tools_folder() / program.module
    folder.mkdir(parents=True, exist_ok=True)
    say(f"building {program.name} {program.version} (once; kept in {folder})")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        target = Path(scratch) / program.name
        total = _package_count(go, module, program)
        _compile(_command(go, program, target), module, _Progress(program.name, total, begin, say))
        target.replace(folder / program.name)
    say(f"built {program.name} in {time.monotonic() - begin:.0f} s")
    return folder / program.name


def _command(go: str, program: Program, target: Path) -> list[str]:
    flags = f"-s -w {program.ldflags}".strip()
    return [go, "build", "-v", "-trimpath", "-mod=readonly", "-ldflags", flags, "-o", str(target), program.package]


def _environment() -> dict[str, str]:
    return {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}


def _package_count(go: str, module: Path, program: Program) -> int:
    """How many packages the program is made of; downloads the modules on the way."""
    answer = subprocess.run(
        [go, "list", "-deps", "-mod=readonly", program.package],
        cwd=module,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        raise MissingToolError(f"go list for {program.name} failed:\n{_tail(answer.stderr.splitlines())}")
    return len(answer.stdout.splitlines())


@dataclasses.dataclass
class _Progress:
    """Counts what the compiler reports and says so now and then, also while one package takes long."""

    name: str
    total: int
    begin: float
    say: Say
    done: int = 0

    def tell(self) -> None:
        elapsed = time.monotonic() - self.begin
        self.say(f"[{elapsed:5.0f} s] {self.name}: {self.done} of at most {self.total} packages compiled")

    @contextlib.contextmanager
    def telling(self) -> Iterator[None]:
        over = threading.Event()

        def run() -> None:
            while not over.wait(_REPORT_SECONDS):
                self.tell()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _compile(command: list[str], module: Path, progress: _Progress) -> None:
    lines: list[str] = []
    with subprocess.Popen(
        command, cwd=module, env=_environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stderr is not None
        try:
            with progress.telling():
                for line in process.stderr:
                    lines.append(line.rstrip())
                    progress.done += 0 if line.startswith("go: ") else 1
        except BaseException:
            process.terminate()
            raise
    if process.returncode != 0:
        raise MissingToolError(f"building {progress.name} failed:\n{_tail(lines)}")


def _tail(lines: list[str]) -> str:
    return "\n".join(lines[-15:])
