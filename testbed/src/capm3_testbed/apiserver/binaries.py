"""Finds etcd and kube-apiserver: ready ones first, a build from Go modules last.

Apart from the build, because most runs only look: a folder named by the user, then the cache of earlier builds.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from capm3_testbed.apiserver import build
from capm3_testbed.apiserver.build import ETCD, KUBE_APISERVER, MissingToolError

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Binaries:
    """Where the two programs are.

    Args:
        origin: for people, "cache", "built" or the variable that named the folder.
    """

    etcd: Path
    kube_apiserver: Path
    origin: str


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where builds are kept, by version, outside any repository."""
    base = environ.get("XDG_CACHE_HOME") or str(Path(environ.get("HOME") or Path.home()) / ".cache")
    return Path(base) / "capm3-testbed" / f"kubernetes-{KUBE_APISERVER.version}-etcd-{ETCD.version}"


def look(environ: Mapping[str, str] | None = None) -> Binaries | None:
    """The programs, if they are there already.

    Raises:
        MissingToolError: `ASSETS_VARIABLE` names a folder that lacks one of them.
    """
    environ = os.environ if environ is None else environ
    assets = environ.get(ASSETS_VARIABLE)
    if assets:
        found = _in(Path(assets), ASSETS_VARIABLE)
        if found is None:
            raise MissingToolError(f"{ASSETS_VARIABLE}={assets} holds no executable etcd and kube-apiserver")
        return found
    return _in(cache_folder(environ), "cache")


def find(say: Say, environ: Mapping[str, str] | None = None) -> Binaries:
    """The programs; builds them when they are not there, telling how far it is.

    Raises:
        MissingToolError: they are not there and can't be built; the message says what to install.
    """
    environ = os.environ if environ is None else environ
    found = look(environ)
    if found is not None:
        return found
    folder = cache_folder(environ)
    for program in (ETCD, KUBE_APISERVER):
        if not _runs(folder / program.name):
            build.build(program, folder, say)
    built = _in(folder, "built")
    if built is None:
        raise MissingToolError(f"the build left no etcd and kube-apiserver in {folder}")
    return built


def _in(folder: Path, origin: str) -> Binaries | None:
    etcd, apiserver = folder / ETCD.name, folder / KUBE_APISERVER.name
    return Binaries(etcd, apiserver, origin) if _runs(etcd) and _runs(apiserver) else None


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
