"""Puts recorded requests to a real API server with our webhooks and judges its answers by the recorded ones.

Apart from `capm3_api.testing`, which asks the rules without a server: here the whole road is travelled, and two questions
are asked at once: does the server agree with the recording, and does the library agree with the server?
"""

from __future__ import annotations

from typing import Any

from capm3_api import meta
from capm3_api.model import Raw
from capm3_api.testing import objects, vectors_admission, vectors_conversion, vectors_rewrites
from capm3_api.validation import pipeline
from capm3_api.validation.values import at

from capm3_testbed.dropin.calls import Answer, Calls

Row = tuple[str, str, str]
"""Case, verdict (``agreed``, ``registered``, ``differing``) and detail."""

_SERVER_OWN = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")


def admission(calls: Calls, name: str, record: Raw) -> list[Row]:
    """One recorded create or update (a dry run, as it was recorded) or delete; no rows for what could not be recorded."""
    recorded = record.get("apiServer")
    if recorded is None or recorded.get("oldObjectNotStorable"):
        return []
    new, old = record["object"], record.get("oldObject")
    if record["operation"] == "DELETE":
        return [_deleted(calls, name, old or new, recorded)]
    stricter = _stricter(pipeline.admit(old)) if old is not None else ""
    if stricter:  # then there is nothing that could be updated
        return [(f"{name} recorded", "registered", f"the old object is refused, {stricter}")]
    answer = calls.create(new, dryRun="All") if old is None else _updated(calls, new, old)
    mine = pipeline.admit(new, old)
    theirs = vectors_admission.Answer(bool(recorded["accepted"]), _causes(recorded), str(recorded.get("message") or ""))
    ours = vectors_admission.Answer(answer.accepted, answer.causes, answer.message)
    case = vectors_admission.Case(f"{name} recorded", new, old, theirs, ours, mine.errors)
    rows = [vectors_admission.judge(case), _library(f"{name} library", answer, mine)]
    if theirs.allowed and ours.allowed and "object" in recorded:
        rows.append(_objects(f"{name} object", answer.body, recorded["object"], new))
    return rows


def _stricter(answer: pipeline.Admitted) -> str:
    """Says which rules of ours alone refuse an object; ``""`` when another rule does, or none."""
    rules = {error.rule for error in answer.errors}
    return f"stricter rules: {', '.join(sorted(rules))}" if rules and "" not in rules else ""


def _updated(calls: Calls, new: Raw, old: Raw) -> Answer:
    stored = calls.create(old)
    if not stored.accepted:
        return stored
    try:
        if old.get("status"):
            calls.merge(old, {"status": old["status"]}, "status")
        version = meta.version_of(calls.read(old).body)
        return calls.put({**new, "metadata": {**new["metadata"], "resourceVersion": version}}, dryRun="All")
    finally:
        calls.delete(old)


def _deleted(calls: Calls, name: str, obj: Raw, recorded: Raw) -> Row:
    stored = calls.create(obj)
    answer = calls.delete(obj) if stored.accepted else stored
    same = answer.accepted == bool(recorded["accepted"])
    return f"{name} recorded", "agreed" if same else "differing", "" if same else answer.message


def _causes(status: Raw) -> frozenset[tuple[str, str]]:
    causes = (status.get("details") or {}).get("causes") or []
    return frozenset((str(cause.get("field") or ""), str(cause.get("reason") or "")) for cause in causes)


def _library(name: str, answer: Answer, mine: pipeline.Admitted) -> Row:
    """What `capm3 validate` says is what the server says, to the field and the stored value."""
    found = frozenset((error.path, error.type) for error in mine.errors)
    if answer.accepted != (not found) or answer.causes != found:
        return (
            name,
            "differing",
            f"server {answer.code} {sorted(answer.causes)} {answer.message}, library {sorted(found)}",
        )
    if not answer.accepted:
        return name, "agreed", ""
    theirs, ours = comparable(answer.body), comparable(pipeline.stored_and_read(mine.obj))
    return (
        name,
        "agreed" if theirs == ours else "differing",
        "" if theirs == ours else f"server {theirs}, library {ours}",
    )


