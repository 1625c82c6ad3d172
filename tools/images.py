"""Builds the images of both apps with buildah and tries what is in them: no engine, no daemon, no registry of images.

Apart from the Containerfiles, which say what is in an image; here it is shown to work as the shipped manifests run it:
as user 65532, started by its entrypoint, writing nowhere but to /tmp, answering over the loopback. Without ``--base``, a
base is made of Debian's own packages.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import functools
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from capm3_api import crdgen
from capm3_testbed.capi import crds as capi_crds
from capm3_testbed.embedded.server import EmbeddedServer
from capm3_webhook import certs

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "capm3-images"
APPS = ("webhook", "controller")
DEBIAN, PACKAGES = "bookworm", "python3,python3-venv,ca-certificates"
BASE = f"localhost/capm3-base:{DEBIAN}"
USER = 65532
READY_SECONDS = 120.0

REVIEW = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "ConversionReview",
    "request": {
        "uid": "1",
        "desiredAPIVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "objects": [
            {
                "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
                "kind": "Metal3Cluster",
                "metadata": {"name": "c", "namespace": "n"},
                "spec": {"controlPlaneEndpoint": {"host": "192.0.2.1", "port": 6443}, "noCloudProvider": True},
            }
        ],
    },
}


class Failure(Exception):
    """Something that an image must do and does not; the text says what."""


def missing(base: str) -> list[str]:
    """What this machine lacks, each with how to get it."""
    found = []
    if not sys.platform.startswith("linux"):
        found.append("Linux: images are built of Linux programs")
    elif os.geteuid() != 0:
        found.append("root: files in images belong to other users; run it with sudo, or in a virtual machine")
    for program in ("buildah", *([] if base else ["mmdebstrap"])):
        if not shutil.which(program):
            found.append(f"{program}: apt-get install -y {program}, or the like")
    return found


class Buildah:
    """buildah with a store of its own, so that nothing of the machine's images is touched."""

    def __init__(self, cache: Path) -> None:
        self._base = ["buildah", "--root", str(cache / "store"), "--runroot", str(cache / "run")]

    def command(self, *args: str) -> list[str]:
        return [*self._base, *args]

    def shown(self, *args: str) -> None:
        """Runs it with its output on ours."""
        subprocess.run(self.command(*args), check=True, cwd=ROOT)

    def answer(self, *args: str) -> str:
        done = subprocess.run(self.command(*args), check=False, capture_output=True, text=True, cwd=ROOT)
        if done.returncode:
            raise Failure(f"buildah {' '.join(args)}: exit code {done.returncode}: {done.stderr.strip()[-2000:]}")
        return done.stdout.strip()

    def has(self, image: str) -> bool:
        return bool(self.answer("images", "-q", "--filter", f"reference={image}"))

    @contextlib.contextmanager
    def container(self, image: str, *, pull: bool = False) -> Iterator[str]:
        name = self.answer("from", "--pull" if pull else "--pull-never", image)
        try:
            yield name
        finally:
            self.answer("rm", name)


def make_base(buildah: Buildah) -> None:
    """The base of Debian packages, made once."""
    if buildah.has(BASE):
        return
    print(f"making {BASE} of Debian packages (a few minutes, once)", flush=True)
    with tempfile.TemporaryDirectory(prefix="capm3-images-") as folder, buildah.container("scratch") as container:
        archive = Path(folder, "base.tar")
        subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", DEBIAN, str(archive)], check=True
        )
        buildah.answer("add", container, str(archive))
        buildah.answer("config", "--cmd", "python3", container)
        buildah.answer("commit", container, BASE)


def build(buildah: Buildah, app: str, base: str) -> str:
    """Builds one image; returns its name."""
    image = f"localhost/capm3-{app}:0.1.0"
    print(f"building {image}", flush=True)
    through: list[str] = []
    for name in ("PIP_INDEX_URL", "PIP_CERT"):
        if os.environ.get(name):
            through += ["--build-arg", name]
    if os.environ.get("PIP_CERT"):
        folder = Path(os.environ["PIP_CERT"]).parent
        through += ["--volume", f"{folder}:{folder}:ro"]
    buildah.shown(
        "build", "--isolation", "chroot", "--layers", *(() if base else ("--pull-never",)),
        "--build-arg", f"BASE={base or BASE}", *through, "-f", f"apps/{app}/Containerfile", "-t", image, ".",
    )  # fmt: skip
    return image


