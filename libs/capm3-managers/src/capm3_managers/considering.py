"""One pass up to its plan: observe, then decide; and what to do about objects of a shape that no API server lets in.

Apart from the managers, so that none of them has to check the type of every value that it reads: schemas do that, and the
managers hold to them. What got past (a schema that was switched off, a store that was written to by hand) is looked for
only once a pass has failed over it: then nothing is done, and the plan names object, field and what is wrong with it.
A failure without such an object is a bug of ours, and raised as it is.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from capm3_api import meta
from capm3_api.external import bmo, capi, core, ipam
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_api.v1beta2.metal3cluster import Metal3Cluster
from capm3_api.v1beta2.metal3data import Metal3Data
from capm3_api.v1beta2.metal3dataclaim import Metal3DataClaim
from capm3_api.v1beta2.metal3datatemplate import Metal3DataTemplate
from capm3_api.v1beta2.metal3machine import Metal3Machine
from capm3_api.v1beta2.metal3machinetemplate import Metal3MachineTemplate

from capm3_managers.env import Env
from capm3_managers.manager import Manager, Ports
from capm3_managers.plan import Plan
from capm3_managers.ports import Reader, RemoteReader, Unreachable

_OVER_SHAPES = (AttributeError, TypeError, KeyError, ValueError, IndexError)
"""What Python raises over a value of another shape than expected."""

_TYPES: tuple[type[meta.Object], ...] = (
    *(Metal3Cluster, Metal3Machine, Metal3MachineTemplate, Metal3DataTemplate, Metal3DataClaim, Metal3Data),
    *(bmo.BareMetalHost, bmo.HardwareData),
    *(ipam.IPPool, ipam.IPClaim, ipam.IPAddress),
    *(capi.Cluster, capi.Machine, capi.MachineSet, capi.MachineDeployment, capi.KubeadmControlPlane),
    *(capi.IPAddressClaim, capi.IPAddress),
    *(core.Secret, core.Node),
)
_BY_KIND = {(meta.group_of(type_.API_VERSION), type_.KIND): type_ for type_ in _TYPES}


@dataclasses.dataclass(frozen=True)
class Unreadable:
    """The snapshot of a pass that ends because of the shape of what it read."""

    observed: Raw | None


def consider(manager: Manager, ports: Ports, key: Key, env: Env) -> tuple[Any, Plan]:
    """A pass's snapshot and plan.

    Raises:
        ApiError: something could not be read.
    """
    try:
        snapshot = manager.observe(ports, key, env)
        return snapshot, manager.decide(snapshot, env)
    except _OVER_SHAPES:
        seen: list[Raw] = []
        watching = dataclasses.replace(ports, reader=_Seen(ports.reader, seen), remote=_SeenNodes(ports.remote, seen))
        with contextlib.suppress(*_OVER_SHAPES):
            manager.observe(watching, key, env)
        wrong = list(dict.fromkeys(text for obj in seen for text in problems(obj)))
        if not wrong:
            raise
        observed = ports.reader.get(manager.kind, key)
        because = f"nothing is done until these fields are corrected: {'; '.join(wrong[:5])}"
        return Unreadable(observed), Plan(observed, requeue_after=env.settings.requeue_seconds, because=because)


def problems(obj: Raw) -> Iterator[str]:
    """Every value of an object that has another type than its schema says, by path and without the value itself."""
    kind = str(obj.get("kind") or "")
    type_ = _BY_KIND.get((meta.group_of(str(obj.get("apiVersion") or "")), kind), meta.Object)
    for problem in type_.from_raw(obj).problems:
        yield f"{kind} {meta.key_of(obj) if isinstance(obj.get('metadata'), dict) else ''}: {problem.path}: {problem.message}"


class _Seen:
    """A reader that remembers what it gave."""

    def __init__(self, reader: Reader, seen: list[Raw]) -> None:
        self._reader = reader
        self._seen = seen

    def get(self, kind: Kind, key: Key, *, live: bool = False) -> Raw | None:
        found = self._reader.get(kind, key, live=live)
        self._seen += [found] if found is not None else []
        return found

    def list(
        self,
        kind: Kind,
        namespace: str,
        *,
        labels: Mapping[str, str] | None = None,
        index: tuple[str, str] | None = None,
        live: bool = False,
    ) -> Sequence[Raw]:
        found = self._reader.list(kind, namespace, labels=labels, index=index, live=live)
        self._seen += found
        return found


class _SeenNodes:
    """The same for the Nodes of workload clusters."""

    def __init__(self, reader: RemoteReader, seen: list[Raw]) -> None:
        self._reader = reader
        self._seen = seen

    def nodes(self, cluster: Key, *, labels: Mapping[str, str] | None = None) -> Sequence[Raw] | Unreachable:
        found = self._reader.nodes(cluster, labels=labels)
        if not isinstance(found, Unreachable):
            self._seen += [{"apiVersion": "v1", "kind": "Node", **node} for node in found]
        return found
