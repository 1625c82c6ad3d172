"""The registered differences between recorded life cycles and ours, each as a rule that takes it out of both sides.

Apart from `vectors_lifecycle`, because this is the list that reviewers read: one rule a difference, with its quirk's id.
A rule changes nothing where its difference is not there, so what is left over is unregistered.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from capm3_api import names
from capm3_api.model import Raw

from capm3_managers import outcomes


@dataclasses.dataclass(frozen=True)
class Pair:
    """One object after one step: as recorded, and as we have it (``None``: not there).

    Args:
        file, step: the recording's and the step's name.
        ref: kind and name.
    """

    file: str
    step: str
    ref: tuple[str, str]
    recorded: Raw | None
    ours: Raw | None


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


def case_rule(quirk: str, *cases: tuple[str, str]) -> Rule:
    """Accepts all that differs in one object of one recording; for recordings that show an upstream fault."""

    def apply(pair: Pair) -> Pair:
        fits = any(pair.file == file and re.fullmatch(name, pair.ref[1]) for file, name in cases)
        return dataclasses.replace(pair, recorded=pair.ours) if fits else pair

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
    case_rule("addresses-limit", ("addresses-over-32", "m-1")),
    case_rule("host-with-image-is-not-free", ("bmh-existing-image", "m-1|h-1")),
    case_rule("image-without-format", ("custom-deploy-and-images", "oci|nofmt|h-oci|h-nofmt")),
    case_rule(
        "data-template-checked-here", ("data-template-name-empty", "m-1"), ("data-template-other-namespace", "m-1")
    ),
    case_rule("host-after-the-pick", ("externally-provisioned", "host-1|m-1")),
    case_rule("failure-domain-note", ("failure-domain", "m-3")),
    case_rule("new-contract-fields", ("machine-new-contract-fields-only", "m-1|host-1")),
    case_rule("host-annotation-is-no-claim", ("host-preclaimed", "m-[2345]|host-[12]")),
    case_rule("selector-words", ("host-selector", "bad-.*"), ("host-selector-operators", "bad-.*")),
    case_rule("own-data-reaches-the-host", ("user-data", "h-d")),
    case_rule("nodes-of-another-recording", ("provision-by-hostname", "m-1")),
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


def _with_lists(obj: Raw, change: Callable[[list[Raw]], list[Raw]]) -> Raw:
    """Both condition lists changed."""
    found: Raw = json.loads(json.dumps(obj))
    for holder in (found.get("status") or {}, _at(found, _LEGACY) or {}):
        if "conditions" in holder:
            holder["conditions"] = change(holder["conditions"])
    return found
