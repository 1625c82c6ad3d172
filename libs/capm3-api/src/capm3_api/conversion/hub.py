"""Converts a whole object: its shape, its metadata and the data that the other version cannot hold.

Apart from the shapes, which lose what has no place in the other version. Nothing may be lost for a user, so the object
is kept in an annotation: ``cluster.x-k8s.io/conversion-data`` on v1beta1, in the form of the Go program, and
`OLD_DATA` on v1beta2, where the Go program keeps nothing. It is written only where something is lost (on v1beta1 also
where the Go program writes it always) and taken away on the way back; an edit made in between wins over it.
"""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from capm3_api import kinds, meta, names, schema_types, schemas, v1beta1, v1beta2
from capm3_api.conversion import (
    machinery,
    merge,
    metal3cluster,
    metal3data,
    metal3datatemplate,
    metal3machine,
    metal3remediation,
    tidy,
)
from capm3_api.conversion.machinery import ConversionError, Shape, Way
from capm3_api.model import Raw

DATA = names.CONVERSION_DATA_ANNOTATION
OLD_DATA = "capm3.metal3.io/v1beta1-data"
OLD, NEW = "v1beta1", "v1beta2"
_NOTHING: tuple[Any, ...] = (None, "", [], {})
"""What in object metadata means the same as nothing, and is not written by anybody who decodes it."""


@dataclasses.dataclass(frozen=True)
class Spoke:
    """How one kind is converted.

    Args:
        always: v1beta1 always carries the preserved data, as in Go; a broken annotation is then an error.
        present: parts that the preserved data always have.
    """

    shape: Shape
    always: bool = False
    present: tuple[str, ...] = ("spec", "status")


SPOKES: Mapping[str, Spoke] = {
    "Metal3Cluster": Spoke(metal3cluster.CLUSTER, always=True),
    "Metal3ClusterTemplate": Spoke(metal3cluster.CLUSTER_TEMPLATE, always=True, present=()),
    "Metal3Machine": Spoke(metal3machine.MACHINE, always=True),
    "Metal3MachineTemplate": Spoke(metal3machine.MACHINE_TEMPLATE, always=True, present=()),
    "Metal3DataTemplate": Spoke(metal3datatemplate.DATA_TEMPLATE),
    "Metal3Data": Spoke(metal3data.DATA),
    "Metal3DataClaim": Spoke(metal3data.DATA_CLAIM),
    "Metal3Remediation": Spoke(metal3remediation.REMEDIATION),
    "Metal3RemediationTemplate": Spoke(metal3remediation.REMEDIATION_TEMPLATE),
}


def convert(obj: Mapping[str, Any], to: str) -> Raw:
    """The object in the other version; the given one is not changed.

    Args:
        obj: an object of one of the nine kinds, as JSON.
        to: ``v1beta1`` or ``v1beta2``, with or without the group. The version it has already gives a copy.

    Raises:
        ConversionError: no such kind or version, or a value of a wrong type; names object and field.
    """
    kind = str(obj.get("kind") or "")
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    target = to.removeprefix(f"{kinds.INFRASTRUCTURE}/")
    subject = f"{kind} {meta.key_of(obj) if isinstance(obj.get('metadata') or {}, dict) else ''}".strip()
    if target not in (OLD, NEW) or version not in (OLD, NEW) or group != kinds.INFRASTRUCTURE or kind not in SPOKES:
        known = "apiVersion" if kind in SPOKES else "kind"
        raise ConversionError(f'no conversion of kind "{kind}" from {group}/{version} to {to}', known, subject)
    if version == target:
        return copy.deepcopy(dict(obj))
    try:
        _check_types(version, kind, obj)
        return _up(obj, kind) if target == NEW else _down(obj, kind)
    except ConversionError as error:
        raise ConversionError(error.message, error.path, subject) from None


def _check_types(version: str, kind: str, body: Mapping[str, Any]) -> None:
    """Raises `ConversionError` at the first value of another JSON type than its field has, as a typed decoder does."""
    wrong = schema_types.wrong(schemas.of(f"{kinds.INFRASTRUCTURE}/{version}", kind), _body(body))
    if wrong:
        wanted = wrong[0].message.rpartition(" ")[2]
        raise ConversionError(f"must be {machinery.WORDS.get(wanted, wanted)}", wrong[0].path)


def plain(obj: Mapping[str, Any], way: Way) -> Raw:
    """Spec and status in the other version, without looking at or writing preserved data."""
    return SPOKES[str(obj["kind"])].shape.convert(_body(obj), way)


def _up(obj: Mapping[str, Any], kind: str) -> Raw:
    spoke = SPOKES[kind]
    body = spoke.shape.convert(_body(obj), "up")
    metadata, annotations = _metadata(obj)
    _drop_carried(annotations, OLD_DATA, OLD, kind)
    preserved = _preserved(annotations, spoke, kind)
    if preserved is not None:
        body = _restored(spoke.shape, "up", body, preserved)
        del annotations[DATA]
    back = spoke.shape.convert(body, "down")
    model = v1beta1.KINDS[kind]
    loses = tidy.tidy(model, back, soft=True) != tidy.tidy(model, _body(obj), soft=True)
    if loses or _forgets_empty(_body(obj).get("spec"), back.get("spec")):
        annotations[OLD_DATA] = _dumped(OLD, kind, _body(obj))
    return _whole(NEW, kind, metadata, annotations, body)


