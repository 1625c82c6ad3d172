"""What an API server makes of the metadata, spec and status that a client sends: pure functions, old and new in, new out.

Apart from storage and locks, so that each rule can be read and tested beside the Kubernetes rule it copies
(registry/rest `BeforeCreate`, `BeforeUpdate`, and the strategy of custom resources).
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

from capm3_api.model import Raw

from capm3_managers.testing import world_errors
from capm3_managers.testing.world_errors import Cause
from capm3_managers.testing.world_types import Definition, Request, metadata_of

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_LABEL_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_FIXED = ("uid", "deletionTimestamp", "deletionGracePeriodSeconds")
_IDENTITY = {
    "name": "the name of the object ({}) does not match the name on the URL ({})",
    "namespace": "the namespace of the provided object ({}) does not match the namespace sent on the request ({})",
}
_SERVER_FIELDS = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "selfLink",
)


@dataclasses.dataclass(frozen=True)
class Birth:
    """What the server gives a new object."""

    uid: str
    now: str
    suffix: str


def prepare_create(definition: Definition, obj: Raw, request: Request, birth: Birth) -> Raw:
    """A new object with its server-set metadata; its status is dropped where a subresource keeps it.

    Raises:
        ApiError: 422, the metadata breaks a rule; 500 (as the real server), a resourceVersion is set.
    """
    metadata = dict(metadata_of(obj))
    if metadata.get("resourceVersion"):
        raise world_errors.StatusError(500, "", "resourceVersion should not be set on objects to be created")
    for name in ("selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion"):
        metadata.pop(name, None)
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = f"{metadata['generateName'][:58]}{birth.suffix}"
    metadata.update(uid=birth.uid, creationTimestamp=birth.now)
    if definition.generation:
        metadata["generation"] = 1
    result = {**obj, "metadata": metadata}
    if definition.status and not definition.status_on_create:
        result.pop("status", None)
    check_metadata(definition, result, None, request)
    return result


def prepare_update(definition: Definition, old: Raw, new: Raw, request: Request) -> Raw:
    """The new object with everything that this request may not change taken from the old one.

    Raises:
        ApiError: 409, it was made from another version or object; 422, the metadata breaks a rule.
    """
    check_preconditions(definition, old, new, request)
    if request.subresource == "status":
        merged = {key: value for key, value in old.items() if key != "status"}
        if "status" in new:
            merged["status"] = new["status"]
        return merged
    metadata = {key: value for key, value in metadata_of(new).items() if key not in _SERVER_FIELDS}
    before = metadata_of(old)
    metadata.update({name: before[name] for name in (*_SERVER_FIELDS, "resourceVersion") if name in before})
    metadata.update({name: before[name] for name in ("name", "namespace") if name in before})
    for name in ("finalizers", "ownerReferences", "labels", "annotations"):
        if not metadata.get(name):
            metadata.pop(name, None)
    result = {**new, "metadata": metadata}
    if definition.status:
        result.pop("status", None)
        if "status" in old:
            result["status"] = old["status"]
    if definition.generation and spec_of(definition, result) != spec_of(definition, old):
        metadata["generation"] = (before.get("generation") or 0) + 1
    check_metadata(definition, result, old, request)
    return result


def check_preconditions(definition: Definition, old: Raw, new: Raw, request: Request) -> None:
    """Refuses a change made from another version or for another object than the stored one."""
    before, after = metadata_of(old), metadata_of(new)
    kind, name = request.kind, request.key.name
    _check_identity(before, after)
    if request.verb == "update" and after.get("uid") and after["uid"] != before.get("uid"):
        why = f"Precondition failed: UID in precondition: {after['uid']}, UID in object meta: {before.get('uid')}"
        raise world_errors.conflict(kind, name, why)
    version = after.get("resourceVersion")
    if version and version != before.get("resourceVersion"):
        raise world_errors.conflict(kind, name)
    if not version and request.verb == "update" and not definition.unconditional_update:
        cause = Cause(
            "FieldValueInvalid", "metadata.resourceVersion", "Invalid value: 0x0: must be specified for an update"
        )
        raise world_errors.invalid(kind, name, [cause])
    fixed = [field for field in _FIXED if after.get(field) and after[field] != before.get(field)]
    if before.get("deletionTimestamp"):
        fixed = [field for field in fixed if field == "uid"]
    if fixed:
        causes = [
            Cause(
                "FieldValueInvalid",
                f"metadata.{field}",
                f"Invalid value: {json.dumps(after[field])}: field is immutable",
            )
            for field in fixed
        ]
        raise world_errors.invalid(kind, name, causes)


def _check_identity(before: Raw, after: Raw) -> None:
    for field, text in _IDENTITY.items():
        if after.get(field) and after[field] != before.get(field):
            raise world_errors.bad_request(text.format(after[field], before.get(field)))


def spec_of(definition: Definition, obj: Raw) -> Raw:
    """The part of an object that its generation counts."""
    left = ("metadata", "status", "apiVersion") if definition.status else ("metadata", "apiVersion")
    return {key: value for key, value in obj.items() if key not in left}


def same(left: Raw, right: Raw) -> bool:
    """Whether writing `right` over `left` would change nothing."""
    return _unversioned(left) == _unversioned(right)


def _unversioned(obj: Raw) -> Raw:
    metadata = {key: value for key, value in metadata_of(obj).items() if key != "resourceVersion"}
    return {**obj, "metadata": metadata}


def check_metadata(definition: Definition, obj: Raw, old: Raw | None, request: Request) -> None:
    """Refuses metadata that a real server refuses, naming every field."""
    metadata = metadata_of(obj)
    name = metadata.get("name") or ""
    causes = _name_causes(name) + _map_causes(metadata) + _owner_causes(metadata)
    if old is not None:
        causes += _finalizer_causes(metadata, metadata_of(old))
    if definition.kind.namespaced and not metadata.get("namespace"):
        causes.append(Cause("FieldValueRequired", "metadata.namespace", "Required value"))
    if causes:
        raise world_errors.invalid(request.kind, name, causes)


def _name_causes(name: str) -> list[Cause]:
    if not name:
        return [Cause("FieldValueRequired", "metadata.name", "Required value: name or generateName is required")]
    # Names of RBAC objects and of nodes may hold a colon; the path segment rule is all they share.
    if _SUBDOMAIN.fullmatch(name.replace(":", "-")) and len(name) <= 253:
        return []
    return [Cause("FieldValueInvalid", "metadata.name", f'Invalid value: "{name}": {_SUBDOMAIN_TEXT}')]


def _map_causes(metadata: Raw) -> list[Cause]:
    causes = []
    for field in ("labels", "annotations"):
        for key, value in (metadata.get(field) or {}).items():
            if not isinstance(value, str):
                causes.append(Cause("FieldValueInvalid", f"metadata.{field}.{key}", "Invalid value: must be a string"))
            elif field == "labels" and (len(value) > 63 or not _LABEL_VALUE.fullmatch(value)):
                causes.append(Cause("FieldValueInvalid", "metadata.labels", f'Invalid value: "{value}": {_LABEL_TEXT}'))
    return causes


def _owner_causes(metadata: Raw) -> list[Cause]:
    causes: list[Cause] = []
    owners: list[Any] = metadata.get("ownerReferences") or []
    for owner in owners:
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                path = f"metadata.ownerReferences.{field}"
                causes.append(Cause("FieldValueInvalid", path, 'Invalid value: "": must not be empty'))
    if sum(bool(owner.get("controller")) for owner in owners) > 1:
        text = "Invalid value: Only one reference can have Controller set to true"
        causes.append(Cause("FieldValueInvalid", "metadata.ownerReferences", text))
    return causes


def _finalizer_causes(metadata: Raw, before: Raw) -> list[Cause]:
    """While an object is being deleted, finalizers may only go."""
    if not before.get("deletionTimestamp"):
        return []
    extra = [name for name in metadata.get("finalizers") or [] if name not in (before.get("finalizers") or [])]
    if not extra:
        return []
    text = f"Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers {extra}"
    return [Cause("FieldValueForbidden", "metadata.finalizers", text)]
