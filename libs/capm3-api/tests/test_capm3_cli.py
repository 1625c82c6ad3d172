"""The program ``capm3``: its frame, and ``validate``, ``convert`` and ``crds`` on files of real people."""

from __future__ import annotations

import importlib.metadata
import io
import json
import pathlib
import re
import sys

import pytest
import yaml
from capm3_api import cli, conversion, schemas
from capm3_api.commands import convert, documents, validate

DATA = pathlib.Path(__file__).parent / "data"
REALWORLD = DATA / "realworld"
VERDICTS = yaml.safe_load((REALWORLD / "verdicts.yaml").read_text())
V1BETA1 = "infrastructure.cluster.x-k8s.io/v1beta1"

MACHINE = """\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: Metal3Machine
metadata:
  name: m
  namespace: lab
spec:
  dataTemplate:
    name: t
  hostSelector:
    matchLabels:
      rack: r1
  image:
    url: http://img.example.test/a.iso
    diskFormat: live-iso
"""
HOST = """\
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: h, namespace: lab, labels: {rack: r2}}
spec: {online: true}
"""


def run(capsys, *argv, stdin=None, monkeypatch=None):
    if stdin is not None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
    code = cli.main([str(word) for word in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def write(tmp_path, text, name="file.yaml"):
    file = tmp_path / name
    file.write_text(text)
    return file


def test_every_real_life_file_has_a_verdict():
    files = {file.relative_to(REALWORLD).as_posix() for file in REALWORLD.glob("*/*.yaml")}
    assert files == set(VERDICTS)


@pytest.mark.parametrize("name", VERDICTS)
def test_a_real_life_manifest_gets_the_verdict_of_the_api_server_and_the_mend(name):
    expected = VERDICTS[name]
    results = validate.check([str(REALWORLD / name)])
    assert [result.verdict for result in results] == expected["verdicts"]
    found = [finding for result in results for finding in result.findings]
    errors = [finding.path for finding in found if finding.severity == "error"]
    assert sorted(errors) == sorted(expected.get("errors", []))
    dropped = [finding.path for finding in found if "it is dropped" in finding.message]
    assert sorted(dropped) == sorted(expected.get("dropped", []))
    assert any("is deprecated; use" in finding.message for finding in found) >= bool(expected.get("deprecated"))
    assert set(expected.get("warnings", [])) <= {finding.path for finding in found if finding.severity == "warning"}
    told = " | ".join(finding.hint for finding in found)
    for hint in expected.get("hints", []):
        assert hint in told


@pytest.mark.parametrize("name", ["07-m3mt-v1alpha5-bare-md5"])
def test_an_old_manifest_is_accepted_once_its_version_is_written_anew(name, tmp_path):
    text = (REALWORLD / "capm3" / f"{name}.yaml").read_text().replace("v1alpha5", "v1beta1")
    assert [result.verdict for result in validate.check([str(write(tmp_path, text))])] == ["accepted"]


VARIABLES = {"IMAGE_FORMAT": "raw", "IMAGE_CHECKSUM_TYPE": "sha256", "IMAGE_URL": "http://img.example.test/a.raw"}


@pytest.mark.parametrize("file", sorted((DATA / "manifests").glob("*.yaml")), ids=lambda file: file.name)
def test_the_manifests_that_users_apply_are_accepted(file, tmp_path):
    def filled(found):
        name, preset = found.groups()
        if preset is not None or name.endswith("_EXTRA_CONFIG"):
            return preset or ""
        number = name.endswith(("_PORT", "_COUNT", "_PREFIX"))
        return VARIABLES.get(name, "24" if number else "a" * 64 if "CHECKSUM" in name else "example")

    text = re.sub(r"\$\{([A-Z0-9_]+)(?::[=-]([^}]*))?\}", filled, file.read_text())
    refused = [result for result in validate.check([str(write(tmp_path, text))]) if result.verdict == "refused"]
    assert refused == []


def test_a_finding_names_file_line_object_path_and_mend(capsys):
    file = REALWORLD / "capm3" / "13-m3dt-bond-vlan-without-mac.yaml"
    code, out, _ = run(capsys, "validate", file)
    assert code == 1
    line = f"{file}:11: error: Metal3DataTemplate big-shared-network: "
    assert f"{line}spec.networkData.links.ethernets[0].macAddress: Required value\n    hint: say where" in out
    assert out.endswith("0 accepted, 1 refused, 0 skipped, 4 errors, 2 warnings\n")


def test_json_output_holds_the_same(capsys):
    code, out, _ = run(
        capsys, "validate", "-o", "json", REALWORLD / "ipam" / "03-pool-foreign-provider-null-labels.yaml"
    )
    report = json.loads(out)
    assert code == 1 and report["summary"]["refused"] == 1
    finding = report["results"][0]["findings"][0]
    assert (finding["path"], finding["severity"], finding["line"]) == ("spec.namePrefix", "error", 7)


def test_standard_input_and_several_documents_are_read(capsys, monkeypatch):
    code, out, _ = run(capsys, "validate", "-", stdin=MACHINE + "---\n" + MACHINE, monkeypatch=monkeypatch)
    assert code == 0 and "2 accepted" in out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [", "is no valid YAML"),
        ("a: b: c", ":1: is no valid YAML"),
        ("\ta: b", "is no valid YAML"),
    ],
)
def test_a_file_that_is_no_yaml_is_named_with_its_line(text, expected, capsys, tmp_path):
    code, _, err = run(capsys, "validate", write(tmp_path, text))
    assert code == 2 and expected in err and "Traceback" not in err


def test_a_file_that_is_not_there_is_named(capsys):
    code, _, err = run(capsys, "validate", "/does/not/exist.yaml")
    assert code == 2 and "/does/not/exist.yaml: No such file" in err


@pytest.mark.parametrize(
    "text", ["just text", "- a\n- b", "kind: Metal3Machine", "apiVersion: 1\nkind: [a]", "a: &x\n  b: *x"]
)
def test_a_document_that_is_no_object_is_refused_in_words(text, capsys, tmp_path):
    code, out, err = run(capsys, "validate", write(tmp_path, text))
    assert code == 1 and "1 refused" in out and err == ""


def test_an_empty_file_is_accepted(capsys, tmp_path):
    code, out, _ = run(capsys, "validate", write(tmp_path, "# nothing\n---\n"))
    assert code == 0 and "0 accepted, 0 refused" in out


@pytest.mark.parametrize(("complete", "code"), [(False, 0), (True, 1)])
def test_a_dangling_template_is_a_warning_and_with_complete_an_error(complete, code, capsys, tmp_path):
    file = write(tmp_path, MACHINE)
    got, out, _ = run(capsys, "validate", file, *(["--complete"] if complete else []))
    assert got == code
    assert (
        ":8: " + ("error" if complete else "warning") in out and "Metal3DataTemplate t is in none of the files" in out
    )


def test_a_selector_that_matches_no_given_host_is_told(capsys, tmp_path):
    _, out, _ = run(capsys, "validate", write(tmp_path, MACHINE + HOST))
    assert "spec.hostSelector: matches none of the 1 hosts in the files (rack Equals r1)" in out
    _, out, _ = run(capsys, "validate", write(tmp_path, MACHINE + HOST.replace("r2", "r1")))
    assert "matches none" not in out


@pytest.mark.parametrize(
    "reference",
    [
        "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3Cluster, name: c}",
        "{apiGroup: infrastructure.cluster.x-k8s.io, kind: Metal3Cluster, name: c}",
    ],
)
@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_references_of_cluster_api_objects_are_followed_in_every_version(version, reference, tmp_path):
    cluster = f"apiVersion: cluster.x-k8s.io/{version}\nkind: Cluster\nmetadata: {{name: c}}\nspec:\n"
    text = f"{cluster}  infrastructureRef: {reference}\n"
    found = validate.check([str(write(tmp_path, text))])[0].findings
    assert [finding.path for finding in found] == ["spec.infrastructureRef.name"] and found[0].line == 5
    ours = (
        "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: Metal3Cluster\nmetadata: {name: c}\n"
        "spec: {controlPlaneEndpoint: {host: h}}\n"
    )
    assert validate.check([str(write(tmp_path, text + ours))])[0].findings == ()


def test_unknown_fields_are_errors_when_strict(capsys, tmp_path):
    file = write(tmp_path, MACHINE.replace("  image:", "  imag: 1\n  image:"))
    assert run(capsys, "validate", file)[0] == 0
    code, out, _ = run(capsys, "validate", "--strict", file)
    assert code == 1 and "did you mean image?" in out


def test_scalar_bond_parameters_in_v1beta2_are_pointed_to_v1beta1(tmp_path):
    bond = "{id: b, bondMode: 802.3ad, macAddress: {string: '02:00:5e:00:53:01'}, parameters: [{name: miimon, value: 100}]}"
    text = (
        "apiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: Metal3DataTemplate\nmetadata: {name: t}\n"
        f"spec: {{networkData: {{links: {{bonds: [{bond}]}}}}}}\n"
    )
    finding = validate.check([str(write(tmp_path, text))])[0].findings[0]
    assert finding.severity == "error" and "miimon: 100" in finding.hint and "v1beta1" in finding.hint


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("metal3://{{ ds.meta_data.uuid }}", True),
        ("metal3://0f1e2d3c-0000-4000-8000-000000000000", True),
        ("metal3://{{ ds.meta_data.providerid }}", False),
        ("metal3://lab/host-1/m-1", False),
    ],
)
def test_a_provider_id_that_no_machine_matches_is_told(value, told, tmp_path):
    text = (
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {name: t}\nspec:\n"
        f"  kubeletExtraArgs:\n    provider-id: '{value}'\n"
    )
    found = validate.check([str(write(tmp_path, text))])[0].findings
    assert [finding.line for finding in found] == ([6] if told else [])


