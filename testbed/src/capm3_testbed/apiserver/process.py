"""Runs one etcd and one kube-apiserver: start, ready, restart, stop.

Apart from what is stored in them (CRDs, roles), because the same control plane serves demos, tests and benchmarks.
"""

from __future__ import annotations

import base64
import dataclasses
import http.client
import json
import secrets
import shutil
import ssl
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from capm3_api.model import Raw

from capm3_testbed import certs, net
from capm3_testbed.apiserver.binaries import Binaries
from capm3_testbed.children import Child
from capm3_testbed.kubeconfig import Access

CONTROLLER_NAMESPACE = "capm3-system"
CONTROLLER_USER = f"system:serviceaccount:{CONTROLLER_NAMESPACE}:capm3-manager"


@dataclasses.dataclass(frozen=True)
class User:
    """One line of the token file."""

    name: str
    groups: tuple[str, ...]
    token: str = dataclasses.field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def line(self, number: int) -> str:
        return f'{self.token},{self.name},{number},"{",".join(self.groups)}"\n'


class ControlPlane:
    """etcd and kube-apiserver on loopback, in one folder that `stop` removes.

    Args:
        binaries: where the programs are.
        folder: where data, keys and logs go; a temporary folder when not given.
    """

    def __init__(self, binaries: Binaries, folder: Path | None = None) -> None:
        self._binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="capm3-testbed-")) if folder is None else folder
        self._authority = certs.Authority()
        self._etcd_ports = (net.free_port(), net.free_port())
        self._port = net.free_port()
        self._etcd: Child | None = None
        self._apiserver: Child | None = None
        self.admin = User("admin", ("system:masters",))
        accounts = "system:serviceaccounts"
        self.controller = User(CONTROLLER_USER, (accounts, f"{accounts}:{CONTROLLER_NAMESPACE}"))

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    def access(self, user: User | None = None) -> Access:
        """How to reach the API server as this user; as administrator by default."""
        user = user or self.admin
        return Access(
            self.server, self._authority.certificate, user.token, user="admin" if user is self.admin else "controller"
        )

    def pids(self) -> tuple[int, ...]:
        return tuple(child.pid for child in (self._apiserver, self._etcd) if child is not None)

    def start(self, timeout: float = 90.0) -> Self:
        """Starts both and waits until the API server says that it is ready.

        Raises:
            ChildFailedError: one of them ended.
            TimeoutError: it was not ready in time.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._write_files()
            self._start_etcd()
            self._start_apiserver()
            self.wait_ready(timeout)
        except BaseException:
            self.stop()
            raise
        return self

    def restart(self, timeout: float = 90.0) -> None:
        """Ends the API server (etcd keeps the objects) and starts it again on the same port."""
        self.halt()
        self._start_apiserver()
        self.wait_ready(timeout)

    def halt(self) -> None:
        """Ends the API server only."""
        if self._apiserver is not None:
            self._apiserver.stop(timeout=5.0)

    def stored(self, prefix: str) -> list[Raw]:
        """The objects below a key of etcd as they lie there, ``/registry/GROUP/PLURAL/`` for example."""
        begin, end = prefix.encode(), prefix.encode()[:-1] + bytes([prefix.encode()[-1] + 1])
        span = {"key": base64.b64encode(begin).decode(), "range_end": base64.b64encode(end).decode()}
        answer = _post(f"127.0.0.1:{self._etcd_ports[0]}", "/v3/kv/range", span)
        return [json.loads(base64.b64decode(pair["value"])) for pair in answer.get("kvs") or []]

    def compact(self) -> None:
        """Drops etcd's history and restarts the API server: watches that resume from before get a 410."""
        client = f"127.0.0.1:{self._etcd_ports[0]}"
        status = _post(client, "/v3/maintenance/status", {})
        self.halt()
        _post(client, "/v3/kv/compaction", {"revision": status["header"]["revision"], "physical": True})
        self._start_apiserver()
        self.wait_ready(90.0)

    def stop(self) -> None:
        """Ends both and removes the folder."""
        for child in (self._apiserver, self._etcd):
            if child is not None:
                child.stop(timeout=5.0)
        self._apiserver = self._etcd = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def wait_ready(self, timeout: float) -> None:
        """Waits for ``/readyz``."""
        net.wait_until("kube-apiserver is ready", self._ready, timeout)

    def _ready(self) -> bool:
        for child in (self._etcd, self._apiserver):
            if child is not None:
                child.require_running()
        context = ssl.create_default_context(cadata=self._authority.certificate.decode())
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=5, context=context)
        try:
            connection.request("GET", "/readyz", headers={"Authorization": f"Bearer {self.admin.token}"})
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def _write_files(self) -> None:
        pki = self.folder / "pki"
        self._authority.server((*certs.LOOPBACK_NAMES, "kubernetes.default.svc")).write(pki, "apiserver")
        private, public = certs.signing_key()
        certs.Pair(public, private).write(pki, "service-account")
        tokens = self.folder / "tokens.csv"
        tokens.touch(mode=0o600)
        users = (self.admin, self.controller)
        tokens.write_text("".join(user.line(number) for number, user in enumerate(users, 1)))

    def _start_etcd(self) -> None:
        client, peer = (f"http://127.0.0.1:{port}" for port in self._etcd_ports)
        options = {
            "data-dir": str(self.folder / "etcd"),
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
            "log-level": "warn",
        }
        command = [
            str(self._binaries.etcd),
            "--unsafe-no-fsync",
            *(f"--{key}={value}" for key, value in options.items()),
        ]
        self._etcd = Child("etcd", command, self.folder / "etcd.log")

    def _start_apiserver(self) -> None:
        pki = self.folder / "pki"
        options = {
            "etcd-servers": f"http://127.0.0.1:{self._etcd_ports[0]}",
            "cert-dir": str(self.folder / "certs"),
            "tls-cert-file": str(pki / "apiserver.crt"),
            "tls-private-key-file": str(pki / "apiserver.key"),
            "secure-port": str(self._port),
            "bind-address": "127.0.0.1",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": str(pki / "service-account.crt"),
            "service-account-signing-key-file": str(pki / "service-account.key"),
            "token-auth-file": str(self.folder / "tokens.csv"),
            "authorization-mode": "RBAC",
            "service-cluster-ip-range": "10.0.0.0/24",
            "disable-admission-plugins": "ServiceAccount",
            "shutdown-delay-duration": "0s",
            "watch-cache": "true",
        }
        command = [str(self._binaries.kube_apiserver), *(f"--{key}={value}" for key, value in options.items())]
        self._apiserver = Child("kube-apiserver", command, self.folder / "kube-apiserver.log")


def _post(address: str, path: str, body: Raw) -> Raw:
    """Calls etcd's JSON gateway."""
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"etcd answered {answer.status} to {path}: {text[:200]!r}")
        result = json.loads(text)
        return result if isinstance(result, dict) else {}
    finally:
        connection.close()