def _objects(name: str, ours: Raw, theirs: Raw, sent: Raw) -> Row:
    reasons = objects.differences(comparable(ours), comparable(theirs), comparable(sent))
    unknown = sorted(reason for reason in reasons if reason.startswith("?"))
    if unknown:
        return name, "differing", "; ".join(unknown)
    return name, "registered" if reasons else "agreed", "; ".join(sorted(reasons))


def comparable(obj: Raw) -> Raw:
    """Without what only a server can put there, and without an empty status."""
    metadata = {key: value for key, value in (obj.get("metadata") or {}).items() if key not in _SERVER_OWN}
    return {key: value for key, value in {**obj, "metadata": metadata}.items() if not (key == "status" and value == {})}


def rewrite(calls: Calls, record: Raw) -> list[Row]:
    """One recorded object: made in one version, read in both, and put back, edited or not, in each (dry runs)."""
    name, sent = str(record["name"]), record["create"]
    made = calls.create(sent)
    rows = [_verdict(f"{name} create", record["created"]["code"], made, sent, None, set())]
    if not made.accepted:
        return rows
    try:
        if "statusPatched" in record:
            calls.merge(sent, {"status": record["statusPatched"]["body"]["status"]}, "status")
        rows += [_read(calls, name, record, version) for version in ("v1beta1", "v1beta2")]
        return rows + [_step(calls, name, record, step) for step in record["steps"]]
    finally:
        calls.delete(sent)


def _read(calls: Calls, name: str, record: Raw, version: str) -> Row:
    """Reading the object, which is a conversion where it was not stored in that version."""
    sent, expected = record["create"], comparable(record[f"read-{version}"])
    row = _objects(f"{name} read-{version}", calls.read(sent, version).body, expected, sent)
    if row[1] != "differing" or version == pipeline.HUB:
        return row
    if sent["kind"] == "Metal3ClusterTemplate":
        return row[0], "registered", objects.CLUSTER_TEMPLATE
    hub = comparable(calls.read(sent, pipeline.HUB).body)
    for form in (expected, {**expected, "status": {}}):  # a server may drop an empty status
        verdict, detail = vectors_conversion.judge(hub, version, form)
        if verdict == "registered":
            return row[0], verdict, detail
    return row


def _step(calls: Calls, name: str, record: Raw, step: Raw) -> Row:
    version = str(step["apiVersion"]).rpartition("/")[2]
    read = calls.read(record["create"], version).body
    sent = vectors_rewrites.carried_over(record[f"read-{version}"], step["sent"], read)
    answer = calls.put(sent, step["subresource"] or "", dryRun="All")
    case = f"{name} {step['name']}"
    if _edits_checksum(sent, read) and step["code"] == 422 and answer.accepted:
        return case, "registered", vectors_rewrites.CHECKSUM
    reasons: set[str] = set()
    if step["code"] < 300 and answer.accepted:
        reasons = objects.differences(comparable(answer.body), comparable(step["result"]), comparable(sent))
    return _verdict(case, step["code"], answer, sent, read, reasons)


def _verdict(case: str, code: int, answer: Answer, sent: Raw, old: Raw | None, reasons: set[str]) -> Row:
    if (code < 300) != answer.accepted:
        stricter = _stricter(pipeline.admit(sent, old))
        if code < 300 and stricter:
            return case, "registered", stricter
        return case, "differing", f"recorded {code}, now {answer.code} {answer.message}"
    unknown = sorted(reason for reason in reasons if reason.startswith("?"))
    if unknown:
        return case, "differing", "; ".join(unknown)
    return case, "registered" if reasons else "agreed", "; ".join(sorted(reasons))


def _edits_checksum(sent: Raw, read: Raw) -> bool:
    """The Go program forgets such an edit of a v1beta1 object, and then misses the checksum."""
    where = ("spec", "template", "spec") if str(sent.get("kind")).endswith("Template") else ("spec",)
    left, right = (_checksum(obj, where) for obj in (sent, read))
    return bool(left != right and str(sent.get("apiVersion")).endswith("/v1beta1"))


def _checksum(obj: Raw, where: tuple[str, ...]) -> Any:
    return at(obj, *where, "image", "checksum")