class Inside:
    """Programs in a container made of an image."""

    def __init__(self, buildah: Buildah, container: str) -> None:
        self._buildah, self._container = buildah, container
        self.config: dict[str, Any] = json.loads(buildah.answer("inspect", container))["OCIv1"]["config"]

    def answer(self, *command: str) -> str:
        return self._buildah.answer("run", "--isolation", "chroot", self._container, "--", *command)

    @contextlib.contextmanager
    def started(self, folder: Path, *args: str) -> Iterator[subprocess.Popen[bytes]]:
        """The entrypoint with these arguments, `folder` mounted at /mnt; ends with SIGTERM, which must end it well."""
        run = ["run", "--isolation", "chroot", "-v", f"{folder}:/mnt:ro", self._container, "--"]
        command = self._buildah.command(*run, *self.config["Entrypoint"], *args)
        log = (folder / "log").open("wb")
        with log, subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True) as process:
            try:
                yield process
            except BaseException:
                print((folder / "log").read_text()[-4000:], flush=True)
                raise
            finally:
                if process.poll() is None:
                    os.kill(_program(process.pid), signal.SIGTERM)
            if process.wait(60) != 0:
                print((folder / "log").read_text()[-4000:], flush=True)
                raise Failure(f"ended with {process.returncode} after SIGTERM")

    def written(self) -> list[str]:
        """Files below / that the program's user owns, /mnt aside."""
        root = Path(self._buildah.answer("mount", self._container))
        try:
            return sorted(f"/{path.relative_to(root)}" for path in root.rglob("*") if path.lstat().st_uid == USER)
        finally:
            self._buildah.answer("umount", self._container)


def _program(pid: int) -> int:
    """The last child of children: buildah itself would not hand the signal on, but kill what it runs."""
    while True:
        threads = Path(f"/proc/{pid}/task").glob("*/children")
        children = [int(child) for thread in threads for child in thread.read_text().split()]
        if not children:
            return pid
        pid = children[0]


def check_program(inside: Inside, app: str) -> None:
    """Help text, user, and that pip and what builds packages stayed outside."""
    entry = inside.config["Entrypoint"]
    if not inside.answer(*entry, "--help").lower().startswith("usage"):
        raise Failure("--help prints no usage")
    ids = inside.answer("python3", "-c", "import os; print(os.getuid(), os.getgid())")
    if ids != f"{USER} {USER}":
        raise Failure(f"runs as {ids}, not as {USER} {USER}")
    look = "import importlib.util as u, sys; print(*[n for n in sys.argv[1:] if u.find_spec(n)])"
    unwanted = ["hatchling", "pytest", "capm3_testbed", *(["kubernetes", "sushy"] if app == "webhook" else [])]
    there = inside.answer("python3", "-c", look, *unwanted)
    if there:
        raise Failure(f"holds {there}, which it does not need")
    print(f"  {' '.join(entry)} --help prints its flags; user {ids}; holds no {', '.join(unwanted)}", flush=True)


def check_webhook(inside: Inside) -> None:
    """The webhooks alone: healthy, ready, converting, nothing written."""
    with _folder() as folder:
        ca, (port, health) = _certificates(folder), _free_ports(2)
        args = ["--webhook-cert-dir=/mnt", f"--webhook-port={port}", f"--health-addr=127.0.0.1:{health}"]
        with inside.started(folder, *args) as process:
            _answers(process, health)
            _converts(port, ca)
    if inside.written():
        raise Failure(f"wrote {', '.join(inside.written())} although the manifests give it no writable folder")
    print("  wrote no file", flush=True)


