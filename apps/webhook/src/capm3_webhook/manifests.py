"""The objects that tell an API server to call the webhooks.

Apart from the server: generated from the same table of paths, for the shipped manifests, the testbed and
``capm3-webhook --print-configurations``. Values are those of the facts 3.1 and 1.0.
"""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

import yaml
from capm3_api.model import Raw

from capm3_webhook import paths
from capm3_webhook.paths import Webhook

NAME_PREFIX = "capm3-"


@dataclasses.dataclass(frozen=True)
class Service:
    """Webhooks reached through a Service; `ca_bundle` is PEM, empty when cert-manager puts it in."""

    namespace: str
    name: str
    ca_bundle: bytes = b""
    port: int = 443

    def client_config(self, path: str) -> Raw:
        service: Raw = {"namespace": self.namespace, "name": self.name, "path": path, "port": self.port}
        return {"service": service, **_bundle(self.ca_bundle)}


@dataclasses.dataclass(frozen=True)
class Url:
    """Webhooks reached at a URL, as by an API server outside of the cluster; `base` has no path."""

    base: str
    ca_bundle: bytes = b""

    def client_config(self, path: str) -> Raw:
        return {"url": f"{self.base.rstrip('/')}{path}", **_bundle(self.ca_bundle)}


Client = Service | Url


def _bundle(pem: bytes) -> Raw:
    return {"caBundle": base64.b64encode(pem).decode()} if pem else {}


def configurations(
    client: Client, *, prefix: str = NAME_PREFIX, annotations: dict[str, str] | None = None
) -> list[Raw]:
    """The MutatingWebhookConfiguration and the ValidatingWebhookConfiguration.

    Args:
        annotations: for both, such as cert-manager's ``cert-manager.io/inject-ca-from``.
    """
    rows: tuple[tuple[str, tuple[Webhook, ...]], ...] = (("Mutating", paths.MUTATING), ("Validating", paths.VALIDATING))
    made = []
    for kind, hooks in rows:
        metadata: Raw = {"name": f"{prefix}{kind.lower()}-webhook-configuration"}
        if annotations:
            metadata["annotations"] = dict(annotations)
        made.append(
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": f"{kind}WebhookConfiguration",
                "metadata": metadata,
                "webhooks": [_webhook(hook, client) for hook in sorted(hooks, key=lambda hook: hook.name)],
            }
        )
    return made


def _webhook(hook: Webhook, client: Client) -> Raw:
    return {
        "name": hook.name,
        "admissionReviewVersions": ["v1", "v1beta1"],
        "clientConfig": client.client_config(hook.path),
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "rules": [
            {
                "apiGroups": [hook.kind.group],
                "apiVersions": [hook.kind.version],
                "operations": ["CREATE", "UPDATE"],
                "resources": [hook.kind.plural],
            }
        ],
        "sideEffects": "None",
    }


def conversion(client: Client) -> Raw:
    """The value of ``spec.conversion`` of a CRD whose objects this server converts."""
    config = client.client_config(paths.CONVERT)
    return {
        "strategy": "Webhook",
        "webhook": {"clientConfig": config, "conversionReviewVersions": ["v1", "v1beta1"]},
    }


class _Dumper(yaml.SafeDumper):
    """Writes a value that stands twice in full both times, since kubectl users read it."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def to_yaml(objects: list[Raw]) -> str:
    """A YAML stream."""
    return yaml.dump_all(objects, Dumper=_Dumper, sort_keys=False, explicit_start=True)
