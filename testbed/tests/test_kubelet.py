"""The kubelet stand-in: a Node appears when the server runs from its image, as its bootstrap data ask for."""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

import pytest
import yaml
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_managers.testing.world import World
from capm3_testbed.kubeconfig import Access
from capm3_testbed.workload import configdrive, nodeconfig
from capm3_testbed.workload.clusters import Clusters
from capm3_testbed.workload.configdrive import ConfigDrive
from capm3_testbed.workload.kubelet import Kubelets

NS = "metal3"
IMAGE = "http://127.0.0.1:1/live.iso"
CLUSTER = Key(NS, "rack1")


def user_data(kind: str = "JoinConfiguration", **rest: Any) -> str:
    registration = {
        "name": "{{ ds.meta_data.name }}",
        "kubeletExtraArgs": [
            {"name": "node-labels", "value": "metal3.io/uuid={{ ds.meta_data.uuid }},zone=a"},
        ],
    }
    kubeadm = {"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": kind, "nodeRegistration": registration, **rest}
    files = [
        {"path": "/etc/motd", "content": "hello"},
        {"path": "/run/kubeadm.yaml", "content": yaml.safe_dump(kubeadm, width=1000)},
    ]
    return "## template: jinja\n#cloud-config\n" + yaml.safe_dump({"write_files": files}, width=1000)


META = {"name": "Node-1", "uuid": "u-1", "local-hostname": "h"}


def test_name_labels_and_addresses_come_from_the_documents() -> None:
    networks = {"networks": [{"type": "ipv4", "ip_address": "192.0.2.7"}, {"type": "ipv4_dhcp"}]}
    config = nodeconfig.derive(ConfigDrive(META, networks, user_data()))
    assert config.name == "node-1"
    assert config.labels == {"metal3.io/uuid": "u-1", "zone": "a"}
    assert config.addresses == ("192.0.2.7",)
    assert not config.control_plane
    node = nodeconfig.node(config, "2026-01-01T00:00:00Z", "v1.36.3")
    assert node["spec"] == {}
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "node-1"


@pytest.mark.parametrize(
    ("text", "control_plane"),
    [
        pytest.param(user_data("InitConfiguration"), True, id="init"),
        pytest.param(user_data("JoinConfiguration", controlPlane={}), True, id="join of a control plane"),
        pytest.param(user_data("JoinConfiguration"), False, id="join of a worker"),
    ],
)
def test_the_role_comes_from_the_kubeadm_configuration(text: str, control_plane: bool) -> None:
    assert nodeconfig.derive(ConfigDrive(META, {}, text)).control_plane is control_plane


def test_extra_arguments_may_be_a_mapping_and_may_set_the_provider_id() -> None:
    registration = {"kubeletExtraArgs": {"provider-id": "metal3://{{ ds.meta_data.providerid }}"}}
    kubeadm = {"apiVersion": "kubeadm.k8s.io/v1beta3", "kind": "JoinConfiguration", "nodeRegistration": registration}
    text = "## template: jinja\n#cloud-config\n" + yaml.safe_dump(
        {"write_files": [{"path": "/k", "content": yaml.safe_dump(kubeadm, width=1000)}]}, width=1000
    )
    config = nodeconfig.derive(ConfigDrive({**META, "providerid": "ns/host/machine"}, {}, text))
    assert config.provider_id == "metal3://ns/host/machine"
    assert config.name == "h"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("", "no user data", id="no user data"),
        pytest.param(user_data().replace("uuid }}", "rack }}"), "'rack'", id="a variable that the meta data lack"),
        pytest.param("#cloud-config\nruncmd: []\n", "no kubeadm", id="no kubeadm configuration"),
        pytest.param("#!/bin/sh\necho", "not a cloud-config", id="a script"),
    ],
)
def test_bootstrap_data_that_make_no_node_say_why(text: str, told: str) -> None:
    with pytest.raises(nodeconfig.BootstrapError, match=told):
        nodeconfig.derive(ConfigDrive(META, {}, text))


@dataclasses.dataclass
class FakeServer:
    address: str
    image: str = ""
    boots: int = 0

    def running_image(self) -> tuple[str, int]:
        return self.image, self.boots

    def boot(self, image: str) -> None:
        self.image, self.boots = image, self.boots + 1


class Served:
    """A workload API without HTTP."""

    def __init__(self, name: str) -> None:
        self.world = World(name=name)

    def access(self) -> Access:
        return Access("https://127.0.0.1:1", b"", "token")

    def stop(self) -> None:
        pass


