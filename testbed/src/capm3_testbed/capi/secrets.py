"""The Secrets that core and the kubeadm providers make: kubeconfig, certificates and bootstrap data.

Apart from the controllers that ask for them, because type, label and owner follow one rule.
"""

from __future__ import annotations

import base64

from capm3_api import kinds, meta
from capm3_api.meta import Kind
from capm3_api.model import Raw

from capm3_testbed import certs
from capm3_testbed.capi import shapes
from capm3_testbed.capi.api import Core, name_of


def encoded(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def ensure(core: Core, cluster: str, owner: tuple[Kind, Raw], name: str, data: dict[str, str]) -> None:
    """Creates the Secret when it is not there; one made by the user is left as it is.

    Args:
        owner: becomes the controller of the Secret.
        data: base64 values.
    """
    kind, obj = owner
    namespace = meta.key_of(obj).namespace
    if core.api.get(kinds.SECRET, meta.Key(namespace, name)) is not None:
        return
    secret = kinds.SECRET.new(namespace, name, type=shapes.SECRET_TYPE, data=data)
    secret["metadata"].update(
        labels=shapes.cluster_label(cluster), ownerReferences=[shapes.owner_ref(kind, obj, controller=True)]
    )
    core.api.create(secret)


def ensure_cluster_secrets(core: Core, cluster: Raw, control_plane: Raw) -> None:
    """The CA pairs, the service account key and the kubeconfig, owned by the control plane object."""
    name = name_of(cluster)
    owner = (kinds.KUBEADM_CONTROL_PLANE, control_plane)
    namespace = meta.key_of(cluster).namespace
    for purpose in ("ca", "etcd", "proxy", "sa"):
        if core.api.get(kinds.SECRET, meta.Key(namespace, f"{name}-{purpose}")) is None:
            pair = _pair(f"{name}-{purpose}", purpose)
            data = {"tls.crt": encoded(pair.certificate), "tls.key": encoded(pair.key)}
            ensure(core, name, owner, f"{name}-{purpose}", data)
    config = core.workload.kubeconfig(meta.key_of(cluster))
    ensure(core, name, owner, f"{name}-kubeconfig", {"value": encoded(config)})


def _pair(name: str, purpose: str) -> certs.Pair:
    if purpose == "sa":
        private, public = certs.signing_key()
        return certs.Pair(public, private)
    return certs.Authority(name).pair
