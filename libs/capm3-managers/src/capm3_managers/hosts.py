"""What a BareMetalHost is to others: whose it is, whether it can be claimed, and in which state it is.

Apart from the machine manager, because the indexes over cached hosts, remediation and `explain` ask the same questions.
Works on raw objects: thousands of hosts are judged for one choice. Behaviour facts on CAPM3 5.2.2 and 5.2.6, report B02.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.model import Raw

_OBJECT = (dict, Mapping)
"""``dict`` first: asking whether something is a `Mapping` costs ten times as much, and nearly everything here is a dict."""

FREE_STATES = ("ready", "available")
FREE = "free"
"""Value of the index ``claimable`` for a host that any machine may claim."""

ANY_REUSE = "reuse/*"
"""Value of the index ``claimable`` for every host that is kept for node reuse."""


def part(obj: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    """The object at a path; empty when there is none, or something else."""
    here: Any = obj
    for name in path:
        here = here.get(name) if isinstance(here, _OBJECT) else None
    return here if isinstance(here, _OBJECT) else {}


def text(obj: Mapping[str, Any], *path: str) -> str:
    """The text at a path; ``""`` when there is none, or something else."""
    value = part(obj, *path[:-1]).get(path[-1])
    return value if isinstance(value, str) else ""


def state(host: Mapping[str, Any]) -> str:
    """``status.provisioning.state``; ``""`` before the Baremetal Operator saw the host."""
    return text(host, "status", "provisioning", "state")


def labels(host: Mapping[str, Any]) -> Mapping[str, Any]:
    return part(host, "metadata", "labels")


def marks(host: Mapping[str, Any]) -> Mapping[str, Any]:
    return part(host, "metadata", "annotations")


def consumer(host: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """``spec.consumerRef``; ``None`` when nobody uses the host."""
    return part(host, "spec", "consumerRef") or None


def is_consumed_by(host: Mapping[str, Any], machine: Mapping[str, Any]) -> bool:
    """Whether the consumer is that Metal3Machine, in any version of its group."""
    ref = consumer(host)
    if ref is None or ref.get("kind") != kinds.METAL3_MACHINE.kind:
        return False
    key = meta.key_of(machine)
    same_group = meta.group_of(str(ref.get("apiVersion") or "")) == kinds.METAL3_MACHINE.group
    return same_group and ref.get("name") == key.name and (ref.get("namespace") or key.namespace) == key.namespace


def reuse_name(host: Mapping[str, Any]) -> str:
    """For whom the host is kept: ``cp-<name>``, ``md-<name>``, or ``""``."""
    return str(labels(host).get(names.NODE_REUSE_LABEL) or "")


def blemish(host: Mapping[str, Any]) -> str:
    """Why the host can't be used whatever its state and consumer; ``""`` when nothing is wrong with it.

    The answers are short words, so that they can be counted in a summary.
    """
    found = marks(host)
    checks = (
        ("being deleted", bool(part(host, "metadata").get("deletionTimestamp"))),
        ("in error", bool(text(host, "status", "errorMessage"))),
        ("paused", names.HOST_PAUSED_ANNOTATION in found),
        ("detached", names.HOST_DETACHED_ANNOTATION in found),
        ("unhealthy", names.UNHEALTHY_ANNOTATION in found or names.UNHEALTHY_OLD_ANNOTATION in found),
        ("externally provisioned", part(host, "spec").get("externallyProvisioned") is True),
    )
    return next((word for word, wrong in checks if wrong), "")


def refusal(host: Mapping[str, Any]) -> str:
    """Why a machine can't claim the host as a free one; ``""`` when it can."""
    if consumer(host) is not None:
        return "in use"
    if reuse_name(host):
        return "kept for node reuse"
    wrong = blemish(host)
    if wrong:
        return wrong
    if part(host, "spec", "image") or part(host, "spec", "customDeploy"):
        return "holding an image that somebody else set"
    return "" if state(host) in FREE_STATES else "not available"


def claimable(host: Raw) -> Iterable[str]:
    """Index function: `FREE`, or ``reuse/<name>`` and `ANY_REUSE`."""
    if reuse_name(host):
        yield f"reuse/{reuse_name(host)}"
        yield ANY_REUSE
    elif not refusal(host):
        yield FREE