class Bench:
    def __init__(self) -> None:
        self.world = World()
        self.clusters = Clusters(Served)
        self.server = FakeServer("redfish-virtualmedia+http://127.0.0.1:1/redfish/v1/Systems/1")
        self.kubelets = Kubelets(self.world, self.clusters, lambda: [self.server])
        machine = kinds.METAL3_MACHINE.new(NS, "m1")
        machine["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "rack1"}
        self.world.put(machine)
        self.world.put(kinds.MACHINE.new(NS, "m1", spec={"version": "v1.36.3"}))
        self.secret("user", "value", user_data())
        self.secret("meta", "metaData", yaml.safe_dump({"name": "node-1"}))
        self.host = self.world.put(
            kinds.BARE_METAL_HOST.new(
                NS,
                "host-1",
                spec={
                    "bmc": {"address": self.server.address},
                    "consumerRef": {"kind": "Metal3Machine", "name": "m1", "namespace": NS},
                    "image": {"url": IMAGE},
                    "userData": {"name": "user"},
                    "metaData": {"name": "meta"},
                },
            )
        )

    def secret(self, name: str, key: str, content: str) -> None:
        self.world.put(kinds.SECRET.new(NS, name, data={key: base64.b64encode(content.encode()).decode()}))

    def nodes(self) -> list[Raw]:
        return list(self.clusters.nodes(CLUSTER))


def test_no_node_before_the_server_runs_from_its_image() -> None:
    bench = Bench()
    assert bench.kubelets.look() == 0
    bench.server.boot("http://127.0.0.1:1/inspector.iso")
    assert bench.kubelets.look() == 0
    assert bench.nodes() == []


def test_a_booted_server_is_a_ready_node_once() -> None:
    bench = Bench()
    bench.server.boot(IMAGE)
    assert bench.kubelets.look() == 1
    (node,) = bench.nodes()
    assert node["metadata"]["name"] == "node-1"
    assert node["metadata"]["labels"]["metal3.io/uuid"] == bench.host["metadata"]["uid"]
    assert node["status"]["conditions"][0]["status"] == "True"
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.3"
    assert bench.kubelets.look() == 0


def test_a_server_that_stops_leaves_a_node_that_is_not_ready_and_a_new_boot_mends_it() -> None:
    bench = Bench()
    bench.server.boot(IMAGE)
    bench.kubelets.look()
    bench.server.image = ""
    assert bench.kubelets.look() == 1
    assert bench.nodes()[0]["status"]["conditions"][0]["status"] == "Unknown"
    bench.server.boot(IMAGE)
    assert bench.kubelets.look() == 1
    assert bench.nodes()[0]["status"]["conditions"][0]["status"] == "True"


def test_a_deleted_node_does_not_come_back_while_the_server_runs_on() -> None:
    bench = Bench()
    bench.server.boot(IMAGE)
    bench.kubelets.look()
    bench.clusters.delete_node(CLUSTER, "node-1")
    assert bench.kubelets.look() == 0
    assert bench.nodes() == []


def test_a_host_whose_secret_is_missing_says_so_and_recovers() -> None:
    bench = Bench()
    bench.world.delete(kinds.SECRET, Key(NS, "meta"))
    bench.server.boot(IMAGE)
    assert bench.kubelets.look() == 0
    assert bench.kubelets.problems == {"host-1": "host host-1: Secret metal3/meta of spec.metaData does not exist"}
    bench.secret("meta", "metaData", "name: node-1")
    assert bench.kubelets.look() == 1
    assert bench.kubelets.problems == {}


def test_the_drives_defaults_give_way_to_the_rendered_documents() -> None:
    bench = Bench()
    drive = configdrive.read(bench.world, bench.host)
    assert drive.meta_data["name"] == "node-1"
    assert drive.meta_data["local-hostname"] == "host-1"
    assert drive.meta_data["uuid"] == bench.host["metadata"]["uid"]
    assert drive.network_data == {}


def test_a_document_that_is_no_mapping_is_refused_without_its_content() -> None:
    bench = Bench()
    bench.secret("meta", "metaData", "- hush")
    with pytest.raises(configdrive.ConfigDriveError) as caught:
        configdrive.read(bench.world, bench.host)
    assert "spec.metaData is not a mapping" in str(caught.value)
    assert "hush" not in str(caught.value)
