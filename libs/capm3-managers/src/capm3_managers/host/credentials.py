"""The BMC's credentials: which Secret, whether it can be used, and the marks that tie it to its host.

Apart from registering, because observing needs the same answers before a server can be asked.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses

from capm3_api import kinds, meta, names
from capm3_api.external.bmo import BareMetalHost
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers.plan import Patch
from capm3_managers.ports import BmcAccess

LABEL = "environment.metal3.io"
LABEL_VALUE = "baremetal"
FINALIZER = "baremetalhost.metal3.io/secret"


@dataclasses.dataclass(frozen=True)
class Problem:
    """Why a host's BMC can't be reached at all.

    Args:
        message: in the words of the Baremetal Operator, then what mends it.
        seconds: when to look again; ``None``: a change of the host or the Secret brings the host back.
    """

    message: str
    seconds: float | None = None


def is_managed(host: BareMetalHost) -> bool:
    """Whether the host names a BMC; one half of it is enough to be told about the other."""
    return bool(host.spec.bmc.address or host.spec.bmc.credentials_name)


def secret_key(host: BareMetalHost) -> Key | None:
    """The Secret; always in the host's namespace."""
    name = host.spec.bmc.credentials_name
    return Key(host.metadata.namespace, name) if name else None


def access(host: BareMetalHost, secret: Raw | None) -> BmcAccess | Problem:
    """How to reach the BMC, or why not."""
    key, bmc = secret_key(host), host.spec.bmc
    if key is None:
        return Problem("No BMC CredentialsName defined; set spec.bmc.credentialsName to the name of a Secret")
    if secret is None:
        return Problem(
            f"BMC CredentialsName secret doesn't exist The BMC secret {key} does not exist; create it with the keys"
            " username and password",
            seconds=10.0,
        )
    if not bmc.address:
        return Problem("Empty BMC address; set spec.bmc.address")
    username, password = _text(secret, "username"), _text(secret, "password")
    missing = [name for name, value in (("username", username), ("password", password)) if not value]
    if missing:
        return Problem(
            f"Validation error with BMC credentials: the Secret {key} has no usable {' and no '.join(missing)}"
        )
    return BmcAccess(
        address=bmc.address,
        username=username,
        password=password,
        verify_certificate=not bmc.disable_certificate_verification,
        boot_mac=host.spec.boot_mac_address,
    )


def reference(secret: Raw) -> Raw:
    """As in ``status.goodCredentials`` and ``status.triedCredentials``."""
    key = meta.key_of(secret)
    return {
        "credentials": {"name": key.name, "namespace": key.namespace},
        "credentialsVersion": meta.version_of(secret),
    }


def is_tried(host: BareMetalHost, secret: Raw | None) -> bool:
    """Whether exactly this version of the Secret was sent to the BMC before."""
    tried = host.status.tried_credentials
    return secret is not None and tried.to_raw() == reference(secret)


def claim(host: BareMetalHost, secret: Raw) -> Patch | None:
    """The patch that ties the Secret to the host; ``None`` when it is tied.

    The label lets caches find it, the owner reference moves and deletes it with the host, the finalizer keeps it until
    the host is powered off.
    """
    metadata = secret.get("metadata") or {}
    if metadata.get("deletionTimestamp"):
        return None
    change: Raw = {}
    if (metadata.get("labels") or {}).get(LABEL) != LABEL_VALUE:
        change["labels"] = {LABEL: LABEL_VALUE}
    finalizers = metadata.get("finalizers") or []
    if FINALIZER not in finalizers:
        change["finalizers"] = [*finalizers, FINALIZER]
    owners = metadata.get("ownerReferences") or []
    if not any(owner.get("uid") == host.metadata.uid for owner in owners):
        change["ownerReferences"] = [*owners, _owner(host)]
    return _patch(secret, change) if change else None


def release(secret: Raw) -> Patch | None:
    """The patch that lets the Secret go; ``None`` when nothing holds it."""
    finalizers = (secret.get("metadata") or {}).get("finalizers") or []
    if FINALIZER not in finalizers:
        return None
    return _patch(secret, {"finalizers": [one for one in finalizers if one != FINALIZER] or None})


def _owner(host: BareMetalHost) -> Raw:
    kind = kinds.BARE_METAL_HOST
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": host.metadata.name,
        "uid": host.metadata.uid,
    }


def _patch(secret: Raw, metadata: Raw) -> Patch:
    return Patch(
        kinds.SECRET,
        meta.key_of(secret),
        {"metadata": metadata},
        resource_version=meta.version_of(secret),
        missing_ok=True,
    )


def _text(secret: Raw, name: str) -> str:
    value = (secret.get("data") or {}).get(name)
    if not isinstance(value, str):
        return ""
    try:
        return base64.b64decode(value, validate=True).decode().strip()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def is_paused(annotations: dict[str, str]) -> bool:
    """Whether somebody else handles the host now: paused, or just moved to another cluster by clusterctl."""
    return names.HOST_PAUSED_ANNOTATION in annotations or DELETE_FOR_MOVE in annotations


DELETE_FOR_MOVE = "clusterctl.cluster.x-k8s.io/delete-for-move"
