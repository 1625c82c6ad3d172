"""Webhooks of the testbed's controller: certificate, flags, and the objects that tell the API server of them.

Apart from the stack, because it holds in one place what has to agree: the port, the authority, the URLs.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from capm3_api.crdgen import Webhook
from capm3_api.model import Raw
from capm3_webhook import manifests

from capm3_testbed import certs, net


class Webhooks:
    """Admission and conversion served by the controller's own process on a port of loopback.

    Args:
        folder: where ``tls.crt`` and ``tls.key`` are written.
    """

    def __init__(self, folder: Path) -> None:
        self._authority = certs.Authority("capm3-testbed-webhooks")
        self._port = net.free_port()
        self._folder = folder
        self._authority.server().write(folder, "tls")

    @property
    def base(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    @property
    def flags(self) -> Sequence[str]:
        """For the controller."""
        return ("--webhooks", f"--webhook-port={self._port}", f"--webhook-cert-dir={self._folder}")

    @property
    def conversion(self) -> Webhook:
        """For the CustomResourceDefinitions."""
        bundle = base64.b64encode(self._authority.certificate).decode()
        return Webhook(url=f"{self.base}/convert", ca_bundle=bundle)

    def configurations(self) -> list[Raw]:
        """For admission; to be created once the server answers."""
        return manifests.configurations(manifests.Url(self.base, self._authority.certificate))