def test_an_unrendered_variable_is_recognised(tmp_path):
    text = MACHINE.replace("rack: r1", "rack: ${RACK}")
    finding = next(
        found for found in validate.check([str(write(tmp_path, text))])[0].findings if found.severity == "error"
    )
    assert finding.path == "spec.hostSelector.matchLabels.rack"
    assert "template variable" in finding.hint and finding.line == 11


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("Off", False),
        ("True", True),
        ("'yes'", "yes"),
        ("!!str 12", "12"),
        ("02:00:00:00:00:01", "02:00:00:00:00:01"),
        ("2026-01-01", "2026-01-01"),
        ("0o17", 15),
        ("017", 15),
        ("0x1f", 31),
        ("1_000", 1000),
        ("1e3", 1000.0),
        ("1.5", 1.5),
        ("~", None),
        ("", None),
        ("v1", "v1"),
        ("12:30", "12:30"),
    ],
)
def test_scalars_mean_what_they_mean_to_kubectl(text, value):
    assert next(documents.of_text("f", f"a: {text}\n")).raw == {"a": value}


def test_merge_keys_and_lists_of_objects_are_resolved():
    text = "kind: List\nitems:\n- &a {kind: A, x: 1}\n- <<: *a\n  y: 2\n"
    found = list(documents.of_text("f", text))
    assert [document.raw for document in found] == [{"kind": "A", "x": 1}, {"kind": "A", "x": 1, "y": 2}]
    assert [document.line for document in found] == [3, 4]


