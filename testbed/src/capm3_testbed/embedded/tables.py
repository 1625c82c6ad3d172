"""Answers as ``Table`` and ``PartialObjectMetadata``, which kubectl and metadata-only clients ask for.

Apart from reading, because the same object is shown in three forms, in lists and in watches.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from capm3_api.model import Raw
from capm3_managers.testing.world_types import metadata_of

from capm3_testbed.embedded import jsonpath
from capm3_testbed.embedded.registry import Served

_META = "meta.k8s.io/v1"
_AGES = (  # below so many seconds: the unit, and the smaller unit shown beside it (0: none)
    (120, 1, "s", 0, ""),
    (600, 60, "m", 1, "s"),
    (10800, 60, "m", 0, ""),
    (28800, 3600, "h", 60, "m"),
    (172800, 3600, "h", 0, ""),
    (691200, 86400, "d", 3600, "h"),
    (63072000, 86400, "d", 0, ""),
)


def form(accept: str) -> str:
    """``Table``, ``PartialObjectMetadata``, ``PartialObjectMetadataList`` or ``""``: the first the client accepts."""
    for choice in accept.split(","):
        parameters = dict(part.strip().partition("=")[::2] for part in choice.split(";")[1:])
        if parameters.get("as") and parameters.get("v", "v1") == "v1":
            return parameters["as"]
        if not parameters.get("as") and "json" in choice:
            return ""
    return ""


def shown(obj: Raw, served: Served, as_form: str, query: Mapping[str, str]) -> Raw:
    """One object in the asked form."""
    if as_form == "Table":
        return table([obj], served, query, {"resourceVersion": metadata_of(obj).get("resourceVersion", "")})
    return _partial(obj) if as_form.startswith("PartialObjectMetadata") else obj


def shown_list(items: Sequence[Raw], served: Served, as_form: str, query: Mapping[str, str], metadata: Raw) -> Raw:
    """A list in the asked form."""
    if as_form == "Table":
        return table(items, served, query, metadata)
    if as_form.startswith("PartialObjectMetadata"):
        rows = [_partial(obj) for obj in items]
        return {"kind": "PartialObjectMetadataList", "apiVersion": _META, "metadata": metadata, "items": rows}
    kind = served.kind
    return {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": metadata, "items": list(items)}


def table(items: Sequence[Raw], served: Served, query: Mapping[str, str], metadata: Raw) -> Raw:
    """A ``Table``: a name column, then the resource's own."""
    now = datetime.datetime.now(datetime.UTC)
    include = query.get("includeObject") or "Metadata"
    return {
        "kind": "Table",
        "apiVersion": _META,
        "metadata": metadata,
        "columnDefinitions": [_definition("Name", "string", "name"), *(_column(c) for c in served.columns)],
        "rows": [_row(obj, served, include, now) for obj in items],
    }


def age(since: str, now: datetime.datetime) -> str:
    """Time since an RFC 3339 time as kubectl writes it: ``45s``, ``3m12s``, ``4h``, ``2d``."""
    try:
        start = datetime.datetime.fromisoformat(since)
    except ValueError:
        return "<invalid>"
    seconds = int((now - start).total_seconds())
    if seconds < 0:
        return "0s" if seconds > -2 else "<invalid>"
    for limit, big, big_unit, small, small_unit in _AGES:
        if seconds < limit:
            return _two(seconds // big, big_unit, seconds % big // small if small else 0, small_unit)
    return f"{seconds // 31536000}y"


def _two(big: int, big_unit: str, small: int, small_unit: str) -> str:
    return f"{big}{big_unit}{small}{small_unit}" if small else f"{big}{big_unit}"


def _definition(name: str, type_: str, format_: str = "", description: str = "", priority: int = 0) -> Raw:
    return {"name": name, "type": type_, "format": format_, "description": description or name, "priority": priority}


def _column(column: Raw) -> Raw:
    return _definition(
        column["name"],
        column.get("type") or "string",
        column.get("format") or "",
        column.get("description") or "",
        column.get("priority") or 0,
    )


def _row(obj: Raw, served: Served, include: str, now: datetime.datetime) -> Raw:
    cells = [metadata_of(obj).get("name"), *(_cell(obj, column, now) for column in served.columns)]
    row: Raw = {"cells": cells}
    if include == "Metadata":
        row["object"] = _partial(obj)
    elif include == "Object":
        row["object"] = obj
    return row


def _cell(obj: Raw, column: Raw, now: datetime.datetime) -> Any:
    if column.get("compute"):
        return _COMPUTED[column["compute"]](obj)
    found = jsonpath.find(column.get("jsonPath") or "", obj)
    if not found:
        return None
    if column.get("type") == "date":
        return age(str(found[0]), now)
    if column.get("type") in ("integer", "number", "boolean"):
        return found[0]
    return ",".join(_text(value) for value in found)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value)


def _partial(obj: Raw) -> Raw:
    return {"kind": "PartialObjectMetadata", "apiVersion": _META, "metadata": metadata_of(obj)}


def _node_status(node: Raw) -> str:
    ready = jsonpath.find('.status.conditions[?(@.type=="Ready")].status', node)
    text = {"True": "Ready", "False": "NotReady"}.get(str(ready[0]) if ready else "", "Unknown")
    return f"{text},SchedulingDisabled" if (node.get("spec") or {}).get("unschedulable") else text


def _node_roles(node: Raw) -> str:
    prefix = "node-role.kubernetes.io/"
    roles = [name.removeprefix(prefix) for name in metadata_of(node).get("labels") or {} if name.startswith(prefix)]
    return ",".join(sorted(roles)) or "<none>"


def _node_address(node: Raw) -> str:
    found = jsonpath.find('.status.addresses[?(@.type=="InternalIP")].address', node)
    return str(found[0]) if found else "<none>"


def _event_object(event: Raw) -> str:
    about = event.get("involvedObject") or {}
    return f"{(about.get('kind') or '').lower()}/{about.get('name') or ''}"


_COMPUTED: Mapping[str, Callable[[Raw], Any]] = {
    "data": lambda obj: len(obj.get("data") or {}) + len(obj.get("binaryData") or {}),
    "webhooks": lambda obj: len(obj.get("webhooks") or []),
    "node_status": _node_status,
    "node_roles": _node_roles,
    "node_address": _node_address,
    "event_object": _event_object,
}
