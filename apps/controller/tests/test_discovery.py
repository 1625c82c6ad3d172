"""Foreign kinds are asked for in a version that the server has, and seen in the one that the managers read."""

from __future__ import annotations

import pytest
from capm3_api import kinds
from capm3_api.external import older
from capm3_api.meta import Key
from capm3_controller.kube.discovery import SUPPORTED, VersionedClient
from capm3_controller.kube.transport import Transport
from capm3_controller.testing.tinyapi import TinyApi
from capm3_managers.ports import ALL_NAMESPACES, ApiError

CLUSTER_V1BETA1 = {
    "apiVersion": "cluster.x-k8s.io/v1beta1",
    "kind": "Cluster",
    "metadata": {"name": "c", "namespace": "ns", "uid": "u", "resourceVersion": "5"},
    "spec": {
        "controlPlaneEndpoint": {"host": "192.0.2.1", "port": 6443},
        "infrastructureRef": {
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
            "kind": "Metal3Cluster",
            "name": "c",
            "namespace": "ns",
            "uid": "gone-in-the-new-version",
        },
    },
    "status": {
        "infrastructureReady": True,
        "phase": "Provisioned",
        "failureDomains": {"b": {"controlPlane": True}, "a": {}},
        "conditions": [
            {"type": "InfrastructureReady", "status": "True"},
            {"type": "ControlPlaneInitialized", "status": "True"},
        ],
        "v1beta2": {"conditions": [{"type": "Available", "status": "False", "reason": "Soon"}]},
    },
}


def serving(api: TinyApi, *versions: str) -> None:
    """Lets the server say that it has Cluster API's kinds in these versions, and answer with `CLUSTER_V1BETA1`."""
    root = f"/apis/{kinds.CAPI}"

    def answer(seen):
        if seen.path == root:
            return 200, {"versions": [{"version": version} for version in versions]}
        for version in versions:
            if seen.path == f"{root}/{version}":
                return 200, {"resources": [{"name": "clusters"}, {"name": "clusters/status"}]}
            if seen.path == f"{root}/{version}/namespaces/ns/clusters/c":
                return 200, {**CLUSTER_V1BETA1, "apiVersion": f"{kinds.CAPI}/{version}"}
            if seen.path == f"{root}/{version}/clusters":
                items = [{**CLUSTER_V1BETA1, "apiVersion": f"{kinds.CAPI}/{version}"}]
                return 200, {"items": items, "metadata": {"resourceVersion": "5"}}
        return (404, {"code": 404, "reason": "NotFound"}) if seen.path.startswith(root) else None

    api.intercept = answer


@pytest.fixture
def api():
    with TinyApi() as server:
        yield server


@pytest.fixture
def client(api):
    made = VersionedClient(Transport(api.endpoint, user_agent="t"))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("versions", "chosen"),
    [
        (["v1beta1"], "v1beta1"),
        (["v1beta1", "v1beta2"], "v1beta2"),
        (["v1beta2"], "v1beta2"),
        (["v1alpha4", "v1beta1"], "v1beta1"),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else "",
)
def test_b20_the_newest_version_that_both_know_is_used(versions, chosen, api, client):
    serving(api, *versions)
    found = client.get(kinds.CLUSTER, Key("ns", "c"))
    assert client.versions.of(kinds.CLUSTER) == kinds.CLUSTER.at(chosen)
    assert found["apiVersion"] == f"{kinds.CAPI}/v1beta2"
    assert client.list(kinds.CLUSTER, ALL_NAMESPACES)[0][0]["apiVersion"] == f"{kinds.CAPI}/v1beta2"
    assert client.versions.problems() == ""


def test_b20_a_kind_in_no_known_version_is_named(api, client):
    serving(api, "v1alpha4")
    assert client.get(kinds.CLUSTER, Key("ns", "c")) is None
    assert client.versions.problems() == (
        "cluster.x-k8s.io Cluster is served in v1alpha4 only; this program reads v1beta2, v1beta1"
    )
    serving(api, "v1alpha4", "v1beta2")
    assert client.get(kinds.CLUSTER, Key("ns", "c")) is not None
    assert client.versions.problems() == ""


def test_a_kind_that_is_not_installed_is_no_problem_and_is_found_later(api, client):
    serving(api)
    with pytest.raises(ApiError) as caught:
        client.list(kinds.CLUSTER, ALL_NAMESPACES)
    assert caught.value.status == 404 and client.versions.problems() == ""
    serving(api, "v1beta1")
    assert len(client.list(kinds.CLUSTER, ALL_NAMESPACES)[0]) == 1


def test_a_version_that_leaves_the_server_is_replaced(api, client):
    serving(api, "v1beta1")
    assert client.list(kinds.CLUSTER, ALL_NAMESPACES)[0]
    serving(api, "v1beta2")
    with pytest.raises(ApiError):
        client.list(kinds.CLUSTER, ALL_NAMESPACES)
    assert client.list(kinds.CLUSTER, ALL_NAMESPACES)[0]
    assert client.versions.of(kinds.CLUSTER) == kinds.CLUSTER


def test_a_server_that_fails_is_not_taken_for_one_without_versions(api, client):
    api.intercept = lambda seen: (500, {"code": 500, "reason": "InternalError"})
    with pytest.raises(ApiError) as caught:
        client.get(kinds.CLUSTER, Key("ns", "c"))
    assert caught.value.status == 500


def test_kinds_with_one_version_are_never_looked_up(api, client):
    client.list(kinds.METAL3_MACHINE, ALL_NAMESPACES)
    assert not any(seen.path == f"/apis/{kinds.INFRASTRUCTURE}" for seen in api.seen)
    assert set(SUPPORTED) == {kinds.CAPI, kinds.CAPI_IPAM, kinds.CAPI_CONTROL_PLANE}


def test_an_old_cluster_is_lifted_to_what_the_managers_read():
    lifted = older.lift(CLUSTER_V1BETA1)
    assert lifted["spec"]["infrastructureRef"] == {
        "apiGroup": kinds.INFRASTRUCTURE,
        "kind": "Metal3Cluster",
        "name": "c",
    }
    assert lifted["status"] == {
        "phase": "Provisioned",
        "initialization": {"infrastructureProvisioned": True, "controlPlaneInitialized": True},
        "conditions": [{"type": "Available", "status": "False", "reason": "Soon"}],
        "deprecated": {"v1beta1": {"conditions": CLUSTER_V1BETA1["status"]["conditions"]}},
        "failureDomains": [{"name": "a"}, {"name": "b", "controlPlane": True}],
    }
    assert older.lift(lifted) is lifted


def test_an_old_machine_says_that_its_bootstrap_data_is_there():
    reference = {"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta1", "kind": "KubeadmConfig", "name": "k"}
    machine = {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Machine",
        "spec": {"bootstrap": {"configRef": reference, "dataSecretName": "s"}},
        "status": {"bootstrapReady": True, "infrastructureReady": False},
    }
    lifted = older.lift(machine)
    assert lifted["spec"]["bootstrap"] == {
        "configRef": {"apiGroup": "bootstrap.cluster.x-k8s.io", "kind": "KubeadmConfig", "name": "k"},
        "dataSecretName": "s",
    }
    assert lifted["status"] == {"initialization": {"bootstrapDataSecretCreated": True}}