def check_controller(inside: Inside) -> None:
    """Controllers and webhooks in one process, leading on an API server of the testbed."""
    definitions = [*crdgen.all_crds(), *capi_crds.definitions()]
    with _folder() as folder, EmbeddedServer(crds=definitions) as api:
        os.chown(api.write_kubeconfig(folder / "kubeconfig"), USER, USER)
        ca, (port, health, metrics) = _certificates(folder), _free_ports(3)
        args = [
            "--leader-elect", "--leader-elect-namespace=default", "--kubeconfig=/mnt/kubeconfig",
            "--webhooks", "--webhook-cert-dir=/mnt", f"--webhook-port={port}",
            f"--health-addr=127.0.0.1:{health}", f"--diagnostics-address=127.0.0.1:{metrics}",
        ]  # fmt: skip
        with inside.started(folder, *args) as process:
            _answers(process, health)
            _converts(port, ca)
            _until(process, "no lease was taken", lambda: bool(api.requests.get(("create", "leases"))))
    elsewhere = [name for name in inside.written() if not name.startswith("/tmp/")]
    if elsewhere:
        raise Failure(f"wrote {', '.join(elsewhere)}, outside of /tmp")
    print("  leads on an API server; wrote nothing outside of /tmp", flush=True)


CHECKS: dict[str, Callable[[Inside], None]] = {"webhook": check_webhook, "controller": check_controller}


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="capm3-images-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def _certificates(folder: Path) -> ssl.SSLContext:
    now = datetime.datetime.now(datetime.UTC)
    authority = certs.authority(now)
    certs.write_pair(authority, folder, ["127.0.0.1", "localhost"], now)
    for name in ("tls.crt", "tls.key"):
        os.chown(folder / name, USER, USER)
    return ssl.create_default_context(cadata=authority.pem.decode())


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        taken = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [int(one.getsockname()[1]) for one in taken]


def _answers(process: subprocess.Popen[bytes], port: int) -> None:
    for path in ("/healthz", "/readyz"):
        _until(process, f"{path} did not answer 200", functools.partial(_get, f"http://127.0.0.1:{port}{path}"))
        print(f"  {path} answers 200", flush=True)


def _get(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _until(process: subprocess.Popen[bytes], otherwise: str, condition: Callable[[], bool]) -> None:
    end = time.monotonic() + READY_SECONDS
    while not condition():
        if process.poll() is not None:
            raise Failure(f"ended with {process.returncode}; {otherwise}")
        if time.monotonic() > end:
            raise Failure(f"{otherwise} within {READY_SECONDS:g} s")
        time.sleep(0.2)


def _converts(port: int, context: ssl.SSLContext) -> None:
    request = urllib.request.Request(
        f"https://localhost:{port}/convert", json.dumps(REVIEW).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30, context=context) as answer:
        response = json.loads(answer.read())["response"]
    made = response.get("convertedObjects") or [{}]
    if made[0].get("apiVersion") != "infrastructure.cluster.x-k8s.io/v1beta2":
        raise Failure(f"/convert answered {response}")
    print("  /convert makes v1beta2 of a v1beta1 object, over TLS", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Returns 1 when an image fails a check, 2 when this machine can't build images."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("apps", nargs="*", choices=[*APPS, []], help="which images (default: both)")
    parser.add_argument("--base", default="", help="base image to pull; without it one is made of Debian packages")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of images and layers (default %(default)s)")
    given = parser.parse_args(argv)
    lacking = missing(given.base)
    if lacking:
        print("\n".join(["this machine can't build images; it lacks", *(f"  {one}" for one in lacking)]))
        return 2
    given.cache.mkdir(parents=True, exist_ok=True)
    buildah = Buildah(given.cache)
    try:
        if not given.base:
            make_base(buildah)
        for app in given.apps or APPS:
            image = build(buildah, app, given.base)
            with buildah.container(image) as container:
                inside = Inside(buildah, container)
                check_program(inside, app)
                CHECKS[app](inside)
    except (Failure, subprocess.CalledProcessError) as problem:
        print(f"failed: {problem}")
        return 1
    print(f"they stand in {given.cache}; `buildah --root {given.cache / 'store'} push IMAGE DESTINATION` hands them on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
