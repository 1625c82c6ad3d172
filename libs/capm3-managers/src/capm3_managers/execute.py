"""Carries out a plan: the one place that writes, used by the controller over HTTP and by scenarios over `World`.

It judges nothing. The order is what makes a crash after any write safe: first what the reconciled object must say before
others are touched (finalizers, annotations), then the others, then the status, and last the finalizer that lets it go.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

from capm3_api import meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import diff
from capm3_managers.plan import Action, Create, Delete, Hardware, NodePatch, Patch, Plan
from capm3_managers.ports import ApiError, BmcError, BmcFailure


class Writer(Protocol):
    """The write half of an API server (and of servers); raises `ApiError` and `BmcError`."""

    def create(self, obj: Raw) -> Raw: ...

    def patch(self, kind: Kind, key: Key, patch: Raw, *, subresource: str = "") -> Raw:
        """A JSON merge patch; a ``metadata.resourceVersion`` inside is a precondition."""
        ...

    def delete(self, kind: Kind, key: Key, *, uid: str = "") -> None: ...

    def patch_node(self, action: NodePatch) -> None: ...

    def hardware(self, action: Hardware) -> None: ...


@dataclasses.dataclass(frozen=True)
class OwnPatch:
    """A patch of the reconciled object itself.

    Args:
        locked: it replaces a list, so it must name the version it was made from.
    """

    patch: Raw
    subresource: str
    locked: bool


Step = OwnPatch | Action


def steps(observed: Raw | None, plan: Plan) -> tuple[Step, ...]:
    """The plan as ordered single writes; empty for a settled object."""
    if observed is None or plan.wanted is None:
        return tuple(plan.actions)
    body, status = _split(observed), observed.get("status") or {}
    wanted_body, wanted_status = _split(plan.wanted), plan.wanted.get("status") or {}
    last: Raw = {}
    kept = set((wanted_body.get("metadata") or {}).get("finalizers") or [])
    had = (body.get("metadata") or {}).get("finalizers") or []
    early = wanted_body
    if any(name not in kept for name in had):
        early = diff.apply(wanted_body, {"metadata": {"finalizers": had}})
        last = diff.merge_patch(early, wanted_body)
    first = diff.merge_patch(body, early)
    own_status = diff.merge_patch(status, wanted_status)
    locked = any(diff.has_list(part) for part in (first, own_status, last)) or bool(last) or plan.guarded
    result: list[Step] = []
    if first:
        result.append(OwnPatch(first, "", locked))
    result.extend(plan.actions)
    if own_status:
        result.append(OwnPatch({"status": own_status}, "status", locked))
    if last:
        result.append(OwnPatch(last, "", True))
    return tuple(result)


@dataclasses.dataclass(frozen=True)
class Done:
    """What carrying out a plan came to.

    Args:
        plan: the plan that counts for what follows (requeue, retry, log line): the recovery's if there was one.
        writes: writes and hardware actions made.
    """

    plan: Plan
    writes: int


Recover = Callable[[Hardware, BmcFailure], Plan]


def run(kind: Kind, observed: Raw | None, plan: Plan, writer: Writer, recover: Recover | None = None) -> Done:
    """Carries the plan out.

    Args:
        recover: what to do instead of the rest when a hardware action fails; without it the failure is raised.

    Raises:
        ApiError: a write was refused; the rest was not tried. A conflict means "observe again".
        BmcError: a hardware action failed and there was no recovery from it; the rest was not tried.
    """
    version = meta.version_of(observed or {})
    done = 0
    for step in steps(observed, plan):
        try:
            version = _do(step, kind, observed, version, writer)
        except BmcError as error:
            if recover is None or not isinstance(step, Hardware):
                raise
            current = diff.apply(observed, {"metadata": {"resourceVersion": version}}) if observed else observed
            recovered = recover(step, error.failure)
            wanted = recovered.wanted
            if wanted is not None and observed is not None:
                wanted = diff.apply(wanted, {"metadata": {"resourceVersion": version}})
            rest = run(kind, current, dataclasses.replace(recovered, wanted=wanted), writer)
            return Done(recovered, done + rest.writes)
        done += 1
    return Done(plan, done)


def _do(step: Step, kind: Kind, observed: Raw | None, version: str, writer: Writer) -> str:
    """Makes one step; the answer is the version that the reconciled object then has."""
    if not isinstance(step, OwnPatch):
        _act(step, writer)
        return version
    patch = diff.apply(step.patch, {"metadata": {"resourceVersion": version}}) if step.locked else step.patch
    return meta.version_of(writer.patch(kind, meta.key_of(observed or {}), patch, subresource=step.subresource))


def _act(action: Action, writer: Writer) -> None:
    if isinstance(action, Create):
        _tolerate(lambda: writer.create(action.obj), "AlreadyExists" if action.exists_ok else "")
    elif isinstance(action, Patch):
        patch = action.patch
        if action.resource_version:
            patch = diff.apply(patch, {"metadata": {"resourceVersion": action.resource_version}})
        _tolerate(
            lambda: writer.patch(action.kind, action.key, patch, subresource=action.subresource),
            "NotFound" if action.missing_ok else "",
        )
    elif isinstance(action, Delete):
        _tolerate(lambda: writer.delete(action.kind, action.key, uid=action.uid), "NotFound")
    elif isinstance(action, NodePatch):
        writer.patch_node(action)
    else:
        writer.hardware(action)


def _split(obj: Raw) -> Raw:
    return {key: value for key, value in obj.items() if key != "status"}


def _tolerate(write: Callable[[], Any], reason: str) -> None:
    try:
        write()
    except ApiError as error:
        if not reason or error.reason != reason:
            raise
