"""Carries out a plan over HTTP: the one writer of the program, behind the fence.

The order of the writes is `capm3_managers.execute`'s; what is added here is what only a real process has: the lease that
may be lost, caches that should see our own writes at once, and servers whose actions fail.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

from capm3_api import meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers import diff, execute
from capm3_managers.env import Env
from capm3_managers.manager import Manager
from capm3_managers.plan import Hardware, NodePatch, Plan
from capm3_managers.ports import ApiError, Bmc, BmcError, BmcFailure

from capm3_controller.kube import paths
from capm3_controller.kube.client import Client
from capm3_controller.kube.fence import Fence
from capm3_controller.kube.transport import Permit


class Assumes(Protocol):
    """Takes in the answers to our writes; see `capm3_controller.kube.cache.Cache`."""

    def assume(self, kind: Kind, obj: Raw) -> None: ...


class PatchesNodes(Protocol):
    """See `capm3_controller.kube.remote.Remotes`."""

    def patch_node(self, action: NodePatch, *, permit: Permit | None = None) -> None: ...


class CountsActions(Protocol):
    """Counts hardware actions; see `capm3_controller.runtime.metrics`."""

    def hardware(self, op: str, result: str) -> None: ...


@dataclasses.dataclass(frozen=True)
class Result:
    """What a pass did.

    Args:
        plan: the plan that was carried out in the end.
        writes: requests and hardware actions that were made.
        failure: of a hardware action; the plan is then the recovery's.
    """

    plan: Plan
    writes: int
    failure: BmcFailure | None = None


@dataclasses.dataclass(frozen=True)
class Hands:
    """Everything that can be written to."""

    client: Client
    cache: Assumes
    remote: PatchesNodes
    bmc: Bmc
    fence: Fence


class Executor:
    """Thread-safe; shared by all controllers."""

    def __init__(self, hands: Hands, counts: CountsActions | None = None) -> None:
        self._hands = hands
        self._counts = counts

    def run(self, manager: Manager, snapshot: Any, plan: Plan, env: Env) -> Result:
        """Carries the plan out, and the manager's recovery when a hardware action fails.

        Raises:
            ApiError: a write was refused (a conflict: observe again), or the lease was lost.
            BmcError: a hardware action failed and the manager has no recovery.
        """
        observed = snapshot.observed
        writer = _Pass(self._hands, meta.uid_of(observed or {}), meta.key_of(observed or {}))
        failure = None
        try:
            execute.run(manager.kind, observed, plan, writer)
        except ApiError as error:
            if not (error.is_not_found and writer.lost and _is_deleted(observed)):
                raise
            plan = Plan(because="the object went before its last write")
        except BmcError as error:
            if manager.recover is None or writer.action is None:
                raise
            failure = error.failure
            plan = manager.recover(snapshot, writer.action, failure, env)
            execute.run(manager.kind, _at(observed, writer.version), _wanted_at(plan, writer.version), writer)
        finally:
            for op, result in writer.actions:
                if self._counts is not None:
                    self._counts.hardware(op, result)
        return Result(plan, writer.writes, failure)


class _Pass:
    """The writer of one pass; implements `capm3_managers.execute.Writer`.

    Attributes:
        version: of the reconciled object after our last write to it, ``""`` before.
        action: the hardware action made last.
        lost: the last write was to the reconciled object's name, and failed.
    """

    def __init__(self, hands: Hands, uid: str, key: Key) -> None:
        self._hands = hands
        self._uid = uid
        self._key = key
        self.lost = False
        self.writes = 0
        self.version = ""
        self.action: Hardware | None = None
        self.actions: list[tuple[str, str]] = []

    def create(self, obj: Raw) -> Raw:
        kind = paths.kind_of(obj)
        return self._took_in(kind, self._hands.client.create(kind, obj, permit=self._begin()))

    def patch(self, kind: Kind, key: Key, patch: Raw, *, subresource: str = "") -> Raw:
        permit = self._begin()
        self.lost = key == self._key
        answer = self._hands.client.merge(kind, key, patch, subresource=subresource, permit=permit)
        self.lost = False
        return self._took_in(kind, answer)

    def delete(self, kind: Kind, key: Key, *, uid: str = "") -> None:
        self._hands.client.delete(kind, key, uid=uid, permit=self._begin())

    def patch_node(self, action: NodePatch) -> None:
        self._hands.remote.patch_node(action, permit=self._begin())

    def hardware(self, action: Hardware) -> None:
        self._begin()
        self.action = action
        try:
            self._hands.bmc.perform(action.access, action.op, dict(action.args))
        except BmcError:
            self.actions.append((action.op, "error"))
            raise
        self.actions.append((action.op, "success"))

    def _begin(self) -> Permit:
        """Asks the fence, now and again when the request is really sent."""
        self._hands.fence.check()
        self.writes += 1
        return self._hands.fence.permit

    def _took_in(self, kind: Kind, answer: Raw) -> Raw:
        if self._uid and meta.uid_of(answer) == self._uid:
            self.version = meta.version_of(answer)
        self._hands.cache.assume(kind, answer)
        return answer


def _is_deleted(observed: Raw | None) -> bool:
    return bool(((observed or {}).get("metadata") or {}).get("deletionTimestamp"))


def _at(observed: Raw | None, version: str) -> Raw | None:
    """The object as observed, under the version that our own first writes gave it."""
    if observed is None or not version:
        return observed
    changed: Raw = diff.apply(observed, {"metadata": {"resourceVersion": version}})
    return changed


def _wanted_at(plan: Plan, version: str) -> Plan:
    return dataclasses.replace(plan, wanted=_at(plan.wanted, version))
