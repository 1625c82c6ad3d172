"""What an API server makes of the metadata, spec and status that a client sends: pure functions, old and new in, new out.

Apart from storage and locks, so that each rule can be read and tested beside the Kubernetes rule it copies
(registry/rest `BeforeCreate`, `BeforeUpdate`, and the strategy of custom resources).
"""

from __future__ import annotations

import dataclasses
import json

from capm3_api.model import Raw

from capm3_managers.testing import world_errors
from capm3_managers.testing.world_errors import Cause
from capm3_managers.testing.world_types import Definition, Request, alike, metadata_of

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
    """A new object with its server-set metadata; its status is dropped where a subresource keeps it."""
    metadata = _tidy(metadata_of(obj))
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
    return result


def prepare_update(definition: Definition, old: Raw, new: Raw, request: Request) -> Raw:
    """The new object with everything that this request may not change taken from the old one.

    Raises:
        ApiError: 409, it was made from another version or object; 422 or 400, it changes what can't change.
    """
    check_preconditions(definition, old, new, request)
    if request.subresource == "status":
        merged = {key: value for key, value in old.items() if key != "status"}
        if "status" in new:
            merged["status"] = new["status"]
        return merged
    metadata = _tidy({key: value for key, value in metadata_of(new).items() if key not in _SERVER_FIELDS})
    before = metadata_of(old)
    metadata.update({name: before[name] for name in (*_SERVER_FIELDS, "resourceVersion") if name in before})
    metadata.update({name: before[name] for name in ("name", "namespace") if name in before})
    result = {**new, "metadata": metadata}
    if definition.status:
        result.pop("status", None)
        if "status" in old:
            result["status"] = old["status"]
    if definition.generation and not alike(spec_of(definition, result), spec_of(definition, old)):
        metadata["generation"] = (before.get("generation") or 0) + 1
    return result


def _tidy(metadata: Raw) -> Raw:
    """Metadata as the server writes it: nothing empty, no nulls among labels and annotations."""
    result = {key: value for key, value in metadata.items() if value is not None}
    for name in ("labels", "annotations"):
        if isinstance(result.get(name), dict):
            result[name] = {key: "" if value is None else value for key, value in result[name].items()}
    for name in ("finalizers", "ownerReferences", "labels", "annotations"):
        if not result.get(name):
            result.pop(name, None)
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
    return alike(_unversioned(left), _unversioned(right))


def _unversioned(obj: Raw) -> Raw:
    metadata = {key: value for key, value in metadata_of(obj).items() if key != "resourceVersion"}
    return {**obj, "metadata": metadata}
