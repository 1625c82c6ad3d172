"""What a pass decided: the wanted object and an ordered, closed list of actions.

Data only, so that a test compares it, a log prints it, and the executor (the one writer) carries it out.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers.ports import BmcAccess


@dataclasses.dataclass(frozen=True)
class Create:
    """Creates an object.

    Args:
        exists_ok: an object of that name is as good (names are deterministic, so a crash may have left ours).
    """

    obj: Raw
    exists_ok: bool = False


@dataclasses.dataclass(frozen=True)
class Patch:
    """A JSON merge patch of another object, holding only the fields this project owns.

    Args:
        resource_version: what must still be the object's version; required when `patch` holds a list or claims a host.
        subresource: ``""`` or ``"status"``.
        missing_ok: an object that is gone needs no patch.
    """

    kind: Kind
    key: Key
    patch: Raw
    resource_version: str = ""
    subresource: str = ""
    missing_ok: bool = False


@dataclasses.dataclass(frozen=True)
class Delete:
    """Deletes an object; one that is gone already is a success.

    Args:
        uid: the object that was meant, so that a new one of the same name is safe.
    """

    kind: Kind
    key: Key
    uid: str = ""


@dataclasses.dataclass(frozen=True)
class NodePatch:
    """A JSON merge patch of a Node in the workload cluster of `cluster`."""

    cluster: Key
    name: str
    patch: Raw
    resource_version: str = ""


@dataclasses.dataclass(frozen=True)
class Hardware:
    """Something done to a server.

    Args:
        op: ``power-on``, ``power-off`` (args ``mode``: ``soft`` or ``hard``), ``insert-media`` (args ``url``),
            ``eject-media``, ``boot-once`` (args ``device``: ``cd``, ``disk`` or ``pxe``; ``mode``: ``UEFI``, ``legacy``
            or absent for "as it is").
        args: plain text values; never a secret.
    """

    access: BmcAccess
    op: str
    args: tuple[tuple[str, str], ...] = ()


Action = Create | Patch | Delete | NodePatch | Hardware


@dataclasses.dataclass(frozen=True)
class Plan:
    """The result of a pass.

    Args:
        wanted: the reconciled object as it should be, ``None`` when there is none (it is gone).
        actions: carried out in this order, after the own body patch and before the own status patch.
        requeue_after: seconds, ``None`` when a watch brings the object back.
        retry: come back with the queue's growing delay (the pass failed); counts as an error in the metrics.
        because: the one log line of the pass.
        facts: more fields of that line.
        guarded: every write of the reconciled object names the version it was read in, so that a pass over a stale view
            of it writes nothing at all (the first write of a plan is the object's own).
    """

    wanted: Raw | None = None
    actions: tuple[Action, ...] = ()
    requeue_after: float | None = None
    retry: bool = False
    because: str = ""
    facts: tuple[tuple[str, Any], ...] = ()
    guarded: bool = False
