"""Scalars of a manifest mean what they mean to kubectl, and a value in the wrong quotes is named with its mend."""

from __future__ import annotations

import pathlib

import pytest
from capm3_api.commands import documents, hints, validate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("08", 8),
        ("0777", 511),
        ("0o17", 15),
        ("0X1F", 31),
        ("1_000.5", 1000.5),
        ("_1", "_1"),
        ("1:30", "1:30"),
        ("2001-01-01", "2001-01-01"),
        ("02:00:00:00:00:01", "02:00:00:00:00:01"),
        ("525400123456", 525400123456),
        ("5254e012345", "5254e012345"),
        ("1e500", "1e500"),
        ("18446744073709551616", 18446744073709551616.0),
        ("y", True),
        ("Off", False),
        ("tRue", "tRue"),
        ("'08'", "08"),
        ("~", None),
    ],
)
def test_a_scalar_is_read_as_the_go_library_behind_kubectl_reads_it(text: str, value: object) -> None:
    (document,) = documents.of_text("f.yaml", f"a: {text}\n")
    assert repr(document.raw["a"]) == repr(value)


CLUSTER = """\
apiVersion: infrastructure.cluster.x-k8s.io/{version}
kind: Metal3Cluster
metadata: {{name: a, namespace: {namespace}}}
spec:
  cloudProviderEnabled: "yes"
  controlPlaneEndpoint:
    host: h
    port: "6443"
"""
REMEDIATION = """\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3RemediationTemplate
metadata: {name: a, namespace: ns1}
spec:
  template:
    spec:
      strategy: {type: Reboot, retryLimit: 1, timeout: soon}
"""


def findings(tmp_path: pathlib.Path, text: str) -> dict[str, tuple[int, str]]:
    file = tmp_path / "f.yaml"
    file.write_text(text)
    (result,) = validate.check([str(file)])
    return {found.path: (found.line, found.hint) for found in result.findings if found.severity == "error"}


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_numbers_and_booleans_in_quotes_are_named_with_line_and_mend(tmp_path: pathlib.Path, version: str) -> None:
    assert findings(tmp_path, CLUSTER.format(version=version, namespace="ns1")) == {
        "spec.cloudProviderEnabled": (5, "write it without quotes: true"),
        "spec.controlPlaneEndpoint.port": (8, "write it without quotes: 6443"),
    }


def test_a_namespace_that_yaml_reads_as_a_boolean_is_not_replaced_by_the_default(tmp_path: pathlib.Path) -> None:
    found = findings(tmp_path, CLUSTER.format(version="v1beta2", namespace="n"))
    assert list(found) == ["metadata.namespace"] and "put it in quotes" in found["metadata.namespace"][1]


def test_a_value_that_does_not_convert_is_named_by_its_path(tmp_path: pathlib.Path) -> None:
    path = "spec.template.spec.strategy.timeout"
    assert findings(tmp_path, REMEDIATION) == {path: (7, "a duration has units: 300s, 5m or 1h30m0s")}


def test_only_a_value_that_would_fit_without_quotes_is_told_so() -> None:
    error = validate.FieldError("a", "FieldValueTypeInvalid", "must be of type integer")
    assert hints.for_error({"a": "ten"}, error) == "" and hints.for_error({"a": [1]}, error) == ""


def test_a_folder_stands_for_the_manifests_in_it(tmp_path: pathlib.Path) -> None:
    for name in ("b.yml", "a.yaml", "c.json", "notes.txt"):
        (tmp_path / name).write_text('{"kind": "A"}')
    assert [document.file for document in documents.read([str(tmp_path)])] == [
        str(tmp_path / name) for name in ("a.yaml", "b.yml", "c.json")
    ]
    (tmp_path / "empty").mkdir()
    with pytest.raises(documents.Unreadable, match=r"without a \.yaml"):
        list(documents.read([str(tmp_path / "empty")]))


@pytest.mark.parametrize("kind", ["List", "Metal3MachineList"])
def test_the_items_of_a_list_are_documents_on_their_own_lines(kind: str) -> None:
    text = f"kind: {kind}\nitems:\n- kind: A\n  spec:\n    x: 1\n- 5\n- {{kind: B}}\n"
    found = list(documents.of_text("f.yaml", text))
    assert [(item.line, item.raw.get("kind"), item.problem) for item in found] == [
        (3, "A", ""),
        (6, None, "is no object"),
        (7, "B", ""),
    ]
    assert found[0].line_of("spec.x") == 5


def test_aliases_are_followed_but_not_without_end() -> None:
    (good,) = documents.of_text("f.yaml", "a: &a {x: [1, 2]}\nb: {<<: *a, y: 3}\nc: *a\n")
    assert good.raw == {"a": {"x": [1, 2]}, "b": {"x": [1, 2], "y": 3}, "c": {"x": [1, 2]}}
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (bad,) = documents.of_text("f.yaml", "\n".join(lines))
    assert "endless aliases" in bad.problem


def test_a_tab_is_named() -> None:
    with pytest.raises(documents.Unreadable, match="a tab, perhaps"):
        list(documents.of_text("f.yaml", "a:\n\tb: 1\n"))


def test_a_relative_image_url_is_told_how_to_be_written(tmp_path: pathlib.Path) -> None:
    text = CLUSTER.format(version="v1beta2", namespace="ns1").partition("spec:")[0].replace("Cluster", "Machine")
    found = findings(tmp_path, f"{text}spec: {{image: {{url: os.qcow2}}}}\n")
    assert "http://<server>" in found["spec.image.url"][1]
