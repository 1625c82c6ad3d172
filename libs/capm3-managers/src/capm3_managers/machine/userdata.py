"""Which Secret holds the user data of a machine.

Apart from `hostspec`, which writes it to the host: here is only the order of the sources. Behaviour facts on CAPM3 5.2.7.
"""

from __future__ import annotations

from capm3_api.external.core import SecretReference
from capm3_api.model import Raw

from capm3_managers.machine.snapshot import Snapshot


def foreign(reference: SecretReference | None, namespace: str, field: str) -> str:
    """What is wrong with a Secret reference that leaves the machine's namespace; ``""`` when nothing is (report B10)."""
    if reference is None or reference.namespace in ("", namespace):
        return ""
    return (
        f"cross-namespace secret reference is not allowed for {field} "
        f'(namespace "{reference.namespace}" does not match "{namespace}")'
    )


def resolve(snapshot: Snapshot) -> Raw | None:
    """``status.userData``: kept once it is set; the Machine's bootstrap data goes before ``spec.userData``."""
    if snapshot.view.status.user_data is not None:
        return snapshot.view.status.user_data.to_raw()
    namespace = snapshot.key.namespace
    bootstrap = snapshot.owner.spec.bootstrap
    if bootstrap.data_secret_name:
        return {"name": bootstrap.data_secret_name, "namespace": namespace}
    if bootstrap.config_ref is not None and bootstrap.config_ref.name:
        return {"name": bootstrap.config_ref.name, "namespace": namespace}
    own = snapshot.view.spec.user_data
    return own.to_raw() if own is not None else None
