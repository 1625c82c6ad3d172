"""What an API server with the CRDs and the webhooks installed would do with an object.

Apart from the webhook, which is one part of that road: ``capm3 validate`` and the comparison with the recorded answers
need the whole of it, without a cluster: prune, default, convert, mutate, check the schema, convert, apply the rules.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from capm3_api import conversion, defaults, kinds, schema, schema_meta, schema_types, schemas
from capm3_api.model import Raw
from capm3_api.validation import errors, rules
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import at

HUB = "v1beta2"
_OURS = {kind.kind for kind in kinds.OURS}


@dataclasses.dataclass(frozen=True)
class Admitted:
    """The answer to one create or update.

    Args:
        obj: the object as it would be stored, in the version it was sent in.
        errors: why it is refused; empty when it is accepted.
        stage: where it was refused: ``version``, ``schema``, ``conversion``, ``rules``; ``""`` when accepted.
        warnings: what the client is told in any case.
        dropped: paths of the fields that the schema does not have, which are silently lost.
    """

    obj: Raw
    errors: tuple[FieldError, ...] = ()
    stage: str = ""
    warnings: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def is_ours(obj: Raw) -> bool:
    """Whether the object is of one of the nine kinds (in any version)."""
    return group(obj) == kinds.INFRASTRUCTURE and obj.get("kind") in _OURS


def group(obj: Raw) -> str:
    return str(obj.get("apiVersion") or "").rpartition("/")[0]


def admit(obj: Raw, old: Raw | None = None, *, dry_run: bool = False, status: bool = False) -> Admitted:
    """Judges a create or an update of an object whose CRD ships with the package.

    Args:
        obj: the object as sent, namespace included.
        old: the stored object in the same version.
        dry_run: whether the request asks for a dry run.
        status: it is an update of the status subresource, which the webhooks are not asked about.
    """
    api_version, kind = str(obj.get("apiVersion") or ""), str(obj.get("kind") or "")
    shape = schemas.of(api_version, kind)
    if shape is None:
        return Admitted(obj, (_no_version(api_version, kind),), "version")
    wrong = schema_types.wrong(schema_types.OBJECT_META, obj.get("metadata"), "metadata")
    if wrong:
        return Admitted(obj, tuple(wrong), "schema")
    pruned, dropped = schema.prune(shape, obj)
    whole = {**(old or {}), "status": pruned.get("status")} if status else _with_stored_status(pruned, old)
    sent = schema.default(shape, whole)
    answer = Admitted(sent, warnings=_deprecated(api_version, kind), dropped=tuple(dropped))
    if is_ours(obj) and not status:
        try:
            answer = dataclasses.replace(answer, obj=_mutated(sent, shape))
        except conversion.ConversionError as problem:
            found = schema_meta.validate(sent) + schema.validate(shape, sent, old)
            return _refused(answer, found, "schema") if found else _unconvertible(answer, problem)
    found = schema_meta.validate(answer.obj) + schema.validate(shape, answer.obj, old)
    if found:
        return _refused(answer, found, "schema")
    return _judged(answer, old, dry_run) if is_ours(obj) and not status else answer


def _with_stored_status(obj: Raw, old: Raw | None) -> Raw:
    """A create or update of the object itself can't write ``status`` where that is a subresource."""
    if not schemas.has_status(str(obj.get("apiVersion")), str(obj.get("kind"))):
        return obj
    body = {key: value for key, value in obj.items() if key != "status"}
    return {**body, "status": old["status"]} if old is not None and "status" in old else body


def _judged(answer: Admitted, old: Raw | None, dry_run: bool) -> Admitted:
    try:
        new_hub = hub(answer.obj)
        old_hub = hub(old) if old is not None else None
    except conversion.ConversionError as problem:
        return _unconvertible(answer, problem)
    shape = schemas.of(str(new_hub.get("apiVersion")), str(new_hub.get("kind")))
    wrong = schema_types.wrong(shape, new_hub)
    if wrong:
        return _refused(answer, wrong, "conversion")
    warned = dataclasses.replace(answer, warnings=(*answer.warnings, *rules.warnings(new_hub, old_hub)))
    return _refused(warned, rules.validate(new_hub, old_hub, dry_run=dry_run), "rules")


def _refused(answer: Admitted, found: list[FieldError], stage: str) -> Admitted:
    return dataclasses.replace(answer, errors=tuple(found), stage=stage) if found else answer


def _unconvertible(answer: Admitted, problem: conversion.ConversionError) -> Admitted:
    value = answer.obj.get("kind")
    if problem.path:
        keys = re.findall(r"\[([^\]]*)\]|([^.\[\]]+)", problem.path)
        value = at(answer.obj, *(inner or name for inner, name in keys))
    return _refused(answer, [errors.invalid(problem.path, value, problem.message)], "conversion")


def hub(obj: Raw) -> Raw:
    """The object in the version that the webhooks see."""
    return at_version(obj, HUB)


def stored_and_read(obj: Raw) -> Raw:
    """The object as a client gets it back in its version: it went to the stored version and came from there."""
    read = _decoded(hub(obj))
    version = str(obj.get("apiVersion")).rpartition("/")[2]
    return read if version == HUB else _decoded(at_version(read, version))


def at_version(obj: Raw, version: str) -> Raw:
    """The object in another version, as the conversion webhook gives it."""
    now = str(obj.get("apiVersion")).rpartition("/")[2]
    return obj if now == version else conversion.convert(obj, to=version)


def _decoded(obj: Raw) -> Raw:
    """What the API server makes of an object that a webhook converted, or that it reads from its store."""
    shape = schemas.of(str(obj.get("apiVersion")), str(obj.get("kind")))
    return obj if shape is None else schema.default(shape, schema.prune(shape, obj)[0])


def _mutated(sent: Raw, shape: Mapping[str, Any]) -> Raw:
    """After the mutating webhook, back in the version it was sent in."""
    if sent.get("kind") not in defaults.DEFAULTERS:
        return sent
    before = hub(sent)
    after = defaults.default(before)
    if after == before:
        return sent
    return schema.default(shape, at_version(after, str(sent.get("apiVersion")).rpartition("/")[2]))


def _no_version(api_version: str, kind: str) -> FieldError:
    crd = schemas.crd_of(api_version, kind)
    served = [entry["name"] for entry in crd["spec"]["versions"] if entry.get("served")] if crd else []
    hint = f": it is served in {', '.join(served)}" if served else ""
    return FieldError("apiVersion", errors.INVALID, f'no matches for kind "{kind}" in version "{api_version}"{hint}')


def _deprecated(api_version: str, kind: str) -> tuple[str, ...]:
    """The warning that the API server gives for a version that is marked as deprecated."""
    crd = schemas.crd_of(api_version, kind)
    name, version = api_version.rpartition("/")[::2]
    for entry in crd["spec"]["versions"] if crd else []:
        if entry["name"] == version and entry.get("deprecated"):
            text = f"{api_version} {kind} is deprecated; use {name}/{HUB} {kind}"
            return (entry.get("deprecationWarning") or text,)
    return ()
