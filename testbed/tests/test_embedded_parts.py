"""The small languages of the embedded server: ages, JSONPath, strategic patches, paths, rules, protobuf, CRD checks."""

from __future__ import annotations

import contextlib
import datetime
from typing import Any

import pytest
from capm3_managers.ports import ApiError
from capm3_testbed.embedded import crds, jsonpath, protobuf, strategic, tables, webhook_rules
from capm3_testbed.embedded.routes import Target, parse
from capm3_testbed.semantics.cases import WIDGET
from capm3_testbed.semantics.widget import crd

_NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (192, "3m12s"),
        (600, "10m"),
        (10800, "3h"),
        (12000, "3h20m"),
        (100000, "27h"),
        (180000, "2d2h"),
        (864000, "10d"),
        (80000000, "2y"),
        (-5, "<invalid>"),
    ],
)
def test_ages_are_written_as_kubectl_does(seconds: int, text: str) -> None:
    assert tables.age((_NOW - datetime.timedelta(seconds=seconds)).isoformat(), _NOW) == text


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".a.b", [1]),
        (".none", []),
        (".list[0].v", ["x"]),
        (".list[-1].v", ["y"]),
        (".list[*].v", ["x", "y"]),
        ('.list[?(@.t=="B")].v', ["y"]),
        (".list[?(@.t!='B')].v", ["x"]),
        (r".notes.a\.b/c", ["z"]),
        (".notes['a.b/c']", ["z"]),
        (".a.b.c", []),
        ("nonsense", []),
    ],
)
def test_printer_columns_are_found(path: str, found: list[Any]) -> None:
    obj = {"a": {"b": 1}, "list": [{"t": "A", "v": "x"}, {"t": "B", "v": "y"}], "notes": {"a.b/c": "z"}}
    assert jsonpath.find(path, obj) == found


@pytest.mark.parametrize(
    ("patch", "result"),
    [
        ({"data": {"b": None, "c": "3"}}, {"data": {"a": "1", "c": "3"}}),
        (
            {"conditions": [{"type": "A", "status": "False"}]},
            {"conditions": [{"type": "A", "status": "False", "x": 1}]},
        ),
        ({"conditions": [{"type": "A", "$patch": "delete"}]}, {"conditions": []}),
        ({"conditions": [{"type": "B"}]}, {"conditions": [{"type": "A", "status": "True", "x": 1}, {"type": "B"}]}),
        ({"conditions": [{"$patch": "replace"}, {"type": "C"}]}, {"conditions": [{"type": "C"}]}),
        ({"finalizers": ["g"]}, {"finalizers": ["f", "g"]}),
        ({"$deleteFromPrimitiveList/finalizers": ["f"]}, {"finalizers": []}),
        ({"data": {"$patch": "replace", "z": "1"}}, {"data": {"z": "1"}}),
        ({"args": [3]}, {"args": [3]}),
    ],
)
def test_strategic_patches_merge_lists_by_key(patch: dict[str, Any], result: dict[str, Any]) -> None:
    base: dict[str, Any] = {
        "data": {"a": "1", "b": "2"},
        "conditions": [{"type": "A", "status": "True", "x": 1}],
        "finalizers": ["f"],
        "args": [1, 2],
    }
    assert strategic.apply(base, patch) == {**base, **result}


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/api/v1/nodes/n", Target("", "v1", "nodes", "", "n")),
        ("/api/v1/namespaces/ns", Target("", "v1", "namespaces", "", "ns")),
        ("/api/v1/namespaces/ns/status", Target("", "v1", "namespaces", "", "ns", "status")),
        ("/api/v1/namespaces/ns/secrets", Target("", "v1", "secrets", "ns")),
        ("/apis/g/v1/namespaces/ns/things/x/status", Target("g", "v1", "things", "ns", "x", "status")),
        ("/apis/g/v1/things", Target("g", "v1", "things")),
        ("/apis/g/v1", None),
        ("/api/v1", None),
        ("/version", None),
        ("/apis/g/v1/a/b/c/d", None),
    ],
)
def test_paths_are_read(path: str, target: Target | None) -> None:
    assert parse(path) == target


@pytest.mark.parametrize(
    ("rule", "subresource", "fits"),
    [
        ({}, "", True),
        ({"operations": ["UPDATE"]}, "", False),
        ({"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}, "", True),
        ({"apiVersions": ["v9"]}, "", False),
        ({}, "status", False),
        ({"resources": ["widgets/status"]}, "status", True),
        ({"resources": ["widgets/*"]}, "status", True),
        ({"resources": ["*/*"]}, "status", True),
        ({"scope": "Cluster"}, "", False),
    ],
)
def test_webhook_rules_fit(rule: dict[str, Any], subresource: str, fits: bool) -> None:
    base = {"apiGroups": [WIDGET.group], "apiVersions": ["v1"], "resources": ["widgets"], "operations": ["CREATE"]}
    assert webhook_rules.fits({**base, **rule}, WIDGET, subresource, "CREATE") is fits


def test_a_protobuf_secret_is_read() -> None:
    # What kubectl 1.37 sends for `create secret generic x --from-literal=a=b` in namespace default.
    meta = b"\x0a\x01x\x12\x00\x1a\x07default\x22\x00\x2a\x00\x32\x00\x38\x00\x42\x00"
    entry = b"\x0a\x01a\x12\x01b"
    secret = b"\x0a" + bytes([len(meta)]) + meta + b"\x12" + bytes([len(entry)]) + entry + b"\x1a\x06Opaque"
    types = b"\x0a\x02v1\x12\x06Secret"
    body = b"k8s\x00\x0a" + bytes([len(types)]) + types + b"\x12" + bytes([len(secret)]) + secret + b"\x1a\x00\x22\x00"
    assert protobuf.decode(body) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "x", "namespace": "default"},
        "data": {"a": "Yg=="},
        "type": "Opaque",
    }
    with pytest.raises(ApiError) as refused:
        protobuf.decode(body.replace(b"Secret", b"Binary"))
    assert refused.value.status == 415


def test_a_broken_protobuf_body_is_refused_and_never_a_crash() -> None:
    body = b"k8s\x00\x0a\x0c\x0a\x02v1\x12\x06Secret\x12\x05\x0a\x03\x0a\x01x"
    assert protobuf.decode(body)["metadata"] == {"name": "x"}
    for cut in range(len(body)):
        for broken in (body[:cut], body[:cut] + b"\xff" + body[cut + 1 :]):
            with contextlib.suppress(ApiError):
                protobuf.decode(broken)
    with pytest.raises(ApiError, match="can't be read"):
        protobuf.decode(body[:-1])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda body: body["spec"].pop("group"), "spec.group"),
        (lambda body: body["spec"]["versions"][0].update(storage=False), "spec.versions"),
        (lambda body: body["spec"]["versions"][0].pop("schema"), "spec.versions[0].schema.openAPIV3Schema"),
        (lambda body: body["metadata"].update(name="other"), "metadata.name"),
    ],
)
def test_a_crd_that_could_not_be_served_is_refused_by_field(change: Any, field: str) -> None:
    body = crd()
    change(body)
    assert field in [cause.field for cause in crds.problems(body)]


def test_versions_are_preferred_as_kubernetes_does() -> None:
    versions = ["v1alpha1", "foo", "v2", "v1beta1", "v10", "v1beta2", "v1"]
    assert sorted(versions, key=crds.version_rank) == ["v10", "v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "foo"]
