"""What is wrong with an object's metadata, field by field, in the words of the real server.

Apart from `world_rules`, which sets metadata: this refuses, and its causes go into one answer with those of the schema.
"""

from __future__ import annotations

import re
from typing import Any

from capm3_api.model import Raw

from capm3_managers.testing.world_errors import Cause
from capm3_managers.testing.world_types import Definition, metadata_of

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
_KEY_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_KEY_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)


def causes(definition: Definition, obj: Raw, old: Raw | None) -> list[Cause]:
    """Everything that a real server would refuse; empty when there is nothing."""
    metadata = metadata_of(obj)
    name = metadata.get("name") or ""
    found = _name_causes(name) + _map_causes(metadata) + _owner_causes(metadata)
    if old is not None:
        found += _finalizer_causes(metadata, metadata_of(old))
    if definition.kind.namespaced and not metadata.get("namespace"):
        found.append(Cause("FieldValueRequired", "metadata.namespace", "Required value"))
    return found


def _name_causes(name: str) -> list[Cause]:
    if not name:
        return [Cause("FieldValueRequired", "metadata.name", "Required value: name or generateName is required")]
    # Names of RBAC objects and of nodes may hold a colon; the path segment rule is all they share.
    if _SUBDOMAIN.fullmatch(name.replace(":", "-")) and len(name) <= 253:
        return []
    return [Cause("FieldValueInvalid", "metadata.name", f'Invalid value: "{name}": {_SUBDOMAIN_TEXT}')]


def _map_causes(metadata: Raw) -> list[Cause]:
    found = []
    for field in ("labels", "annotations"):
        for key, value in (metadata.get(field) or {}).items():
            if not _is_key(key):
                found.append(Cause("FieldValueInvalid", f"metadata.{field}", f'Invalid value: "{key}": {_KEY_TEXT}'))
            if not isinstance(value, str):
                found.append(Cause("FieldValueInvalid", f"metadata.{field}.{key}", "Invalid value: must be a string"))
            elif field == "labels" and (len(value) > 63 or not _LABEL_VALUE.fullmatch(value)):
                found.append(Cause("FieldValueInvalid", "metadata.labels", f'Invalid value: "{value}": {_LABEL_TEXT}'))
    return found


def _is_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not (_SUBDOMAIN.fullmatch(prefix.lower()) and len(prefix) <= 253):
        return False
    return len(name) <= 63 and bool(_KEY_NAME.fullmatch(name))


def _owner_causes(metadata: Raw) -> list[Cause]:
    found: list[Cause] = []
    owners: list[Any] = metadata.get("ownerReferences") or []
    for owner in owners:
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                path = f"metadata.ownerReferences.{field}"
                found.append(Cause("FieldValueInvalid", path, 'Invalid value: "": must not be empty'))
    if sum(bool(owner.get("controller")) for owner in owners) > 1:
        text = "Invalid value: Only one reference can have Controller set to true"
        found.append(Cause("FieldValueInvalid", "metadata.ownerReferences", text))
    return found


def _finalizer_causes(metadata: Raw, before: Raw) -> list[Cause]:
    """While an object is being deleted, finalizers may only go."""
    if not before.get("deletionTimestamp"):
        return []
    extra = [name for name in metadata.get("finalizers") or [] if name not in (before.get("finalizers") or [])]
    if not extra:
        return []
    text = f"Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers {extra}"
    return [Cause("FieldValueForbidden", "metadata.finalizers", text)]
