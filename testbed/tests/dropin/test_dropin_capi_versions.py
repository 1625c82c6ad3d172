"""B20: the same scenario passes whichever versions Cluster API serves, and an unknown one is named by /readyz."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import pytest
from capm3_api import kinds, meta, names
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_testbed import net
from capm3_testbed.controller import ControllerProcess
from capm3_testbed.dropin import definitions
from capm3_testbed.dropin.site import Site

pytestmark = [pytest.mark.apiserver, pytest.mark.timeout(240)]
MATRIX = [("v1beta1",), ("v1beta1", "v1beta2"), ("v1beta2",)]


def reference(kind: str, name: str, version: str) -> Raw:
    """A reference as Cluster API writes it in a version."""
    group = (
        {"apiVersion": f"{kinds.INFRASTRUCTURE}/v1beta1"}
        if version == "v1beta1"
        else {"apiGroup": kinds.INFRASTRUCTURE}
    )
    return {**group, "kind": kind, "name": name}


def ready(kind: str, version: str) -> Raw:
    """The status that Cluster API's own controllers would write."""
    if kind == "Cluster":
        flag, modern = "infrastructureReady", "infrastructureProvisioned"
    else:
        flag, modern = "bootstrapReady", "bootstrapDataSecretCreated"
    return {flag: True} if version == "v1beta1" else {"initialization": {modern: True}}


def owned(obj: Raw, owner: Raw) -> Raw:
    found = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": meta.uid_of(owner),
        "controller": True,
    }
    return {**obj, "metadata": {**obj["metadata"], "ownerReferences": [found]}}


def put(site: Site, obj: Raw) -> Raw:
    """Creates an object with its status; gives what the server made of it."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in ("uid", "generation")}
    answer = site.calls.create({**obj, "metadata": metadata})
    assert answer.accepted, answer.message
    if "status" in obj:
        status = site.calls.merge(obj, {"status": obj["status"]}, "status")
        assert status.accepted, status.message
    return answer.body


def story(site: Site, namespace: str, version: str) -> tuple[Raw, Raw, Raw]:
    """A cluster whose infrastructure is there, a machine with bootstrap data, a free host.

    They come in the newest version served, as no one converts Cluster API's kinds here.
    """
    api_version = f"{kinds.CAPI}/{version}"
    label = {names.CLUSTER_NAME_LABEL: "c1"}
    cluster = {**builders.cluster("c1", namespace), "apiVersion": api_version, "status": ready("Cluster", version)}
    cluster["spec"] = {"infrastructureRef": reference("Metal3Cluster", "c1", version)}
    cluster = put(site, cluster)
    metal3cluster = owned(builders.metal3_cluster("c1", namespace), cluster)
    metal3cluster["metadata"]["labels"] = label
    put(site, metal3cluster)
    machine = {**builders.machine("m1", namespace), "apiVersion": api_version, "status": ready("Machine", version)}
    machine["spec"] = {
        "clusterName": "c1",
        "bootstrap": {"dataSecretName": "m1-bootstrap"},
        "infrastructureRef": reference("Metal3Machine", "m1", version),
    }
    machine = put(site, machine)
    for name in ("m1-bootstrap", "h1-bmc"):
        put(site, {**kinds.SECRET.new(namespace, name), "stringData": {"username": "u", "password": "p", "value": "v"}})
    host = builders.host("h1", namespace)
    host["spec"]["bmc"] = {"address": "redfish://192.0.2.9/1", "credentialsName": "h1-bmc"}
    put(site, host)
    metal3machine = owned(builders.metal3_machine("m1", namespace), machine)
    put(site, metal3machine)
    return metal3cluster, metal3machine, host


@pytest.fixture(scope="module")
def installed(bare_site: Site) -> Iterator[Site]:
    bare_site.put_definitions([*definitions.ours(bare_site.conversion), *definitions.foreign_of_ours()])
    yield bare_site


@pytest.fixture
def controller(installed: Site, request: pytest.FixtureRequest) -> Iterator[ControllerProcess]:
    installed.put_definitions(installed.foreign(request.param))
    flags = ("--leader-elect=false", "--controllers=*,-crdmigrator", "--host-manager=false", "--ip-pools=false")
    process = ControllerProcess(installed.plane.access(), installed.folder, flags, name="-".join(request.param))
    process.launch()
    yield process
    process.stop()


@pytest.mark.parametrize("controller", MATRIX, ids="+".join, indirect=True)
def test_b20_cluster_and_machine_get_on_in_every_version_of_cluster_api(
    controller: ControllerProcess, installed: Site, request: pytest.FixtureRequest
) -> None:
    versions = request.node.callspec.params["controller"]
    controller.wait_ready(60.0)
    metal3cluster, metal3machine, host = story(installed, installed.namespace(), versions[-1])
    calls = installed.calls

    def provisioned() -> bool:
        status = calls.read(metal3cluster).body.get("status") or {}
        return (status.get("initialization") or {}).get("provisioned") is True

    def claimed() -> bool:
        consumer = (calls.read(host).body["spec"].get("consumerRef") or {}).get("name")
        return bool(consumer == metal3machine["metadata"]["name"])

    try:
        net.wait_until("the Metal3Cluster is provisioned", provisioned, 30.0)
        net.wait_until("the host is claimed", claimed, 30.0)
    except TimeoutError as error:
        seen = [calls.read(obj).body.get("status") for obj in (metal3cluster, metal3machine)]
        raise AssertionError(f"{error}\n{seen}\n{controller.log()}") from None


@pytest.mark.parametrize("controller", [("v1alpha4",)], ids="+".join, indirect=True)
def test_b20_a_version_that_nobody_reads_makes_it_unready_and_is_named(controller: ControllerProcess) -> None:
    def readyz() -> str:
        connection = http.client.HTTPConnection("127.0.0.1", controller.health_port, timeout=5)
        try:
            connection.request("GET", "/readyz?verbose")
            return connection.getresponse().read().decode()
        except OSError:
            return ""
        finally:
            connection.close()

    wanted = "cluster.x-k8s.io Cluster is served in v1alpha4 only; this program reads v1beta2, v1beta1"
    net.wait_until("readyz names the kind", lambda: wanted in readyz(), 60.0)
    assert "[-]versions failed: " in readyz()
