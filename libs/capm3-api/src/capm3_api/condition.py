"""Conditions in both forms: ``status.conditions`` and the older ones under ``status.deprecated.v1beta1.conditions``.

Pure functions from raw object to raw object; order, times and summaries are those of Cluster API's helpers (behaviour
facts on CAPM3, sections 4.0.4 and 4.0.5), so that objects stay the same when the Go program hands over to this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from capm3_api.model import Raw

_FIRST = ("Available", "Ready")
_LAST = ("Paused", "Deleting")
_LEGACY = ("status", "deprecated", "v1beta1", "conditions")


def get(obj: Mapping[str, Any], type_: str) -> Raw | None:
    """The condition of that type in ``status.conditions``."""
    return _find(_items(obj, ("status", "conditions")), type_)


def get_legacy(obj: Mapping[str, Any], type_: str) -> Raw | None:
    """The condition of that type in the older place."""
    return _find(_items(obj, _LEGACY), type_)


def is_true(obj: Mapping[str, Any], type_: str) -> bool:
    return (get(obj, type_) or {}).get("status") == "True"


def is_true_legacy(obj: Mapping[str, Any], type_: str) -> bool:
    return (get_legacy(obj, type_) or {}).get("status") == "True"


def set_condition(obj: Raw, type_: str, status: str, reason: str, message: str = "", *, now: str) -> Raw:
    """The object with the condition set; ``lastTransitionTime`` moves only when the status does.

    Args:
        now: RFC 3339, whole seconds.
    """
    items = _items(obj, ("status", "conditions"))
    old = _find(items, type_)
    new: Raw = {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message[:32768],
        "lastTransitionTime": now,
    }
    generation = (obj.get("metadata") or {}).get("generation")
    if generation is not None:
        new["observedGeneration"] = generation
    if old is not None and old.get("status") == status and old.get("lastTransitionTime"):
        new["lastTransitionTime"] = old["lastTransitionTime"]
    merged = _merged(items, old, new)
    merged.sort(key=lambda item: _rank(str(item.get("type", "")), _FIRST, _LAST))
    return _put(obj, ("status", "conditions"), merged)


def set_legacy(  # noqa: PLR0913 (the five fields of the wire form)
    obj: Raw, type_: str, status: str, reason: str = "", severity: str = "", message: str = "", *, now: str
) -> Raw:
    """The object with the older condition set; a true one carries neither reason, severity nor message."""
    items = _items(obj, _LEGACY)
    old = _find(items, type_)
    new: Raw = {"type": type_, "status": status, "lastTransitionTime": now}
    if status != "True":
        extra = {"reason": reason, "severity": severity, "message": message[:10240]}
        new.update({name: value for name, value in extra.items() if value})
    if old is not None and _same(old, new) and old.get("lastTransitionTime"):
        new["lastTransitionTime"] = old["lastTransitionTime"]
    merged = _merged(items, old, new)
    merged.sort(key=lambda item: _rank(str(item.get("type", "")), ("Ready",), ()))
    return _put(obj, _LEGACY, merged)


def remove(obj: Raw, type_: str) -> Raw:
    """The object without that condition in ``status.conditions``."""
    items = _items(obj, ("status", "conditions"))
    if _find(items, type_) is None:
        return obj
    return _put(obj, ("status", "conditions"), [item for item in items if item.get("type") != type_])


def summarise(obj: Raw, types: Sequence[str], *, now: str) -> Raw:
    """Sets Ready from the listed types: any False wins, then Unknown (a missing one counts so), then True."""
    found = [get(obj, type_) or _not_reported(type_) for type_ in types]
    states = [item.get("status") for item in found]
    if "False" in states:
        status, reason = "False", "NotReady"
    elif any(state != "True" for state in states):
        status, reason = "Unknown", "ReadyUnknown"
    else:
        status, reason = "True", "Ready"
    lines = [_line(item) for item in found if _told(item, ready=status == "True")]
    return set_condition(obj, "Ready", status, reason, "\n".join(lines), now=now)


def summarise_legacy(obj: Raw, types: Sequence[str], *, now: str) -> Raw:
    """Sets the older Ready from the listed types that exist; none: nothing is written."""
    found = [item for item in (get_legacy(obj, type_) for type_ in types) if item is not None]
    if not found:
        return obj
    top = min(found, key=_legacy_rank)
    status, severity = str(top.get("status")), str(top.get("severity") or "")
    if status == "True":
        return set_legacy(obj, "Ready", "True", now=now)
    reason, message = str(top.get("reason") or ""), str(top.get("message") or "")
    return set_legacy(obj, "Ready", status, reason, severity, message, now=now)


def _legacy_rank(item: Raw) -> int:
    if item.get("status") == "False":
        return {"Error": 0, "Warning": 1}.get(str(item.get("severity") or ""), 2)
    return 3 if item.get("status") == "True" else 4


def _told(item: Raw, *, ready: bool) -> bool:
    return item.get("status") != "True" or (ready and bool(item.get("message")))


def _not_reported(type_: str) -> Raw:
    return {"type": type_, "status": "Unknown", "reason": "NotYetReported", "message": "Condition not yet reported"}


def _line(item: Raw) -> str:
    text = str(item.get("message") or item.get("reason") or "")
    if "\n" not in text:
        return f"* {item['type']}: {text}"
    inner = [line if line.lstrip().startswith("* ") else f"* {line}" for line in text.split("\n")]
    return "\n".join([f"* {item['type']}:", *(f"  {line}" for line in inner)])


def _same(old: Raw, new: Raw) -> bool:
    return all((old.get(name) or "") == (new.get(name) or "") for name in ("status", "reason", "severity", "message"))


def _merged(items: list[Raw], old: Raw | None, new: Raw) -> list[Raw]:
    """Replaces `old`; fields that this code does not know stay in it."""
    if old is None:
        return [*items, new]
    ours = {"type", "status", "reason", "severity", "message", "lastTransitionTime", "observedGeneration"}
    kept = {name: value for name, value in old.items() if name not in ours}
    return [{**new, **kept} if item is old else item for item in items]


def _rank(type_: str, first: tuple[str, ...], last: tuple[str, ...]) -> tuple[int, str]:
    if type_ in first:
        return first.index(type_) - len(first), ""
    if type_ in last:
        return last.index(type_) + 1, ""
    return 0, type_


def _items(obj: Mapping[str, Any], path: tuple[str, ...]) -> list[Raw]:
    here: Any = obj
    for part in path:
        here = here.get(part) if isinstance(here, Mapping) else None
    return [item for item in here if isinstance(item, dict)] if isinstance(here, list) else []


def _find(items: list[Raw], type_: str) -> Raw | None:
    return next((item for item in items if item.get("type") == type_), None)


def _put(obj: Raw, path: tuple[str, ...], value: Any) -> Raw:
    head, *rest = path
    inner = obj.get(head) if isinstance(obj.get(head), dict) else {}
    return {**obj, head: _put(inner or {}, tuple(rest), value) if rest else value}
