"""Compares the admission rules with recorded answers of the Go program: agreed, registered or differing.

Apart from the tests, since the same comparison runs on any folder of recordings. A difference is registered when every
part of it is explained by a row of `STRICTER`, `LOOSER` or `RESTATED`, which the table of differences repeats with its
reasons; rows go by the rule, not by the case, so that they hold for recordings nobody has looked at.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from capm3_api import defaults, selectors
from capm3_api.model import Raw
from capm3_api.testing import objects, vectors_rewrites
from capm3_api.validation import errors, image, links, machinespec, pipeline, rules, template
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import at, normal, text

Row = tuple[str, str, str]
"""Case, verdict (``agreed``, ``registered``, ``differing``) and detail."""

Found = tuple[str, str]
"""JSON path and cause of one error."""

STRICTER: Mapping[str, str] = {
    selectors.RULE: "an unreadable host selector is refused at admission, not at the first reconcile",
    image.CHECKSUM_RULE: "a checksum is a URL or a digest of the right length",
    image.URL_RULE: "an http, https, ftp or oci image URL names a host",
    machinespec.NAMESPACE_RULE: "a reference to another namespace is refused wherever it stands",
    template.RULE: "machine and cluster templates are immutable, topology dry runs aside",
    links.LINK_RULE: "links and networks refer to links that the template has",
    links.MTU_RULE: "a VLAN's MTU is not larger than that of the link under it",
}
"""Rules that the Go program does not have, by rule id."""

_NAMES = {
    "Spec": "spec", "Template": "template", "Image": "image", "URL": "url", "Checksum": "checksum",
    "ChecksumType": "checksumType", "MetaData": "metaData", "NetworkData": "networkData", "Index": "index",
}  # fmt: skip


def json_path(path: str) -> str:
    """A field path of the Go program, which mixes Go names and JSON names, as a JSON path."""
    if path == "name":
        return "metadata.name"
    parts = [_NAMES.get(part, part) for part in path.split(".")]
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", ".".join(parts))


@dataclasses.dataclass(frozen=True)
class Answer:
    """One answer in comparable form."""

    allowed: bool
    found: frozenset[Found] = frozenset()
    message: str = ""


@dataclasses.dataclass(frozen=True)
class Case:
    """One recording and both answers to it."""

    name: str
    new: Raw
    old: Raw | None
    theirs: Answer
    ours: Answer
    errors: tuple[FieldError, ...]


def compare(folder: pathlib.Path) -> list[Row]:
    """All records of the kind files in `folder`; two rows for a case that was also sent to an API server."""
    rows: list[Row] = []
    for file in sorted(folder.glob("metal3*.json")):
        for record in json.loads(file.read_text(encoding="utf-8")):
            name = f"{file.stem}/{record['name']}"
            rows += [row for part in (_defaulting, _webhook, _server) for row in part(name, record)]
    return rows + vectors_rewrites.compare(folder)


def _defaulting(name: str, record: Raw) -> Iterable[Row]:
    if "defaultedObject" not in record or not isinstance(record.get("object"), dict):
        return []
    ours = _without_empty_status(defaults.default(record["object"]))
    theirs = _without_empty_status(record["defaultedObject"])
    same = ours == theirs
    return [(f"{name} defaulted", "agreed" if same else "differing", "" if same else f"{ours} != {theirs}")]


def _without_empty_status(obj: Raw) -> Raw:
    """The Go program adds an empty status (and says so in its patch): an artefact of writing the object again."""
    return {key: value for key, value in obj.items() if not (key == "status" and value == {})}


def _webhook(name: str, record: Raw) -> Iterable[Row]:
    answer = record.get("validating")
    if answer is None:
        return []
    new, old = record.get("defaultedObject") or record.get("object") or {}, record.get("oldObject")
    found = rules.validate(new, old) if record["operation"] != "DELETE" else []
    case = Case(f"{name} webhook", new, old, _theirs(answer), _ours(found), tuple(found))
    row = judge(case)
    if row[1] != "differing" and record["operation"] != "DELETE" and case.theirs.allowed:
        told = rules.warnings(new, old)
        if told != (answer.get("warnings") or []):
            return [(case.name, "differing", f"warnings {told} != {answer.get('warnings')}")]
    return [row]


def _server(name: str, record: Raw) -> Iterable[Row]:
    answer = record.get("apiServer")
    if answer is None or record["operation"] == "DELETE" or answer.get("oldObjectNotStorable"):
        return []
    mine = pipeline.admit(record["object"], record.get("oldObject"))
    theirs = _theirs({"allowed": answer["accepted"], "status": answer})
    case = Case(
        f"{name} server", record["object"], record.get("oldObject"), theirs, _ours(mine.errors), tuple(mine.errors)
    )
    row = judge(case)
    if theirs.allowed and case.ours.allowed and "object" in answer:
        returned = pipeline.stored_and_read(mine.obj)
        reasons = objects.differences(returned, answer["object"], record["object"])
        unknown = sorted(reason for reason in reasons if reason.startswith("?"))
        if unknown:
            return [(case.name, "differing", f"returned object: {'; '.join(unknown)}")]
        if reasons and row[1] == "agreed":
            return [(case.name, "registered", "; ".join(sorted(reasons)))]
    return [row]


def _theirs(answer: Mapping[str, Any]) -> Answer:
    status = answer.get("status") or {}
    causes = (status.get("details") or {}).get("causes") or []
    found = frozenset((str(cause.get("field")), str(cause.get("reason"))) for cause in causes)
    return Answer(bool(answer["allowed"]), found, str(status.get("message") or ""))


def _ours(found: Iterable[FieldError]) -> Answer:
    pairs = frozenset((error.path, error.type) for error in found)
    return Answer(not pairs, pairs, "; ".join(error.text() for error in found))


def judge(case: Case) -> Row:
    """The verdict on one case."""
    if case.theirs.allowed == case.ours.allowed and case.theirs.found == case.ours.found and not _opaque(case.theirs):
        return case.name, "agreed", ""
    mapped = frozenset((json_path(path), cause) for path, cause in case.theirs.found)
    reasons = set() if mapped == case.theirs.found else {"field paths are JSON paths"}
    if case.theirs.allowed and case.theirs.found:
        return case.name, "differing", "the recording allows with causes"
    explained, left = _restated(case)
    reasons |= explained
    if not explained:
        left = (mapped - case.ours.found) | (case.ours.found - mapped)
    for path, cause in sorted(left):
        reason = _explain(case, path, cause)
        if not reason:
            return case.name, "differing", f"{path} {cause}: theirs {case.theirs}, ours {case.ours}"
        reasons.add(reason)
    if case.theirs.allowed != case.ours.allowed and not reasons:
        return case.name, "differing", f"theirs {case.theirs}, ours {case.ours}"
    return case.name, "registered", "; ".join(sorted(reasons))


def _opaque(answer: Answer) -> bool:
    """A denial without causes, whose reason is only in its text."""
    return not answer.allowed and not answer.found


def _explain(case: Case, path: str, cause: str) -> str:
    """Why one error stands on one side only."""
    for error in case.errors:
        if (error.path, error.type) == (path, cause):
            return STRICTER.get(error.rule, "")
    return next((reason for reason, holds in LOOSER if holds(case, path)), "")


def _restated(case: Case) -> tuple[set[str], frozenset[Found]]:
    """A denial without causes that ours says with causes, or does not say at all."""
    if not _opaque(case.theirs):
        return set(), frozenset()
    rest = frozenset((error.path, error.type) for error in case.errors if error.rule in STRICTER)
    for reason, holds in RESTATED:
        if holds(case):
            return {reason}, rest
    return set(), case.ours.found


def _is_panic(case: Case) -> bool:
    return "panic:" in case.theirs.message and not case.ours.allowed


def _is_missing_fields(case: Case) -> bool:
    return "missing fields from Spec" in case.theirs.message and (
        not case.ours.allowed or (case.old is not None and _only_old_is_incomplete(case))
    )


def _only_old_is_incomplete(case: Case) -> bool:
    return not [error for error in rules.validate(case.new) if not error.rule]


def _is_undecodable(case: Case) -> bool:
    return "json: cannot unmarshal" in case.theirs.message and (
        case.ours.allowed or any(error.type == errors.TYPE_INVALID for error in case.errors)
    )


RESTATED: tuple[tuple[str, Callable[[Case], bool]], ...] = (
    ("a panic of the Go program is a proper denial", _is_panic),
    (
        "a template without an endpoint is denied by field, and an incomplete stored one may be mended",
        _is_missing_fields,
    ),
    (
        "a value of the wrong type is denied with its JSON path, and a map of failure domains is converted",
        _is_undecodable,
    ),
)


def _equal_but_for_empty(case: Case, path: str) -> bool:
    field = path.removeprefix("spec.")
    both = [defaults.schema_defaults(obj or {}) for obj in (case.old, case.new)]
    return (
        case.new.get("kind") == "Metal3DataTemplate"
        and field in ("metaData", "networkData")
        and normal(at(both[0], "spec", field)) == normal(at(both[1], "spec", field))
    )


def _namespace_filled(case: Case, path: str) -> bool:
    if case.new.get("kind") != "Metal3Data" or path not in ("spec.template", "spec.claim"):
        return False
    field = path.removeprefix("spec.")
    old, new = at(case.old, "spec", field), at(case.new, "spec", field)
    same_name = text(at(old, "name")) == text(at(new, "name"))
    return same_name and not at(old, "namespace") and at(new, "namespace") == at(case.new, "metadata", "namespace")


def _pool_defaulted(case: Case, path: str) -> bool:
    old_version = str(case.new.get("apiVersion")).endswith("/v1beta1")
    return old_version and bool(re.search(r"FromIPPool\[\d+\]\.(apiGroup|kind)\Z|fromPoolRef\.(apiGroup|kind)\Z", path))


LOOSER: tuple[tuple[str, Callable[[Case, str], bool]], ...] = (
    ("null, an empty list and an empty map count as absent when two objects are compared", _equal_but_for_empty),
    ("v1beta1 pool references without apiGroup and kind get the defaults of v1beta2", _pool_defaulted),
    ("filling in the own namespace of a reference is no change", _namespace_filled),
)
