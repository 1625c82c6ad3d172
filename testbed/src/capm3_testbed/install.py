"""Puts into an API server what the controllers need: CustomResourceDefinitions, namespaces, the role of the controller.

Apart from the servers, because the embedded one and kube-apiserver get the same.
"""

from __future__ import annotations

from capm3_api import condition, crdgen, kinds
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_managers.ports import ApiError

from capm3_testbed import net
from capm3_testbed.capi import crds
from capm3_testbed.kubeapi import KubeApi

NAMESPACES = ("capm3-system",)


def definitions(conversion: crdgen.Webhook | None = None) -> list[Raw]:
    """All CustomResourceDefinitions; without a conversion webhook only their storage version is served."""
    ours = crdgen.all_crds(conversion)
    return [item if conversion else _storage_only(item) for item in ours] + crds.definitions()


def _storage_only(definition: Raw) -> Raw:
    versions = [version for version in definition["spec"]["versions"] if version["storage"]]
    return {**definition, "spec": {**definition["spec"], "versions": versions}}


def install(api: KubeApi, conversion: crdgen.Webhook | None = None) -> None:
    """Installs everything and waits until every definition is served.

    Args:
        conversion: where v1beta1 objects are converted.

    Raises:
        ApiError: one was refused.
        TimeoutError: one was not served in a minute.
    """
    wanted = definitions(conversion)
    for definition in wanted:
        api.ensure(definition)
    for name in NAMESPACES:
        ensure_namespace(api, name)
    for definition in wanted:
        name = definition["metadata"]["name"]
        net.wait_until(f"{name} is served", lambda name=name: _served(api, name), 60.0)  # type: ignore[misc]


def ensure_namespace(api: KubeApi, name: str) -> None:
    try:
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    except ApiError as error:
        if not error.already_exists:
            raise


def _served(api: KubeApi, name: str) -> bool:
    found = api.get(kinds.CRD, Key("", name))
    return found is not None and condition.is_true(found, "Established")
