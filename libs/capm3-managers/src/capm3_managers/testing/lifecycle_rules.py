"""The registered differences between recorded life cycles and ours, each as a rule that takes it out of both sides.

Apart from `vectors_lifecycle`, because this is the list that reviewers read: one rule a difference, with its quirk's id.
A rule changes nothing where its difference is not there, so what is left over is unregistered.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from capm3_api import kinds, names
from capm3_api.model import Raw

from capm3_managers import outcomes
from capm3_managers.machine.status import MAX_ADDRESSES


@dataclasses.dataclass(frozen=True)
class Pair:
    """One object after one step: as recorded, and as we have it (``None``: not there).

    Args:
        file, step: the recording's and the step's name.
        ref: kind and name.
    around: all of ours after the step, by kind and name.
    excuse: the quirk that explains whatever differs in this object, ``""`` for none; see `lifecycle_excuses`.
    """

    file: str
    step: str
    ref: tuple[str, str]
    recorded: Raw | None
    ours: Raw | None
    around: Mapping[tuple[str, str], Raw] = dataclasses.field(default_factory=dict)
    excuse: str = ""


@dataclasses.dataclass(frozen=True)
class Rule:
    """Args:
    quirk: the id in docs/reference/quirks.md.
    apply: the pair without the difference; the same pair if it is not there.
    """

    quirk: str
    apply: Callable[[Pair], Pair]


def text_rule(quirk: str, pattern: str) -> Rule:
    """Takes text out of all messages of both sides."""
    compiled = re.compile(pattern)

    def apply(pair: Pair) -> Pair:
        return _both(pair, lambda obj: _mapped_text(obj, lambda text: compiled.sub("", text)))

    return Rule(quirk, apply)


def field_rule(quirk: str, kind: str, path: tuple[str, ...], *, theirs: Any = ..., ours: Any = ...) -> Rule:
    """Takes a field out of both sides where the sides have the given values (``...``: any, ``None``: absent)."""

    def apply(pair: Pair) -> Pair:
        found = _at(pair.recorded, path), _at(pair.ours, path)
        fits = all(want is ... or want == have for want, have in zip((theirs, ours), found, strict=True))
        if pair.ref[0] != kind or found[0] == found[1] or not fits:
            return pair
        return _both(pair, lambda obj: _without(obj, path))

    return Rule(quirk, apply)


def _metadata_reason(pair: Pair) -> Pair:
    """The distinct reasons of waits for a Node."""
    for item in _conditions(pair.ours):
        if item["type"] == outcomes.METADATA and item["reason"] in NODE_REASONS:
            return _both(pair, lambda obj: _renamed(obj, outcomes.METADATA))
    return pair


def _host_reason(pair: Pair) -> Pair:
    """What a host does after the pick shows in the machine's condition, and so in Ready."""
    if not any(item["reason"] in outcomes.AFTER_THE_PICK for item in _conditions(pair.ours)):
        return pair
    types = (outcomes.ASSOCIATED, outcomes.LEGACY_ASSOCIATED, "Ready")
    return _both(pair, lambda obj: _without_conditions(obj, types))


def _released(pair: Pair) -> Pair:
    """Leftovers of a host that is released, or on its way to that."""
    if pair.ref[0] != "BareMetalHost" or not pair.ours or "image" in (pair.ours.get("spec") or {}):
        return pair
    paths: list[tuple[str, ...]] = [("spec", name) for name in ("metaData", "networkData")]
    paths.append(("metadata", "annotations", names.BLOCK_MOVE_ANNOTATION))
    gone = [path for path in paths if _at(pair.ours, path) is None and _at(pair.recorded, path) is not None]
    for path in gone:
        pair = _both(pair, lambda obj, path=path: _without(obj, path))  # type: ignore[misc]
    return pair


def _too_many_addresses(pair: Pair) -> Pair:
    """Ours keeps as many addresses as the schema takes; the Go program's write is refused, and with it the time."""
    ours = _at(pair.ours, ("status", "addresses")) or []
    if len(ours) < MAX_ADDRESSES or _at(pair.recorded, ("status", "addresses")):
        return pair
    paths = (("status", "addresses"), ("status", "lastUpdated"))
    return _both(pair, lambda obj: functools.reduce(_without, paths, obj))


def _domain_note(pair: Pair) -> Pair:
    """Ours says when a host of another failure domain was taken."""
    noted = [item for item in _conditions(pair.ours) if "is free in failure domain" in str(item.get("message"))]
    if not noted:
        return pair
    return _both(
        pair, lambda obj: _with_lists(obj, lambda items: [_unsaid(item, outcomes.ASSOCIATED) for item in items])
    )