def test_a_key_that_stands_twice_is_told(tmp_path):
    text = MACHINE.replace("spec:\n", "spec:\n  providerID: a\n  providerID: b\n")
    found = validate.check([str(write(tmp_path, text))])[0].findings
    assert any(finding.path == "spec.providerID" and "stands twice" in finding.message for finding in found)


OLD = """\
# the control plane's machines
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata:
  name: cp   # referred to by the control plane
  namespace: lab
spec:
  template:
    spec:
      image:
        # built every night
        url: "http://img.example.test/a.raw"
        checksum: http://img.example.test/a.raw.sha256
        checksumType: sha256
        format: raw   # not qcow2
      dataTemplate:
        name: t
---
# left alone
apiVersion: v1
kind: ConfigMap
metadata: {name:   x}
data:
  a: "1"
"""


def test_converting_a_file_keeps_comments_order_quotes_and_other_objects(capsys, tmp_path):
    code, out, err = run(capsys, "convert", "--to", "v1beta2", write(tmp_path, OLD))
    assert (code, err) == (0, "")
    expected = (
        OLD.replace("v1beta1", "v1beta2")
        .replace("format: raw ", "diskFormat: raw ")
        .replace("{name:   x}", "{name: x}")
    )
    assert out.removeprefix("---\n").replace(" ", "") == expected.replace(" ", "")


