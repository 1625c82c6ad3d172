"""One kube-apiserver with the webhook program beside it, in the steps in which people install them.

Apart from the demo's stack, which installs storage versions only and runs controllers: here the definitions come in
older forms too, and the webhooks may be away.
"""

from __future__ import annotations

import base64
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from capm3_api import condition, crdgen, kinds, meta
from capm3_api.model import Raw
from capm3_webhook import manifests

from capm3_testbed import certs, install, net
from capm3_testbed.apiserver.binaries import Binaries
from capm3_testbed.apiserver.process import ControlPlane
from capm3_testbed.capi import crds as capi_crds
from capm3_testbed.children import Child
from capm3_testbed.dropin import definitions
from capm3_testbed.dropin.calls import Calls
from capm3_testbed.dropin.kubectl import Kubectl
from capm3_testbed.kubeapi import KubeApi

_FOREIGN_VERSIONS = ("v1beta1", "v1beta2")


class Site:
    """Started by `start`; everything it made goes with `stop`.

    Args:
        folder: for keys, logs and kubectl's files.
    """

    def __init__(self, binaries: Binaries, folder: Path) -> None:
        self.folder = folder
        self.plane = ControlPlane(binaries, folder / "control-plane")
        self._authority = certs.Authority("webhooks")
        self._port, self._health = net.free_port(), net.free_port()
        self._webhooks: Child | None = None
        self._numbers = itertools.count(1)

    def start(self) -> Self:
        self.plane.start()
        access = self.plane.access()
        self.api, self.calls = KubeApi(access), Calls(access)
        self.kubectl = Kubectl(access, self.folder / "kubectl")
        return self

    def stop(self) -> None:
        self.stop_webhooks()
        if hasattr(self, "api"):
            self.api.close()
            self.calls.close()
        self.plane.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def conversion(self) -> crdgen.Webhook:
        """Where the API server reaches ``/convert`` of this site."""
        bundle = base64.b64encode(self._authority.certificate).decode()
        return crdgen.Webhook(url=f"https://127.0.0.1:{self._port}/convert", ca_bundle=bundle)

    def start_webhooks(self) -> None:
        """Runs ``capm3-webhook`` and waits until it says that it is ready."""
        pki = self.folder / "webhook-pki"
        self._authority.server().write(pki, "tls")
        flags = [f"--webhook-port={self._port}", f"--health-addr=127.0.0.1:{self._health}", f"--webhook-cert-dir={pki}"]
        command = [sys.executable, "-m", "capm3_webhook", *flags]
        self._webhooks = Child("capm3-webhook", command, self.folder / "webhook.log")
        net.wait_until("the webhooks are ready", self._webhooks_ready, 60.0)

    def _webhooks_ready(self) -> bool:
        if self._webhooks is not None:
            self._webhooks.require_running()
        return net.answers_ok(self._health, "/readyz")

    def stop_webhooks(self) -> None:
        if self._webhooks is not None:
            self._webhooks.stop()
            self._webhooks = None

    def install(self) -> None:
        """Our definitions and webhook configurations, and the foreign kinds in both versions."""
        self.put_definitions(crdgen.all_crds(self.conversion) + self.foreign())
        self.configure_webhooks()

    def configure_webhooks(self) -> None:
        url = manifests.Url(f"https://127.0.0.1:{self._port}", self._authority.certificate)
        for configuration in manifests.configurations(url):
            self.api.ensure(configuration)
        net.wait_until("the API server asks the webhooks", self._asks_webhooks, 30.0)

    def _asks_webhooks(self) -> bool:
        """Nothing says when new configurations are in force; an object that only a webhook refuses shows it."""
        empty = {**kinds.METAL3_MACHINE.new("default", "probe"), "spec": {}}
        answer = self.calls.create(empty, dryRun="All")
        return not answer.accepted and "admission webhook" in answer.message

    def foreign(self, versions: Sequence[str] = _FOREIGN_VERSIONS) -> list[Raw]:
        """The kinds of Cluster API, in those versions."""
        return [definitions.serving(definition, versions) for definition in capi_crds.definitions()]

    def put_definitions(self, wanted: Sequence[Raw]) -> None:
        """Creates or replaces the definitions and waits until they are served as they say."""
        for definition in wanted:
            self._replace(definition)
        for definition in wanted:
            name = definition["metadata"]["name"]
            net.wait_until(f"{name} is served", lambda wanted=definition: self._served(wanted), 60.0)  # type: ignore[misc]

    def _replace(self, definition: Raw) -> None:
        found = self.calls.read(definition)
        if not found.accepted:
            answer = self.calls.create(definition)
        else:
            metadata = {**definition["metadata"], "resourceVersion": meta.version_of(found.body)}
            answer = self.calls.put({**definition, "metadata": metadata})
        if not answer.accepted:
            raise AssertionError(f"{definition['metadata']['name']}: {answer.message}")

    def _served(self, definition: Raw) -> bool:
        """Established, and each served version answers (discovery follows a change after a moment)."""
        found = self.api.get(kinds.CRD, meta.key_of(definition))
        if found is None or not condition.is_true(found, "Established"):
            return False
        spec = definition["spec"]
        served = [version["name"] for version in spec["versions"] if version["served"]]
        answers = [self.calls.send("GET", f"/apis/{spec['group']}/{version}") for version in served]
        return all(
            any(resource["name"] == spec["names"]["plural"] for resource in answer.body.get("resources") or [])
            for answer in answers
        )

    def namespace(self, name: str = "") -> str:
        """A namespace, new unless it is named."""
        name = name or f"test-{next(self._numbers)}"
        install.ensure_namespace(self.api, name)
        return name
