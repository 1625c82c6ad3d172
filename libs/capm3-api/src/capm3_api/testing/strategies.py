"""Hypothesis strategies: objects that are valid by the schema of their CRD, with every field now and then.

Apart from the builders, which give one plain object each. Texts with a pattern come from examples by pattern, since
most patterns describe addresses; a pattern without examples is matched by hypothesis itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from capm3_api import crdgen, markers
from capm3_api.model import Raw

EXAMPLES_VARIABLE = "CAPM3_EXAMPLES"

_V4 = ["192.0.2.1", "0.0.0.0", "198.51.100.255"]
_V6 = ["2001:db8::1", "::", "fe80::a:b:c:d"]
_BY_PATTERN: Mapping[str, list[str]] = {
    markers.ADDRESS_V4: _V4,
    markers.ADDRESS_V6: _V6,
    markers.ADDRESS: [*_V4, *_V6],
    markers.INTERFACE: ["eth0", "bond0.100", "A-b_c"],
    markers.DNS1123: ["pool-a", "ipam.metal3.io", "a"],
    markers.KIND: ["IPPool", "GlobalPool"],
    markers.REASON: ["Ready", "NotReady", "A"],
    markers.CONDITION_TYPE: ["Ready", "Paused", "example.com/Type", "AssociateBMH"],
}
_DURATIONS = ["5m0s", "5m", "100s", "1500ms", "1h30m", "0s", "-90s", "0", "100.9s"]
_WORDS = ["", "a", "b-1", "x/y.z", "true", "0", "null", " ", "é\u2028", '"{}', "0123456789ab"]
_TEXT = st.sampled_from(_WORDS)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
    max_leaves=4,
)
_LABELS = st.dictionaries(
    st.sampled_from(["a", "b.example.com/c"]), st.sampled_from(["", "1", "x"]), min_size=1, max_size=2
)


def examples(default: int = 100) -> int:
    """How many examples a property is tried with: ``CAPM3_EXAMPLES``, or `default`."""
    return int(os.environ.get(EXAMPLES_VARIABLE, default))


def objects(kind: str, version: str) -> st.SearchStrategy[Raw]:
    """Objects of one of the nine kinds that its CRD accepts."""
    crd = crdgen.load(kind)
    schema = next(item for item in crd["spec"]["versions"] if item["name"] == version)["schema"]["openAPIV3Schema"]
    body = {name: node for name, node in schema["properties"].items() if name in ("spec", "status")}
    parts = _object({"properties": body, "required": schema.get("required", [])})
    metadata = st.fixed_dictionaries(
        {"name": st.just("thing"), "namespace": st.just("site-a")},
        optional={
            "labels": _LABELS,
            "annotations": _LABELS,
            "finalizers": st.just(["example.com/finalizer"]),
            "ownerReferences": st.just([{"apiVersion": "v1", "kind": "Thing", "name": "owner", "uid": "u"}]),
        },
    )
    api_version = f"{crd['spec']['group']}/{version}"
    return st.builds(
        lambda rest, meta: {"apiVersion": api_version, "kind": kind, "metadata": meta, **rest}, parts, metadata
    )


def values(node: Mapping[str, Any], name: str = "") -> st.SearchStrategy[Any]:
    """Values that a schema node accepts.

    Args:
        name: of the field, for texts whose form the schema does not tell.
    """
    if node.get("x-kubernetes-preserve-unknown-fields"):
        return st.dictionaries(_TEXT, _JSON, max_size=2) if node.get("type") == "object" else _JSON
    if "enum" in node:
        return st.sampled_from(node["enum"])
    if node.get("x-kubernetes-int-or-string"):
        return st.integers(0, 9) | st.sampled_from(["1", "10%"])
    if node["type"] == "string":
        return _string(node, name)
    return _MAKERS[node["type"]](node)


def _object(node: Mapping[str, Any]) -> st.SearchStrategy[Raw]:
    if "additionalProperties" in node:
        return st.dictionaries(
            st.sampled_from(["a", "b", "c-1", "d.e/f"]), values(node["additionalProperties"]), max_size=3
        )
    fields = {name: values(child, name) for name, child in node["properties"].items()}
    required = set(node.get("required", []))
    result = st.fixed_dictionaries(
        {name: fields[name] for name in fields if name in required},
        optional={name: fields[name] for name in fields if name not in required},
    )
    return result.filter(bool) if node.get("minProperties") else result


def _array(node: Mapping[str, Any]) -> st.SearchStrategy[list[Any]]:
    low = node.get("minItems", 0)
    high = min(node.get("maxItems", low + 3), low + 3)
    keys = node.get("x-kubernetes-list-map-keys")
    if keys:
        return st.lists(
            values(node["items"]), min_size=low, max_size=high, unique_by=lambda item: tuple(item.get(k) for k in keys)
        )
    unique = node.get("x-kubernetes-list-type") == "set"
    return st.lists(values(node["items"]), min_size=low, max_size=high, unique=unique)


def _integer(node: Mapping[str, Any]) -> st.SearchStrategy[int]:
    low, high = node.get("minimum", -5), node.get("maximum", 2**31 - 1)
    edges = {low, min(low + 1, high), min(max(low, 0), high), high}
    return st.sampled_from(sorted(edges)) | st.integers(low, min(high, low + 10000))


def _string(node: Mapping[str, Any], name: str) -> st.SearchStrategy[str]:
    if name == "timeout":
        return st.sampled_from(_DURATIONS)
    if node.get("format") == "date-time":
        return st.sampled_from(["2026-01-01T00:00:00Z", "2026-03-04T05:06:07Z"])
    if node.get("format") == "uri":
        return st.sampled_from(["http://images.example.com/a.qcow2", "oci://registry.example.com/a:1"])
    if "pattern" in node:
        found = _BY_PATTERN.get(node["pattern"])
        return st.sampled_from(found) if found else st.from_regex(node["pattern"], fullmatch=True)
    low = node.get("minLength", 0)
    return st.sampled_from([word for word in _WORDS if len(word) >= low])


_MAKERS: Mapping[str, Callable[[Mapping[str, Any]], st.SearchStrategy[Any]]] = {
    "object": _object,
    "array": _array,
    "integer": _integer,
    "boolean": lambda node: st.booleans(),
    "number": lambda node: st.sampled_from([0, 2400, 2400.5]),
}
