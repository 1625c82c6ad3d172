"""What somebody wrote into an object and does not read again.

Apart from equality, because a server may add defaults and its own fields.
"""

from __future__ import annotations


def lost(sent: object, read: object, path: str = "spec") -> list[str]:
    """Paths below `path` at which `read` does not hold what was sent, with both values."""
    if isinstance(sent, dict) and isinstance(read, dict):
        return [bad for key, value in sent.items() for bad in lost(value, read.get(key), f"{path}.{key}")]
    if isinstance(sent, list) and isinstance(read, list) and len(sent) == len(read):
        pairs = enumerate(zip(sent, read, strict=True))
        return [bad for index, (left, right) in pairs for bad in lost(left, right, f"{path}[{index}]")]
    return [] if sent == read else [f"{path}: {sent!r} became {read!r}"]
