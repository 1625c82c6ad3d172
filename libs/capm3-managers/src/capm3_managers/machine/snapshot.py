"""Everything that one pass over a Metal3Machine looks at.

Apart from `observe`, so that the steps and their tests need to know the values only, not where they come from.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, Self

from capm3_api import condition, meta, names
from capm3_api.external.capi import Machine
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_api.v1beta2.metal3machine import Metal3Machine

from capm3_managers import hosts, outcomes
from capm3_managers.machine.nodereuse import Reuse
from capm3_managers.machine.selection import Choice
from capm3_managers.ports import Unreachable


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """Args:
    observed: the Metal3Machine, ``None`` when it is gone.
    machine: its owner Machine, ``None`` when there is no reference or no such object.
    cluster: the Cluster that the Machine's label names.
    metal3cluster: the Metal3Cluster that the Cluster refers to.
    host: the host that the annotation names; ``None`` when there is none. Live whenever it may be written to.
    mine: other hosts whose consumer is this machine, live; looked for before a choice and while deleting.
    choice: what to claim; ``None`` when no choice was due.
    secret: the credentials Secret of the host that is being claimed or released; read only then.
    claim, data: the Metal3DataClaim and the Metal3Data of this machine.
    nodes: the Nodes of the workload cluster that carry our host's label, all of them if none does; ``None`` when they
        were not needed.
    reuse: read only while deleting.
    """

    observed: Raw | None
    machine: Raw | None = None
    cluster: Raw | None = None
    metal3cluster: Raw | None = None
    host: Raw | None = None
    mine: tuple[Raw, ...] = ()
    choice: Choice | None = None
    secret: Raw | None = None
    claim: Raw | None = None
    data: Raw | None = None
    nodes: Sequence[Raw] | Unreachable | None = None
    reuse: Reuse = Reuse()

    def but(self, **changes: Any) -> Self:
        """The snapshot with other values; what was parsed of those that stay is kept."""
        made = dataclasses.replace(self, **changes)
        for parsed, source in (("view", "observed"), ("owner", "machine")):
            if parsed in self.__dict__ and source not in changes:
                made.__dict__[parsed] = self.__dict__[parsed]
        return made

    @functools.cached_property
    def view(self) -> Metal3Machine:
        """The typed Metal3Machine."""
        return Metal3Machine.from_raw(self.observed or {})

    @functools.cached_property
    def owner(self) -> Machine:
        """The typed owner Machine; an empty one when it is gone."""
        return Machine.from_raw(self.machine or {})

    @property
    def key(self) -> Key:
        return meta.key_of(self.observed or {})

    @property
    def deleting(self) -> bool:
        return bool(self.view.metadata.deletion_timestamp)

    @property
    def annotation(self) -> str:
        """The host annotation; ``""`` when it is not set."""
        return str((self.view.metadata.annotations or {}).get(names.HOST_ANNOTATION) or "")

    @property
    def host_key(self) -> Key | None:
        """Where the annotation's host is: always in the machine's own namespace (report B10); ``None``: malformed."""
        parts = self.annotation.split("/")
        return Key(self.key.namespace, parts[-1]) if len(parts) <= 2 and parts[-1] else None

    @property
    def holds_host(self) -> bool:
        """Whether the annotation's host agrees that it is ours."""
        return self.host is not None and hosts.is_consumed_by(self.host, self.observed or {})

    @property
    def was_associated(self) -> bool:
        """Whether this machine had its host once: then another is never chosen for it."""
        found = condition.get(self.observed or {}, outcomes.ASSOCIATED) or {}
        told = found.get("status") == "True" or found.get("reason") in outcomes.AFTER_THE_PICK
        return bool(self.view.spec.provider_id) or told

    @property
    def provisioned(self) -> bool:
        return bool(self.view.spec.provider_id) and self.view.status.initialization.provisioned is True

    @property
    def settled(self) -> bool:
        """Provisioned, and Cluster API knows the Node: only updates are due."""
        return self.provisioned and bool(self.owner.status.node_ref and self.owner.status.node_ref.name)

    @property
    def cluster_name(self) -> str:
        """The Cluster's name: the Machine's word, else the label's (the Machine may be gone first)."""
        return self.owner.spec.cluster_name or str(
            (self.view.metadata.labels or {}).get(names.CLUSTER_NAME_LABEL) or ""
        )

    @property
    def cluster_key(self) -> Key:
        return Key(self.key.namespace, self.cluster_name)

    @property
    def update_failed(self) -> outcomes.Outcome:
        """How a failed update is told: before the machine runs, or after."""
        return outcomes.MACHINE_UPDATE_FAILED if self.settled else outcomes.HOST_UPDATE_FAILED
