"""kubectl apply, both ways, twice, dry or not, of the manifests that people have: accepted, and settled after once."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from capm3_api.model import Raw
from capm3_testbed.dropin import templates
from capm3_testbed.dropin.site import Site

pytestmark = [pytest.mark.apiserver, pytest.mark.timeout(240)]
ROOT = Path(__file__).parents[3]
OURS = ROOT / "libs" / "capm3-api" / "tests" / "data" / "manifests"
SAMPLES = Path(__file__).parents[1] / "data" / "dropin"
THEIRS = ROOT.parent / "shared" / "reference" / "manifests"
VALUES = {
    "CLUSTER_NAME": "harbour",
    "NAMESPACE": "metal-site",
    "KUBERNETES_VERSION": "v1.35.2",
    "CONTROL_PLANE_MACHINE_COUNT": "3",
    "WORKER_MACHINE_COUNT": "2",
    "IMAGE_URL": "http://img.example.test/node.raw",
    "IMAGE_CHECKSUM": "http://img.example.test/SHA256SUMS",
    "IMAGE_CHECKSUM_TYPE": "sha256",
    "IMAGE_FORMAT": "raw",
    "VIP_ADDRESS": "192.0.2.200",
    "VIP_PORT": "6443",
    "CLUSTER_APIENDPOINT_HOST": "192.0.2.200",
    "CLUSTER_APIENDPOINT_PORT": "6443",
    "CONTROL_PLANE_EXTRA_CONFIG": "",
    "WORKER_EXTRA_CONFIG": "",
    "CTLPLANE_KUBEADM_EXTRA_CONFIG": "",
    "WORKERS_KUBEADM_EXTRA_CONFIG": "",
}
MISPLACED = "spec.template.spec.controlPlaneEndpoint.cloudProviderEnabled"
FILES = [*sorted(OURS.glob("*.yaml")), *sorted(SAMPLES.glob("*.yaml"))]
REFERENCE = [
    "cluster.yaml",
    "clusterclass.yaml",
    "clusterctl-cluster.rendered.yaml",
    "clusterctl-cluster.template.yaml",
]


@dataclasses.dataclass(frozen=True)
class Applied:
    """A manifest in a file, and what lies on the server."""

    site: Site
    file: str
    objects: list[Raw]

    def stored(self) -> list[Raw]:
        return [self.site.calls.read(obj).body for obj in self.objects]

    def versions(self) -> list[tuple[int, str]]:
        return [(obj["metadata"]["generation"], obj["metadata"]["resourceVersion"]) for obj in self.stored()]


@pytest.fixture
def manifest(request: pytest.FixtureRequest, site: Site, namespace: str) -> Applied:
    objects = templates.objects(request.param, namespace, VALUES)
    return Applied(site, site.kubectl.file(objects, f"{request.param.stem}.yaml"), objects)


def every_manifest(files: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("manifest", files, ids=[file.stem for file in files], indirect=True)


def test_client_side_apply_is_accepted_once_and_changes_nothing_again(site: Site, namespace: str) -> None:
    """All manifests as one, since kubectl takes long to start."""
    run = site.kubectl.run
    values = [{**VALUES, "CLUSTER_NAME": file.stem.replace(".", "-")} for file in FILES]
    objects = [obj for file, own in zip(FILES, values, strict=True) for obj in templates.objects(file, namespace, own)]
    manifest = Applied(site, site.kubectl.file(objects, "all.yaml"), objects)
    assert run("apply", "--validate=strict", "-f", manifest.file).count(" created") == len(manifest.objects)
    before = manifest.versions()
    assert {generation for generation, _ in before} == {1}
    run("apply", "--validate=strict", "-f", manifest.file)
    run("diff", "-f", manifest.file, code=0)
    assert manifest.versions() == before


@every_manifest(FILES)
def test_server_side_apply_again_leaves_the_generation_alone(manifest: Applied) -> None:
    """The second one may write once more what a default put in; the third finds nothing to do."""
    found = [[manifest.site.calls.apply(obj, fieldValidation="Strict") for obj in manifest.objects] for _ in range(3)]
    assert [answer.message for answers in found for answer in answers if not answer.accepted] == []
    assert {answer.body["metadata"]["generation"] for answers in found for answer in answers} == {1}
    second, third = ([answer.body["metadata"]["resourceVersion"] for answer in answers] for answers in found[1:])
    assert second == third


@every_manifest([SAMPLES / "every-kind-v1beta1.yaml"])
def test_kubectl_applies_on_the_server_after_it_did_on_the_client(manifest: Applied) -> None:
    """Conflicts are forced: lists in which a default was put are not what the client had applied."""
    run = manifest.site.kubectl.run
    run("apply", "-f", manifest.file)
    server_side = ("apply", "--server-side", "--force-conflicts", "--validate=strict", "-f", manifest.file)
    assert run(*server_side).count("serverside-applied") == len(manifest.objects)
    assert {generation for generation, _ in manifest.versions()} == {1}
    run("diff", "--server-side", "--force-conflicts", "-f", manifest.file, code=0)


@every_manifest(FILES[:1])
def test_a_dry_run_leaves_nothing_behind(manifest: Applied) -> None:
    text = manifest.site.kubectl.run("apply", "--validate=strict", "--dry-run=server", "-f", manifest.file)
    assert text.count("created (server dry run)") == len(manifest.objects)
    assert {answer.code for answer in map(manifest.site.calls.read, manifest.objects)} == {404}


@every_manifest([SAMPLES / "every-kind-v1beta1.yaml", SAMPLES / "every-kind-v1beta2.yaml"])
def test_a_change_of_one_label_shows_in_diff_and_is_applied_in_the_same_version(manifest: Applied) -> None:
    run = manifest.site.kubectl.run
    run("apply", "-f", manifest.file)
    before = manifest.versions()
    for obj in manifest.objects:
        obj["metadata"]["labels"] = {"owner": "somebody"}
    changed = manifest.site.kubectl.file(manifest.objects, "changed.yaml")
    shown = run("diff", "-f", changed, code=1)
    assert shown.count("+    owner: somebody") == len(manifest.objects)
    run("apply", "--validate=strict", "-f", changed)
    assert [generation for generation, _ in manifest.versions()] == [generation for generation, _ in before]
    assert {obj["metadata"]["labels"]["owner"] for obj in manifest.stored()} == {"somebody"}


def test_an_unknown_field_is_refused_when_strict_and_told_otherwise(site: Site, namespace: str) -> None:
    (machine,) = [obj for obj in templates.objects(FILES[-1], namespace, {}) if obj["kind"] == "Metal3Machine"]
    machine["spec"]["hostSelectr"] = {}
    file = site.kubectl.file([machine], "unknown.yaml")
    assert 'unknown field "spec.hostSelectr"' in site.kubectl.run("apply", "--validate=strict", "-f", file, code=1)
    told = site.kubectl.run("apply", "--validate=warn", "-f", file)
    assert 'unknown field "spec.hostSelectr"' in told and " created" in told


def test_two_appliers_in_two_versions_share_an_object(site: Site, namespace: str) -> None:
    """One applies v1beta1 fields, the other v1beta2 fields; neither takes the other's away."""
    old = templates.objects(SAMPLES / "every-kind-v1beta1.yaml", namespace, {})[2]
    assert site.calls.apply(old, "old-user").accepted
    new = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": old["kind"], "metadata": old["metadata"]}
    partial = {**new, "spec": {"providerID": "metal3://made-up"}}
    answer = site.calls.apply(partial, "new-user")
    assert answer.accepted, answer.message
    spec = site.calls.read(new).body["spec"]
    assert spec["providerID"] == "metal3://made-up" and spec["image"]["diskFormat"] == "raw"
    again = site.calls.apply(old, "old-user")
    assert again.accepted, again.message
    assert site.calls.read(new).body["metadata"]["generation"] == 2


@pytest.mark.parametrize("name", REFERENCE)
def test_the_manifests_that_the_go_program_ships_are_accepted_as_they_are(
    name: str, site: Site, namespace: str
) -> None:
    if not THEIRS.is_dir():
        pytest.skip("no folder ../shared/reference/manifests beside the repository")
    objects = templates.objects(THEIRS / name, namespace, VALUES)
    file = site.kubectl.file(objects, name)
    misplaced = name == "clusterclass.yaml"  # a field that the Go program's definitions do not have either
    level = "warn" if misplaced else "strict"
    text = site.kubectl.run("apply", f"--validate={level}", "-f", file)
    assert text.count(" created") == len(objects) and (f'unknown field "{MISPLACED}"' in text) == misplaced
    known = [obj for obj in objects if obj["kind"] != "Metal3ClusterTemplate"]
    for _ in range(2):
        answers = [site.calls.apply(obj, fieldValidation="Strict", force="true") for obj in known]
        assert [answer.message for answer in answers if not answer.accepted] == []
        assert {answer.body["metadata"]["generation"] for answer in answers} == {1}
    if not misplaced:
        site.kubectl.run("diff", "-f", file, code=0)