def _forgets_empty(written: Any, back: Any) -> bool:
    """Whether an empty list or object, a zero or a false that somebody wrote would not be read again.

    It means nothing, but an applier that does not find it applies it for ever, and counts the generation up each time.
    """
    if isinstance(written, dict) and written:
        inner = back if isinstance(back, dict) else {}
        return any(_forgets_empty(value, inner.get(key)) for key, value in written.items())
    if isinstance(written, list) and written:
        if not isinstance(back, list) or len(back) != len(written):
            return False
        return any(_forgets_empty(*pair) for pair in zip(written, back, strict=True))
    return back is None and written is not None and written != ""


def _down(obj: Mapping[str, Any], kind: str) -> Raw:
    spoke = SPOKES[kind]
    body = spoke.shape.convert(_body(obj), "down")
    metadata, annotations = _metadata(obj)
    _drop_carried(annotations, DATA, NEW, kind)
    old = _old_data(annotations, spoke.shape, kind)
    if old is not None:
        body = _restored(spoke.shape, "down", body, old)
        del annotations[OLD_DATA]
    kept = _form(kind, spoke, _body(obj))
    if spoke.always or _loses(spoke, kind, body, _body(obj)):
        annotations[DATA] = _dumped(NEW, kind, kept)
    return _whole(OLD, kind, metadata, annotations, body)


def _loses(spoke: Spoke, kind: str, body: Raw, original: Raw) -> bool:
    model = v1beta2.KINDS[kind]
    return tidy.tidy(model, spoke.shape.convert(body, "up")) != tidy.tidy(model, original)


def _restored(shape: Shape, way: Way, body: Raw, preserved: Raw) -> Raw:
    """`body`, just converted in the direction `way`, with the preserved object put back into it."""
    other: Way = "down" if way == "up" else "up"
    base = shape.convert(shape.convert(preserved, other), way)
    result: Raw = merge.merge(base, body, preserved)
    return result


def _preserved(annotations: Mapping[str, str], spoke: Spoke, kind: str) -> Raw | None:
    """The v1beta2 object that v1beta1 carries.

    Where the Go program writes none, only one that says it is of this kind counts; anything else is the user's.
    """
    text = annotations.get(DATA)
    if text is None:
        return None
    where = f"metadata.annotations[{DATA}]"
    try:
        found = json.loads(text)
        found = {} if found is None and spoke.always else found
        if not isinstance(found, dict):
            raise ConversionError("is not the JSON of an object")
        if not (spoke.always or _is_of(found, NEW, kind)):
            return None
        _check_types(NEW, kind, found)
        kept = _form(kind, spoke, _body(found))
        spoke.shape.convert(kept, "down")
    except (ValueError, RecursionError) as error:
        if not spoke.always:
            return None
        inner = error if isinstance(error, ConversionError) else ConversionError("is not JSON")
        raise inner.inside(where) from None
    return kept


def _old_data(annotations: Mapping[str, str], shape: Shape, kind: str) -> Raw | None:
    """The v1beta1 object that v1beta2 carries; one that cannot be read counts as none and stays."""
    text = annotations.get(OLD_DATA)
    if text is None:
        return None
    try:
        found = json.loads(text)
        if not isinstance(found, dict) or not _is_of(found, OLD, kind):
            return None
        shape.convert(_body(found), "up")
    except (ValueError, RecursionError):
        return None
    return _body(found)


def _drop_carried(annotations: dict[str, str], key: str, version: str, kind: str) -> None:
    """Takes away preserved data on the wrong side of a conversion.

    The Go program carries annotations along that it does not know; after a time under it they say what once was.
    """
    try:
        found = json.loads(annotations.get(key, "null"))
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict) and _is_of(found, version, kind):
        del annotations[key]


def _is_of(data: Mapping[str, Any], version: str, kind: str) -> bool:
    return data.get("kind") == kind and data.get("apiVersion") == f"{kinds.INFRASTRUCTURE}/{version}"


def _form(kind: str, spoke: Spoke, body: Raw) -> Raw:
    """The preserved object in the form of the Go program."""
    tidied = tidy.tidy(v1beta2.KINDS[kind], body, known_only=True)
    return {**{part: {} for part in spoke.present}, **tidied}


def _dumped(version: str, kind: str, body: Raw) -> str:
    whole = {"apiVersion": f"{kinds.INFRASTRUCTURE}/{version}", "kind": kind, **body}
    return json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _body(obj: Mapping[str, Any]) -> Raw:
    return {key: value for key, value in obj.items() if key not in ("apiVersion", "kind", "metadata")}


def _metadata(obj: Mapping[str, Any]) -> tuple[Raw, dict[str, str]]:
    metadata = obj.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise ConversionError("must be an object", "metadata")
    annotations = metadata.get("annotations") or {}
    if not isinstance(annotations, dict) or not all(isinstance(value, str) for value in annotations.values()):
        raise ConversionError("must be an object of strings", "metadata.annotations")
    rest = {key: value for key, value in metadata.items() if key != "annotations" and value not in _NOTHING}
    return copy.deepcopy(rest), dict(annotations)


def _whole(version: str, kind: str, metadata: Raw, annotations: dict[str, str], body: Raw) -> Raw:
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": f"{kinds.INFRASTRUCTURE}/{version}", "kind": kind, "metadata": metadata, **body}