def _own_data(pair: Pair) -> Pair:
    """Secrets that the machine's spec names reach the host, whenever the host was claimed."""
    machine = pair.around.get((kinds.METAL3_MACHINE.kind, str(_at(pair.ours, ("spec", "consumerRef", "name")))))
    for field in ("metaData", "networkData"):
        named = _at(machine, ("spec", field, "name"))
        path = ("spec", field)
        if named and named == _at(pair.ours, (*path, "name")) and _at(pair.recorded, path) is None:
            pair = _both(pair, lambda obj, path=path: _without(obj, path))  # type: ignore[misc]
    return pair


def _excused(pair: Pair) -> Pair:
    return dataclasses.replace(pair, recorded=pair.ours) if pair.excuse else pair


NODE_REASONS = (
    "KubeconfigMissing",
    "KubeconfigInvalid",
    "WorkloadAPIUnreachable",
    "Forbidden",
    "NodeNotFound",
    "NodeLabelMissing",
    "MultipleNodesMatch",
    "NodeHasOtherProviderID",
    "HostnameMissing",
    "WaitingForCloudProvider",
)
_LEGACY = ("status", "deprecated", "v1beta1")

RULES: tuple[Rule, ...] = (
    text_rule(
        "machine-wait-notes",
        r"(?<=requeued after 30s) \((?:host \S+ is [^()]*|\d+ hosts?: [^()]*|there are no hosts)\)",
    ),
    text_rule("go-artefacts", r": %!w\(<nil>\)"),
    text_rule("kubeconfig-missing-text", r'(?<=in namespace \\"site-a\\"): secrets \\"\S+-kubeconfig\\" not found'),
    Rule("node-wait-reasons", _metadata_reason),
    Rule("host-after-the-pick", _host_reason),
    Rule("release-leaves-nothing", _released),
    field_rule("no-empty-failure-fields", "Metal3Machine", (*_LEGACY, "failureMessage"), theirs="", ours=None),
    field_rule("no-empty-failure-fields", "Metal3Machine", (*_LEGACY, "failureReason"), theirs="", ours=None),
    field_rule("failure-is-taken-back", "Metal3Cluster", (*_LEGACY, "failureMessage"), ours=None),
    field_rule("failure-is-taken-back", "Metal3Cluster", (*_LEGACY, "failureReason"), ours=None),
    Rule("cluster-deletion-condition", lambda pair: _both(pair, lambda obj: _without_conditions(obj, ("Deleting",)))),
    Rule("addresses-limit", _too_many_addresses),
    Rule("failure-domain-note", _domain_note),
    Rule("own-data-reaches-the-host", _own_data),
    Rule("", _excused),
    text_rule("nodes-of-another-recording", r"no (Nodes found|nodes matching hostnames: [^.]*)"),
)


def _both(pair: Pair, change: Callable[[Raw], Raw]) -> Pair:
    recorded = change(pair.recorded) if pair.recorded is not None else None
    ours = change(pair.ours) if pair.ours is not None else None
    return dataclasses.replace(pair, recorded=recorded, ours=ours)


def _mapped_text(obj: Raw, change: Callable[[str], str]) -> Raw:
    found: Raw = json.loads(change(json.dumps(obj)))
    return found


def _at(obj: Mapping[str, Any] | None, path: tuple[str, ...]) -> Any:
    here: Any = obj
    for name in path:
        here = here.get(name) if isinstance(here, Mapping) else None
    return here


def _without(obj: Raw, path: tuple[str, ...]) -> Raw:
    """The object without a field, and without what became empty by that."""
    head, *rest = path
    if head not in obj:
        return obj
    if not rest:
        return {name: value for name, value in obj.items() if name != head}
    inner = _without(obj[head], tuple(rest)) if isinstance(obj[head], dict) else obj[head]
    return {name: (inner if name == head else value) for name, value in obj.items() if name != head or inner}


def _conditions(obj: Raw | None) -> Iterator[Raw]:
    yield from _at(obj, ("status", "conditions")) or []


def _without_conditions(obj: Raw, types: tuple[str, ...]) -> Raw:
    return _with_lists(obj, lambda items: [item for item in items if item["type"] not in types])


def _renamed(obj: Raw, type_: str) -> Raw:
    return _with_lists(
        obj,
        lambda items: [
            {**item, "reason": "*"} if item["type"] == type_ and "reason" in item else item for item in items
        ],
    )


def _unsaid(item: Raw, type_: str) -> Raw:
    return {**item, "message": ""} if item["type"] == type_ and "message" in item else item


def _with_lists(obj: Raw, change: Callable[[list[Raw]], list[Raw]]) -> Raw:
    """Both condition lists changed."""
    found: Raw = json.loads(json.dumps(obj))
    for holder in (found.get("status") or {}, _at(found, _LEGACY) or {}):
        if "conditions" in holder:
            holder["conditions"] = change(holder["conditions"])
    return found
