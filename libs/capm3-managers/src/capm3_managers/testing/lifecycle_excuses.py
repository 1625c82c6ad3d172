"""Machines of a recorded life cycle whose fate differs from ours for a registered reason, and the hosts that share it.

Apart from `lifecycle_rules`, which take single fields out of a comparison: here a whole decision differs (another host, or
none), so that nothing of the machine can agree from then on. Each reason is found in what the machine or its recording
says, never by the recording's name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from capm3_api import condition, kinds, meta, names
from capm3_api.model import Raw

from capm3_managers import hosts, outcomes

Ref = tuple[str, str]
Objects = Mapping[Ref, Raw]

_GATES = (outcomes.WAITING_FOR_INFRASTRUCTURE.reason, outcomes.WAITING_FOR_BOOTSTRAP.reason)


class Excuses:
    """Kept through the steps of one recording: what was excused once differs for ever.

    Args:
        recording: for what its writes did to machines by hand.
    """

    def __init__(self, recording: Mapping[str, Any]) -> None:
        self._by_hand = _annotated(recording)
        self._found: dict[Ref, str] = {}

    def look(self, recorded: Objects, ours: Objects) -> None:
        """Takes note of what another step shows."""
        for ref in {*recorded, *ours}:
            if ref[0] == kinds.METAL3_MACHINE.kind and ref not in self._found:
                quirk = self._quirk(ref, recorded, ours)
                if quirk:
                    self._found[ref] = quirk
        for objects in (recorded, ours):
            for ref, quirk in list(self._found.items()):
                for other in _shared(ref, objects):
                    self._found.setdefault(other, quirk)

    def of(self, ref: Ref) -> str:
        """The quirk that explains an object; ``""`` for none."""
        return self._found.get(ref, "")

    def _quirk(self, ref: Ref, recorded: Objects, ours: Objects) -> str:
        if ref[1] in self._by_hand:
            return "host-annotation-is-no-claim"
        there, here = recorded.get(ref), ours.get(ref)
        if there is None or here is None:
            return ""
        return next((quirk for quirk, fits in _FITS.items() if fits(there, here, ours)), "")


def _told(machine: Raw, type_: str, name: str) -> str:
    return str((condition.get(machine, type_) or {}).get(name) or "")


def _without_format(there: Raw, here: Raw, ours: Objects) -> bool:
    """The Go program sends an empty image format, which the host's schema refuses."""
    return 'spec.image.format: Unsupported value: \\"\\"' in json.dumps(there)


def _has_image(there: Raw, here: Raw, ours: Objects) -> bool:
    """A free host with an image that a person set is not taken."""
    return "holding an image that somebody else set" in _told(here, outcomes.ASSOCIATED, "message")


def _template_refused(there: Raw, here: Raw, ours: Objects) -> bool:
    """What is wrong with the reference to a template is said before a claim is made, not by the claim's webhook."""
    refused = "validation.metal3dataclaim." in _told(there, outcomes.METADATA, "message")
    return refused and "spec.dataTemplate." in _told(here, outcomes.METADATA, "message")


def _externally(there: Raw, here: Raw, ours: Objects) -> bool:
    """A host that is externally provisioned after the pick is left alone."""
    return _told(here, outcomes.ASSOCIATED, "reason") == outcomes.HOST_EXTERNALLY_PROVISIONED.reason


def _newer_fields(there: Raw, here: Raw, ours: Objects) -> bool:
    """Readiness that is told in the newer fields only counts here."""
    before, now = (_told(machine, outcomes.ASSOCIATED, "reason") for machine in (there, here))
    if before not in _GATES or now == before:
        return False
    return any(
        hosts.part(obj, "status", "initialization").get(field) is True
        for (kind, _), obj in ours.items()
        for field in ("infrastructureProvisioned", "bootstrapDataSecretCreated")
        if kind in (kinds.CLUSTER.kind, kinds.MACHINE.kind)
    )


def _selector(there: Raw, here: Raw, ours: Objects) -> bool:
    """Selectors know the words of Kubernetes too, and are refused in other words."""
    if not hosts.part(here, "spec", "hostSelector"):
        return False
    text = _told(there, outcomes.ASSOCIATED, "message")
    return text.startswith(outcomes.ASSOCIATION_FAILED.prefix) and "requeued after" not in text


_FITS: Mapping[str, Callable[[Raw, Raw, Objects], bool]] = {
    "image-without-format": _without_format,
    "host-with-image-is-not-free": _has_image,
    "data-template-checked-here": _template_refused,
    "host-after-the-pick": _externally,
    "new-contract-fields": _newer_fields,
    "selector-words": _selector,
}


def _shared(ref: Ref, objects: Objects) -> Iterator[Ref]:
    """The hosts of a machine: those that it names, and those that name it."""
    machine = objects.get(ref)
    named = str(hosts.marks(machine or {}).get(names.HOST_ANNOTATION) or "").rpartition("/")[2]
    for other, obj in objects.items():
        if other[0] != kinds.BARE_METAL_HOST.kind:
            continue
        if other[1] == named or hosts.text(obj, "spec", "consumerRef", "name") == ref[1]:
            yield other


def _annotated(recording: Mapping[str, Any]) -> set[str]:
    """The machines that a write of the recording gave a host annotation, and those whose hosts they name."""
    found: set[str] = set()
    for step in recording.get("steps") or []:
        for action in step.get("actions") or []:
            body = action.get("body") if isinstance(action.get("body"), dict) else {}
            if "/metal3machines" in str(action.get("path")) and hosts.marks(body).get(names.HOST_ANNOTATION):
                found.add(meta.key_of(body).name or _name(str(action["path"])))
    return found


def _name(path: str) -> str:
    parts: Sequence[str] = path.partition("?")[0].partition("/metal3machines/")[2].split("/")
    return parts[0]
