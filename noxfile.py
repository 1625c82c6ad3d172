"""The commands of the repository: `nox` runs what CI runs, `nox -s demo` shows the whole thing.

All sessions share one environment under .nox/dev: every third-party package pinned and hash-checked by constraints.txt,
our own packages editable. It is made anew when constraints.txt or a pyproject.toml changes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent.resolve()
PACKAGES = [
    "libs/capm3-api",
    "libs/capm3-managers",
    "libs/capm3-hwdrivers",
    "apps/controller",
    "apps/webhook",
    "testbed",
]
SOURCES = [f"{package}/src" for package in PACKAGES]
DEV = ROOT / ".nox" / "dev"
BIN = DEV / ("Scripts" if os.name == "nt" else "bin")

nox.needs_version = ">=2025.2"
nox.options.sessions = ["lint", "types", "arrows", "sizes", "tests"]
nox.options.default_venv_backend = "none"


def _fingerprint() -> str:
    digest = hashlib.sha256(sys.version.encode())
    for path in [ROOT / "constraints.txt", *(ROOT / package / "pyproject.toml" for package in PACKAGES)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _environment(session: nox.Session) -> None:
    """Makes the shared environment when it is missing or stale; prints what it does, since it takes a while."""
    stamp = DEV / "capm3-fingerprint"
    if stamp.exists() and stamp.read_text() == _fingerprint():
        return
    session.log("making the environment in .nox/dev (about 100 packages; a minute with a cold cache)")
    editable = [part for package in PACKAGES for part in ("-e", str(ROOT / package))]
    shutil.rmtree(DEV, ignore_errors=True)
    uv = shutil.which("uv")
    if uv:
        session.run(uv, "venv", "-q", "--python", sys.executable, str(DEV), external=True)
        install = [uv, "pip", "install", "-q", "--python", str(BIN / "python")]
    else:
        session.run(sys.executable, "-m", "venv", str(DEV), external=True)
        install = [str(BIN / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    session.run(*install, "--require-hashes", "-r", str(ROOT / "constraints.txt"), external=True)
    session.run(*install, "--no-deps", "--no-build-isolation", *editable, external=True)
    stamp.write_text(_fingerprint())


def _run(session: nox.Session, program: str, *args: str, env: dict[str, str] | None = None) -> None:
    _environment(session)
    path = os.pathsep.join([str(BIN), os.environ.get("PATH", "")])
    session.run(str(BIN / program), *args, external=True, env={"PATH": path, **(env or {})})


@nox.session
def lint(session: nox.Session) -> None:
    """ruff: rules and format; and that what is generated is fresh."""
    _run(session, "ruff", "check", ".")
    _run(session, "ruff", "format", "--check", ".")
    _run(session, "python", "tools/generate.py", "--check")


@nox.session
def types(session: nox.Session) -> None:
    """mypy, strict, over every package and the tools."""
    _run(session, "mypy", *SOURCES)
    _run(session, "mypy", "tools")


@nox.session
def arrows(session: nox.Session) -> None:
    """import-linter: which package may import which, and what libraries must not touch."""
    _run(session, "lint-imports", "--no-cache")


@nox.session
def sizes(session: nox.Session) -> None:
    """Budgets of files and functions."""
    _run(session, "python", "tools/size_budget.py")


@nox.session
def tests(session: nox.Session) -> None:
    """Every test that this machine can run; closes with passed, failed, skipped and why."""
    _control_plane(session, needed=False)
    _run(session, "pytest", "-q", "--durations=15", "-m", "not slow", *session.posargs)


@nox.session
def long(session: nox.Session) -> None:
    """The slow tests too, and 10,000 examples a property."""
    _control_plane(session, needed=False)
    _run(session, "pytest", "-q", "--durations=25", "--timeout=3600", *session.posargs, env={"CAPM3_EXAMPLES": "10000"})


@nox.session
def apiserver(session: nox.Session) -> None:
    """What needs etcd and kube-apiserver, alone: found, or built from Go modules (about ten minutes, once)."""
    _control_plane(session, needed=True)
    _run(session, "pytest", "-q", "-m", "apiserver", "--durations=10", *session.posargs)


def _control_plane(session: nox.Session, *, needed: bool) -> None:
    """Finds or builds etcd and kube-apiserver before tests ask for them, so that progress is seen."""
    if not needed and os.environ.get("CAPM3_NO_APISERVER"):
        return
    codes = [0] if needed else [0, 1]
    _environment(session)
    session.run(str(BIN / "capm3-testbed"), "binaries", external=True, success_codes=codes)


@nox.session
def demo(session: nox.Session) -> None:
    """A bare-metal cluster end to end: `nox -s demo -- --help`."""
    _run(session, "capm3-testbed", "demo", *session.posargs)


@nox.session
def images(session: nox.Session) -> None:
    """Builds the images of both apps and tries them: `nox -s images -- --help` (needs root and buildah)."""
    _run(session, "python", "tools/images.py", *session.posargs)


@nox.session
def vectors(session: nox.Session) -> None:
    """Compares with recorded outputs of the Go programs: `nox -s vectors -- DIR`."""
    if not session.posargs:
        session.error("name the folder: nox -s vectors -- DIR (laid out like vectors/, or one of its four sub-folders)")
    _run(session, "python", "tools/vectors.py", *session.posargs)


@nox.session
def shared(session: nox.Session) -> None:
    """Everything that compares with a full folder of recordings and references: `nox -s shared -- DIR`."""
    if len(session.posargs) != 1:
        session.error("name the folder: nox -s shared -- DIR (it holds vectors/ and reference/)")
    folder = Path(session.posargs[0]).resolve()
    _run(session, "python", "tools/vectors.py", str(folder / "vectors"))
    _run(session, "python", "tools/crd_drift.py", "--reference", str(folder / "reference" / "crds"))
    manifest = folder / "reference" / "manifests" / "clusterctl-cluster.rendered.yaml"
    _control_plane(session, needed=False)
    stories = ["testbed/scenarios/test_story_manifests.py", "testbed/tests/dropin"]
    _run(session, "pytest", "-q", *stories, env={"CAPM3_REFERENCE_MANIFEST": str(manifest)})


@nox.session
def bench(session: nox.Session) -> None:
    """Benchmarks: `nox -s bench -- NAME` (webhook, controller); without a name it lists them."""
    _run(session, "python", "tools/bench.py", *session.posargs)


@nox.session
def crd_drift(session: nox.Session) -> None:
    """Compares the generated CRDs with reference ones: `nox -s crd_drift -- --reference DIR`."""
    _run(session, "python", "tools/crd_drift.py", *session.posargs)


@nox.session
def generate(session: nox.Session) -> None:
    """Writes what is generated and checked in: CRDs and the reference pages."""
    _run(session, "python", "tools/generate.py", *session.posargs)


@nox.session
def constraints(session: nox.Session) -> None:
    """Resolves constraints.txt anew (needs uv)."""
    files = [f"{package}/pyproject.toml" for package in PACKAGES]
    own = [part for package in PACKAGES for part in ("--no-emit-package", _name(package))]
    extras = ["--extra", "testing", "--extra", "webhooks"]
    options = ["--universal", "--generate-hashes", "--no-emit-index-url", "--no-header", "--python-version", "3.11"]
    session.run(
        "uv", "pip", "compile", "-q", *options, "pyproject.toml", *files, "--group", "dev", *extras, *own,
        "-o", "constraints.txt", *session.posargs, external=True,
    )  # fmt: skip


def _name(package: str) -> str:
    last = package.rsplit("/", 1)[-1]
    return last if last.startswith("capm3-") else f"capm3-{last}"
