"""Reads the protobuf bodies that kubectl sends for some core kinds (``kubectl create secret``); answers are always JSON.

Apart from `messages`, because it is a decoder with tables of field numbers (Kubernetes' ``generated.proto`` files). Only
what kubectl makes by itself is here; any other kind is refused with 415.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from capm3_api.model import Raw
from capm3_managers.testing import world_errors

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5

# Field number -> (JSON name, type). Types: str, bool, int, bytes (to base64), raw; {...} a message; "[]" before it: repeated;
# "map str" and "map bytes".
_Fields = Mapping[int, tuple[str, Any]]
_OWNER: _Fields = {
    1: ("kind", "str"),
    3: ("name", "str"),
    4: ("uid", "str"),
    5: ("apiVersion", "str"),
    6: ("controller", "bool"),
    7: ("blockOwnerDeletion", "bool"),
}
_META: _Fields = {
    1: ("name", "str"),
    2: ("generateName", "str"),
    3: ("namespace", "str"),
    5: ("uid", "str"),
    6: ("resourceVersion", "str"),
    11: ("labels", "map str"),
    12: ("annotations", "map str"),
    13: ("ownerReferences", ("[]", _OWNER)),
    14: ("finalizers", ("[]", "str")),
}
_SECRET: _Fields = {
    1: ("metadata", _META),
    2: ("data", "map bytes"),
    3: ("type", "str"),
    4: ("stringData", "map str"),
    5: ("immutable", "bool"),
}
_CONFIG_MAP: _Fields = {
    1: ("metadata", _META),
    2: ("data", "map str"),
    3: ("binaryData", "map bytes"),
    4: ("immutable", "bool"),
}
_NAMESPACE: _Fields = {1: ("metadata", _META), 2: ("spec", {1: ("finalizers", ("[]", "str"))})}
_PRECONDITIONS: _Fields = {1: ("uid", "str"), 2: ("resourceVersion", "str")}
_DELETE_OPTIONS: _Fields = {
    1: ("gracePeriodSeconds", "int"),
    2: ("preconditions", _PRECONDITIONS),
    3: ("orphanDependents", "bool"),
    4: ("propagationPolicy", "str"),
    5: ("dryRun", ("[]", "str")),
}
_KINDS: Mapping[str, _Fields] = {
    "Secret": _SECRET,
    "ConfigMap": _CONFIG_MAP,
    "Namespace": _NAMESPACE,
    "ServiceAccount": {1: ("metadata", _META)},
    "DeleteOptions": _DELETE_OPTIONS,
    "SelfSubjectAccessReview": {1: ("metadata", _META)},
    "SelfSubjectReview": {1: ("metadata", _META)},
}


_ENVELOPE: _Fields = {1: ("type", {1: ("apiVersion", "str"), 2: ("kind", "str")}), 2: ("raw", "raw")}


def decode(body: bytes) -> Raw:
    """The object in a protobuf body.

    Raises:
        ApiError: 415, no table here has its kind; 400, it is no such body.
    """
    if not body.startswith(_MAGIC):
        raise world_errors.bad_request("the body is no Kubernetes protobuf")
    try:
        envelope = _message(body[len(_MAGIC) :], _ENVELOPE)
        names = envelope.get("type") or {}
        fields = _KINDS.get(names.get("kind") or "")
        if fields is None:
            text = f"{names.get('kind')} in protobuf is not read by the embedded API server: send application/json"
            raise world_errors.StatusError(415, "UnsupportedMediaType", text)
        return {**names, **_message(envelope.get("raw") or b"", fields)}
    except (IndexError, KeyError, UnicodeDecodeError) as error:
        raise world_errors.bad_request(f"the protobuf body can't be read: {type(error).__name__}") from None


def _message(data: bytes, fields: _Fields) -> Raw:
    found: Raw = {}
    for number, value in _entries(data):
        if number not in fields:
            continue
        name, type_ = fields[number]
        if isinstance(type_, tuple):
            found.setdefault(name, []).append(_value(value, type_[1]))
        elif isinstance(type_, str) and type_.startswith("map "):
            entry = _message(value, {1: ("key", "str"), 2: ("value", type_[4:])})
            found.setdefault(name, {})[entry.get("key", "")] = entry.get("value", "")
        else:
            found[name] = _value(value, type_)
    return {name: value for name, value in found.items() if value not in ("", {})}


def _value(value: Any, type_: Any) -> Any:
    if isinstance(type_, dict):
        return _message(value, type_)
    if type_ == "str":
        return value.decode()
    if type_ == "bytes":
        return base64.b64encode(value).decode()
    return bool(value) if type_ == "bool" else value


def _entries(data: bytes) -> Iterator[tuple[int, Any]]:
    """(field number, value): an int for numbers, bytes for the rest."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        wire = tag & 7
        if wire == _VARINT:
            value, position = _varint(data, position)
            yield tag >> 3, value
            continue
        size, position = _varint(data, position) if wire == _LENGTH else ({_FIXED64: 8, _FIXED32: 4}[wire], position)
        if position + size > len(data):
            raise IndexError
        yield tag >> 3, data[position : position + size]
        position += size


def _varint(data: bytes, position: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, position
        shift += 7