@pytest.mark.parametrize(
    "name", [name for name in VERDICTS if VERDICTS[name].get("deprecated") and "stale" not in name]
)
def test_a_converted_file_holds_the_objects_that_the_conversion_gives(name):
    text = (REALWORLD / name).read_text()
    before = [document.raw for document in documents.of_text(name, text)]
    after = [document.raw for document in documents.of_text(name, convert.convert_text(text, "v1beta2"))]
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        wanted = (
            convert.without_old_data(conversion.convert(old, to="v1beta2")) if old["apiVersion"] == V1BETA1 else old
        )
        assert new == {key: value for key, value in wanted.items() if key in old}


def test_there_and_back_again_changes_nothing(tmp_path):
    there = convert.convert_text(OLD, "v1beta2")
    back = [document.raw for document in documents.of_text("f", convert.convert_text(there, "v1beta1"))]
    original = [document.raw for document in documents.of_text("f", OLD)]
    assert back[0]["spec"]["template"]["spec"]["image"] == original[0]["spec"]["template"]["spec"]["image"]
    assert back[1] == original[1]


def test_an_object_that_cannot_be_converted_is_named(capsys, tmp_path):
    file = write(tmp_path, OLD.replace("      image:\n", "      image: text\n      x:\n"))
    code, out, err = run(capsys, "convert", "--to", "v1beta2", file)
    assert (
        code == 1
        and f"{file}:10: Metal3MachineTemplate lab/cp: spec.template.spec.image" in err
        and "Traceback" not in err + out
    )


def test_crds_are_printed_whole_or_by_name(capsys):
    code, out, _ = run(capsys, "crds", "m3m", "ippools")
    printed = list(yaml.safe_load_all(out))
    assert code == 0 and [crd["spec"]["names"]["kind"] for crd in printed] == ["Metal3Machine", "IPPool"]
    assert printed[0] in schemas.crds().values()
    code, out, _ = run(capsys, "crds", "-o", "name", "--group", "capm3")
    assert code == 0 and len(out.splitlines()) == 9
    code, _, err = run(capsys, "crds", "nothing")
    assert code == 2 and "nothing" in err


def test_the_frame_lists_every_registered_command_and_only_imports_the_one_called(capsys, monkeypatch):
    entries = [
        importlib.metadata.EntryPoint("broken", "no.such.module", cli.GROUP),
        importlib.metadata.EntryPoint("crds", "capm3_api.commands.crds", cli.GROUP),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries)
    code, out, _ = run(capsys)
    assert code == 2 and "crds" in out and "broken" in out and "not usable here" in out
    assert run(capsys, "crds", "-o", "name")[0] == 0
    code, _, err = run(capsys, "broken")
    assert code == 2 and "cannot be used here" in err and "Traceback" not in err


def test_an_unknown_command_and_a_missing_file_are_wrong_usage(capsys):
    for words in (["nonsense"], ["validate"], ["convert", "file"], ["convert", "--to", "v1alpha1", "file"]):
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert ended.value.code == 2
        capsys.readouterr()


def test_the_program_is_installed_under_both_names():
    scripts = {entry.name for entry in importlib.metadata.entry_points(group="console_scripts")}
    assert {"capm3", "kubectl-capm3"} <= scripts
    assert {"validate", "convert", "crds"} <= set(cli.commands())


def test_a_converted_manifest_does_not_carry_what_only_the_webhook_needs_for_the_way_back() -> None:
    text = (
        "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\n"
        "kind: Metal3Cluster\n"
        "metadata:\n  name: c1 # ours\n  annotations: {team: infra}\n"
        "spec:\n  noCloudProvider: true\n  controlPlaneEndpoint: {host: 192.0.2.1, port: 6443}\n"
    )
    written = convert.convert_text(text, "v1beta2")
    assert "v1beta1" not in written and "noCloudProvider" not in written
    assert "annotations: {team: infra}" in written and "# ours" in written
