"""What the stand-ins ask of an API server, and the helpers that all of them write through.

Apart from the controllers, so that they run unchanged over HTTP and over `capm3_managers.testing.world.World`.
"""

from __future__ import annotations

import dataclasses
import datetime
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers import diff
from capm3_managers.ports import ApiError

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


class Api(Protocol):
    """Reads are live; every failure raises `ApiError`."""

    def get(self, kind: Kind, key: Key) -> Raw | None: ...

    def list(self, kind: Kind, namespace: str, *, labels: Mapping[str, str] | None = None) -> Sequence[Raw]: ...

    def create(self, obj: Raw) -> Raw: ...

    def patch(self, kind: Kind, key: Key, merge_patch: Raw, *, subresource: str = "") -> Raw: ...

    def delete(self, kind: Kind, key: Key, *, uid: str = "") -> None: ...


class Workload(Protocol):
    """The workload clusters, one for each Cluster."""

    def kubeconfig(self, cluster: Key) -> str:
        """The kubeconfig document of this cluster's API, which is started when it does not run."""
        ...

    def nodes(self, cluster: Key) -> Sequence[Raw]:
        """The Nodes of this cluster; none when its API does not run."""
        ...

    def patch_node(self, cluster: Key, name: str, patch: Raw) -> None:
        """A merge patch of one Node."""
        ...

    def delete_node(self, cluster: Key, name: str) -> None:
        """Deletes a Node; one that is gone is no error."""
        ...

    def forget(self, cluster: Key) -> None:
        """Ends the API of a cluster that is gone."""
        ...


@dataclasses.dataclass(frozen=True)
class Core:
    """What one pass of the stand-in works with.

    Args:
        clock: the time, aware.
        rng: for name suffixes.
    """

    api: Api
    workload: Workload
    clock: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC)
    rng: random.Random = dataclasses.field(default_factory=random.SystemRandom)

    @property
    def now(self) -> str:
        return self.clock().strftime("%Y-%m-%dT%H:%M:%SZ")

    def suffix(self) -> str:
        """Five characters as Kubernetes appends them to names."""
        return "".join(self.rng.choices(_ALPHABET, k=5))

    def save(self, kind: Kind, observed: Raw, wanted: Raw) -> Raw:
        """Patches the difference, body first, then status; nothing when there is none. Gives the object as it is now."""
        current = observed
        body = diff.merge_patch(_body(observed), _body(wanted))
        if body:
            current = self.api.patch(kind, meta.key_of(observed), _locked(body, current))
        status = diff.merge_patch(observed.get("status") or {}, wanted.get("status") or {})
        if status:
            patch = _locked({"status": status}, current)
            current = self.api.patch(kind, meta.key_of(observed), patch, subresource="status")
        return current

    def delete(self, kind: Kind, obj: Raw) -> None:
        """Asks for deletion once; an object that is being deleted or is gone is left alone."""
        if deleting(obj):
            return
        try:
            self.api.delete(kind, meta.key_of(obj), uid=meta.uid_of(obj))
        except ApiError as error:
            if not error.is_not_found and not error.is_conflict:
                raise


def _body(obj: Raw) -> Raw:
    return {key: value for key, value in obj.items() if key != "status"}


def _locked(patch: Raw, current: Raw) -> Raw:
    """A patch with a list in it names the version it was made from."""
    if not diff.has_list(patch):
        return patch
    return diff_with_version(patch, meta.version_of(current))


def diff_with_version(patch: Raw, version: str) -> Raw:
    """The patch with a precondition on ``resourceVersion``."""
    return {**patch, "metadata": {**(patch.get("metadata") or {}), "resourceVersion": version}}


def deleting(obj: Raw) -> bool:
    return bool((obj.get("metadata") or {}).get("deletionTimestamp"))


def name_of(obj: Raw) -> str:
    return meta.key_of(obj).name


def at(obj: Raw, *path: str) -> object:
    """The value at a path, ``None`` when any part is missing."""
    here: object = obj
    for part in path:
        here = here.get(part) if isinstance(here, dict) else None
    return here


def mapping(obj: Raw, *path: str) -> Raw:
    """The object at a path, ``{}`` when there is none."""
    value = at(obj, *path)
    return value if isinstance(value, dict) else {}


def text(obj: Raw, *path: str) -> str:
    value = at(obj, *path)
    return value if isinstance(value, str) else ""


def number(obj: Raw, default: int, *path: str) -> int:
    value = at(obj, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def put(obj: Raw, value: object, *path: str) -> Raw:
    """A copy with the value at the path set; ``None`` takes it away."""
    head, *rest = path
    inner = obj.get(head)
    if rest:
        return {**obj, head: put(inner if isinstance(inner, dict) else {}, value, *rest)}
    if value is None:
        return {key: old for key, old in obj.items() if key != head}
    return {**obj, head: value}


_KNOWN = (
    *kinds.OURS,
    kinds.KUBEADM_CONTROL_PLANE,
    kinds.KUBEADM_CONFIG,
    kinds.KUBEADM_CONFIG_TEMPLATE,
)
_BY_GROUP_KIND = {(kind.group, kind.kind): kind for kind in _KNOWN}


def kind_of(ref: Raw) -> Kind:
    """The kind that a contract reference (``apiGroup``, ``kind``, ``name``) names.

    Core finds it by the English plural of the kind's name; a provider that this table does not know is treated so too.
    """
    group, name = text(ref, "apiGroup"), text(ref, "kind")
    known = _BY_GROUP_KIND.get((group, name))
    return known or Kind(group, "v1beta2", name, f"{name.lower()}s")
