"""Kubeconfig documents as data: one cluster, one user with a token, one context.

Apart from the servers that hand them out, because the management API, kube-apiserver and workload clusters do it alike.
"""

from __future__ import annotations

import base64
import dataclasses
import os
from pathlib import Path

import yaml
from capm3_api.model import Raw


@dataclasses.dataclass(frozen=True)
class Access:
    """How to reach an API server.

    Args:
        server: ``https://127.0.0.1:1234``.
        ca: PEM of the authority that signed its certificate; empty for plain HTTP.
        token: bearer token.
    """

    server: str
    ca: bytes
    token: str = dataclasses.field(repr=False)
    name: str = "capm3-testbed"
    user: str = "admin"

    def document(self) -> Raw:
        """The kubeconfig as data."""
        cluster: Raw = {"server": self.server}
        if self.ca:
            cluster["certificate-authority-data"] = base64.b64encode(self.ca).decode()
        context = f"{self.user}@{self.name}"
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": self.name, "cluster": cluster}],
            "users": [{"name": self.user, "user": {"token": self.token}}],
            "contexts": [{"name": context, "context": {"cluster": self.name, "user": self.user}}],
            "current-context": context,
        }

    def text(self) -> str:
        return yaml.safe_dump(self.document(), sort_keys=False)

    def write(self, path: Path) -> Path:
        """Writes the kubeconfig so that only the owner can read it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(self.text())
        return path
