"""Compares reading an object in one version and putting it back, edited or not, with what a real API server did.

Apart from the comparison of single requests: each step here starts from an object that was stored before. The edit of a
step is carried over to the object that ours would have answered, since clients put back what they have read.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

from capm3_api import schema, schemas
from capm3_api.model import Raw
from capm3_api.testing import objects
from capm3_api.validation import pipeline
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import at

Row = tuple[str, str, str]
FILE = "api-read-modify-write.json"
CHECKSUM = "an edit of image.checksum in v1beta1 is kept"
_ABSENT: Any = object()


def compare(folder: pathlib.Path) -> list[Row]:
    """A row for each create and each step of the file; none when the folder lacks it."""
    file = folder / FILE
    if not file.exists():
        return []
    rows: list[Row] = []
    for record in json.loads(file.read_text(encoding="utf-8")):
        rows += _record(record)
    return rows


def _record(record: Raw) -> list[Row]:
    name = f"read-modify-write/{record['name']}"
    created = pipeline.admit(record["create"])
    row = _verdict(f"{name} create", record["created"]["code"] < 300, created.errors, set())
    if row[1] == "differing" or not record["steps"]:
        return [row]
    stored = pipeline.hub(_with_status(created.obj, record))
    return [row, *(_step(name, record, step, stored) for step in record["steps"])]


def _with_status(obj: Raw, record: Raw) -> Raw:
    """The object with the status that the recording had patched in, in the object's own version."""
    read = record.get(f"read-{str(obj['apiVersion']).rpartition('/')[2]}") or {}
    return {**obj, "status": read["status"]} if "statusPatched" in record and "status" in read else obj


def _step(name: str, record: Raw, step: Raw, stored: Raw) -> Row:
    version = str(step["apiVersion"]).rpartition("/")[2]
    ours_read = _read(stored, str(step["apiVersion"]))
    sent = carried_over(record[f"read-{version}"], step["sent"], ours_read)
    answer = pipeline.admit(sent, ours_read, status=step["subresource"] == "status")
    reasons: set[str] = set()
    if _edits_checksum(sent, ours_read) and step["code"] == 422 and not answer.errors:
        return f"{name} {step['name']}", "registered", CHECKSUM
    if step["code"] < 300 and not answer.errors:
        returned = pipeline.stored_and_read(answer.obj)
        reasons = objects.differences(_comparable(returned), _comparable(step["result"]), sent)
    return _verdict(f"{name} {step['name']}", step["code"] < 300, answer.errors, reasons)


def _edits_checksum(sent: Raw, read: Raw) -> bool:
    """The Go program forgets such an edit, and then misses the checksum."""
    where = ("spec", "template", "spec") if str(sent.get("kind")).endswith("Template") else ("spec",)
    left, right = (at(obj, *where, "image", "checksum") for obj in (sent, read))
    return left != right and str(sent.get("apiVersion")).endswith("/v1beta1")


def _read(stored: Raw, api_version: str) -> Raw:
    """The stored object as a client reads it in a version."""
    there = pipeline.at_version(stored, api_version.rpartition("/")[2])
    shape = schemas.of(api_version, str(stored.get("kind")))
    return there if shape is None else schema.default(shape, schema.prune(shape, there)[0])


def _comparable(obj: Raw) -> Raw:
    """Without what only a server can put there."""
    own = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")
    metadata = {key: value for key, value in (obj.get("metadata") or {}).items() if key not in own}
    return {**obj, "metadata": metadata}


def carried_over(base: Any, edited: Any, other: Any) -> Any:
    """`other` with the edit that makes `edited` of `base`."""
    if base == edited:
        return other
    if isinstance(base, dict) and isinstance(edited, dict) and isinstance(other, dict):
        found = {
            key: carried_over(base.get(key, _ABSENT), edited.get(key, _ABSENT), other.get(key, _ABSENT))
            for key in [*other, *(key for key in edited if key not in other)]
        }
        return {key: value for key, value in found.items() if value is not _ABSENT}
    return edited


def _verdict(name: str, allowed: bool, found: tuple[FieldError, ...], reasons: set[str]) -> Row:
    unknown = sorted(reason for reason in reasons if reason.startswith("?"))
    if allowed != (not found):
        rules = {error.rule for error in found}
        if allowed and "" not in rules:
            return name, "registered", f"stricter rules: {', '.join(sorted(rules))}"
        return name, "differing", f"theirs allowed={allowed}, ours {'; '.join(error.text() for error in found)}"
    if unknown:
        return name, "differing", "; ".join(unknown)
    return name, "registered" if reasons else "agreed", "; ".join(sorted(reasons))
