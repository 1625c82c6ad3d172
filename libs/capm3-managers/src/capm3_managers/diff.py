"""The smallest JSON merge patch (RFC 7386) that turns one object into another, and its application.

Pure and apart from the executor, because drafts, the executor, `testing.World` and tests all need the same two functions.
"""

from __future__ import annotations

from typing import Any

from capm3_api.model import Raw


def merge_patch(observed: Any, wanted: Any) -> Raw:
    """The patch from `observed` to `wanted`; ``{}`` when they are equal. Lists are replaced whole, as the RFC has it."""
    patch: Raw = {}
    for key, value in wanted.items():
        if key not in observed:
            patch[key] = value
        elif isinstance(value, dict) and isinstance(observed[key], dict):
            inner = merge_patch(observed[key], value)
            if inner:
                patch[key] = inner
        elif value != observed[key] or type(value) is not type(observed[key]):
            patch[key] = value
    for key in observed:
        if key not in wanted:
            patch[key] = None
    return patch


def apply(target: Any, patch: Any) -> Any:
    """`target` with the merge patch applied; neither argument is changed, and the result shares nothing with the patch."""
    if not isinstance(patch, dict):
        return _copy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = apply(result.get(key), value)
    return result


def _copy(value: Any) -> Any:
    """A copy of JSON; it has no cycles, for which `copy.deepcopy` keeps books."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def has_list(patch: Any) -> bool:
    """Whether a patch replaces a list, so that it must name the version it was made from."""
    if isinstance(patch, dict):
        return any(has_list(value) for value in patch.values())
    return isinstance(patch, list)
