"""The JSON patch that turns one object into another, as a mutating webhook must answer it.

Apart from the review, because it knows nothing of webhooks. Lists are replaced whole: no defaulter of ours edits one.
"""

from __future__ import annotations

from typing import Any

Operation = dict[str, Any]


def diff(before: Any, after: Any, path: str = "") -> list[Operation]:
    """Operations in a fixed order (by key); empty when both are equal."""
    if isinstance(before, dict) and isinstance(after, dict):
        found: list[Operation] = []
        for key in sorted(before.keys() | after.keys()):
            inner = f"{path}/{escape(key)}"
            if key not in after:
                found.append({"op": "remove", "path": inner})
            elif key not in before:
                found.append({"op": "add", "path": inner, "value": after[key]})
            else:
                found += diff(before[key], after[key], inner)
        return found
    return [] if before == after else [{"op": "replace", "path": path, "value": after}]


def escape(key: str) -> str:
    """A key as a segment of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
