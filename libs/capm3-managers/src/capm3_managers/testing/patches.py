"""JSON patches (RFC 6902). Merge patches are `capm3_managers.diff`, which managers use too.

Apart because only servers apply this form: nothing of ours sends it, but users and other controllers do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from capm3_api.model import Raw

from capm3_managers.testing import world_errors
from capm3_managers.testing.world_errors import Cause
from capm3_managers.testing.world_types import copied

_REJECTED = "the server rejected our request due to an error in our request"


class _Missing(Exception):
    """A pointer leads nowhere."""


def apply(obj: Raw, operations: Sequence[Mapping[str, Any]]) -> Raw:
    """`obj` with all operations applied; the argument is left alone.

    Raises:
        ApiError: 422 for a path that leads nowhere, a failed ``test``, or what is no operation.
    """
    result: Any = copied(obj)
    for number, operation in enumerate(operations):
        name = operation.get("op")
        act = _OPERATIONS.get(name) if isinstance(name, str) else None
        if act is None or not isinstance(operation.get("path"), str):
            cause = Cause("UnexpectedServerResponse", "", f"operation {number} is malformed")
            raise world_errors.StatusError(422, "Invalid", _REJECTED, [cause])
        try:
            result = act(result, operation)
        except (_Missing, ValueError, KeyError) as error:
            cause = Cause("UnexpectedServerResponse", "", f"operation {number} ({name}): {error}")
            raise world_errors.StatusError(422, "Invalid", _REJECTED, [cause]) from None
    if not isinstance(result, dict):
        raise world_errors.bad_request("the JSON patch leaves no object")
    return result


def _parts(pointer: str) -> list[str]:
    if pointer == "":
        return []
    if not pointer.startswith("/"):
        raise _Missing(f"{pointer!r} is no JSON pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def _index(items: list[Any], part: str, *, insert: bool = False) -> int:
    if insert and part == "-":
        return len(items)
    limit = len(items) + 1 if insert else len(items)
    if not part.isdigit() or int(part) >= limit:
        raise _Missing(f"index {part!r} is outside the list")
    return int(part)


def _step(here: Any, part: str) -> Any:
    if isinstance(here, list):
        return here[_index(here, part)]
    if isinstance(here, dict) and part in here:
        return here[part]
    raise _Missing(f"path component {part!r} is missing")


def _get(root: Any, pointer: str) -> Any:
    for part in _parts(pointer):
        root = _step(root, part)
    return root


def _put(root: Any, pointer: str, value: Any, *, insert: bool) -> Any:
    """Sets the value at the pointer; `insert` adds to lists (``add``) instead of overwriting (``replace``)."""
    parts = _parts(pointer)
    if not parts:
        return value
    parent = root
    for part in parts[:-1]:
        parent = _step(parent, part)
    if isinstance(parent, list) and insert:
        parent.insert(_index(parent, parts[-1], insert=True), value)
    elif isinstance(parent, list):
        parent[_index(parent, parts[-1])] = value
    elif isinstance(parent, dict):
        if not insert:
            _step(parent, parts[-1])
        parent[parts[-1]] = value
    else:
        raise _Missing(f"path component {parts[-1]!r} has no container")
    return root


def _cut(root: Any, pointer: str) -> Any:
    parts = _parts(pointer)
    if not parts:
        raise _Missing("the whole object can't be removed")
    parent = root
    for part in parts[:-1]:
        parent = _step(parent, part)
    _step(parent, parts[-1])
    if isinstance(parent, list):
        del parent[_index(parent, parts[-1])]
    else:
        del parent[parts[-1]]
    return root


def _test(root: Any, operation: Mapping[str, Any]) -> Any:
    wanted = operation.get("value")
    try:
        found = _get(root, operation["path"])
    except _Missing:
        if wanted is None:
            return root
        raise
    if found != wanted or isinstance(found, bool) is not isinstance(wanted, bool):
        raise _Missing(f"testing value {operation['path']} failed: test failed")
    return root


def _move(root: Any, operation: Mapping[str, Any]) -> Any:
    value = _get(root, operation["from"])
    return _put(_cut(root, operation["from"]), operation["path"], value, insert=True)


def _copy(root: Any, operation: Mapping[str, Any]) -> Any:
    """As the real server's library has it, a field that is missing from an object there is copies ``null``."""
    *parents, last = _parts(operation["from"])
    value = root
    for part in parents:
        value = _step(value, part)
    value = value.get(last) if isinstance(value, dict) else _step(value, last)
    return _put(root, operation["path"], copied(value), insert=True)


_OPERATIONS: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "add": lambda root, op: _put(root, op["path"], copied(op["value"]), insert=True),
    "replace": lambda root, op: _put(root, op["path"], copied(op["value"]), insert=False),
    "remove": lambda root, op: _cut(root, op["path"]),
    "copy": _copy,
    "move": _move,
    "test": _test,
}
