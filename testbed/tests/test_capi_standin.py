"""The stand-in for Cluster API core, run over `World` with a provider that only says "done"."""

from __future__ import annotations

import base64
import random
from collections.abc import Sequence
from typing import Any

import pytest
import yaml
from capm3_api import condition, kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_managers.testing.world import World
from capm3_testbed.capi import controllers, crds, shapes
from capm3_testbed.capi.api import Core

NS = "metal3"
CLUSTER_KEY = Key(NS, "rack1")


class Nodes:
    """Workload clusters in a dictionary."""

    def __init__(self) -> None:
        self.found: dict[str, Raw] = {}
        self.forgotten: list[Key] = []

    def kubeconfig(self, cluster: Key) -> str:
        return f"kubeconfig of {cluster}"

    def nodes(self, cluster: Key) -> Sequence[Raw]:
        return list(self.found.values())

    def patch_node(self, cluster: Key, name: str, patch: Raw) -> None:
        for part, values in patch["metadata"].items():
            self.found[name]["metadata"].setdefault(part, {}).update(values)

    def delete_node(self, cluster: Key, name: str) -> None:
        self.found.pop(name, None)

    def forget(self, cluster: Key) -> None:
        self.forgotten.append(cluster)


class Bench:
    """The stand-in, a World, and the least that a provider does."""

    def __init__(self, workers: int = 2, control_planes: int = 1) -> None:
        self.world = World()
        self.nodes = Nodes()
        self.core = Core(self.world, self.nodes, rng=random.Random(1))
        for definition in crds.definitions():
            self.world.create(definition)
        for obj in manifest(workers, control_planes):
            self.world.create(obj)

    def settle(self, passes: int = 40, provider: bool = True) -> int:
        for number in range(passes):
            before = self.world.version
            failed = controllers.run_all(self.core)
            if provider:
                self.provide()
            if self.world.version == before and not failed:
                return number
        raise AssertionError("not settled")

    def provide(self) -> None:
        """Metal3Clusters become provisioned; Metal3Machines get a provider ID and a Node; deleted ones go."""
        for cluster in self.world.list(kinds.METAL3_CLUSTER, NS):
            if shapes.owners(cluster) and not cluster.get("status"):
                self.world.patch(
                    kinds.METAL3_CLUSTER, meta.key_of(cluster), {"status": {"initialization": {"provisioned": True}}},
                    subresource="status",
                )  # fmt: skip
        for infra in self.world.list(kinds.METAL3_MACHINE, NS):
            self._provide_machine(infra)

    def _provide_machine(self, infra: Raw) -> None:
        name = infra["metadata"]["name"]
        machine = self.world.get(kinds.MACHINE, Key(NS, name))
        ready = machine and (machine.get("status") or {}).get("initialization", {}).get("bootstrapDataSecretCreated")
        if infra["spec"].get("providerID") or not ready:
            return
        provider_id = f"metal3://{NS}/host/{name}"
        self.world.patch(kinds.METAL3_MACHINE, Key(NS, name), {"spec": {"providerID": provider_id}})
        status = {"initialization": {"provisioned": True}, "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}
        self.world.patch(kinds.METAL3_MACHINE, Key(NS, name), {"status": status}, subresource="status")
        labels = {"node-role.kubernetes.io/control-plane": ""} if shapes.is_control_plane(infra) else {}
        pressures = [{"type": f"{what}Pressure", "status": "False"} for what in ("Memory", "Disk", "PID")]
        self.nodes.found[name] = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {"providerID": provider_id},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, *pressures]},
        }

    def one(self, kind: meta.Kind, name: str = "rack1") -> Raw:
        found = self.world.get(kind, Key(NS, name))
        assert found is not None, f"{kind.kind} {name}"
        return found

    def machines(self) -> list[Raw]:
        return self.world.list(kinds.MACHINE, NS)


def ref(kind: meta.Kind, name: str) -> dict[str, str]:
    return {"apiGroup": kind.group, "kind": kind.kind, "name": name}


def manifest(workers: int, control_planes: int) -> list[Raw]:
    registration = {
        "name": "{{ ds.meta_data.name }}",
        "kubeletExtraArgs": [{"name": "node-labels", "value": "metal3.io/uuid={{ ds.meta_data.uuid }}"}],
    }
    kubeadm = {
        "initConfiguration": {"nodeRegistration": registration},
        "joinConfiguration": {"nodeRegistration": registration},
    }
    infra_ref = ref(kinds.METAL3_MACHINE_TEMPLATE, "rack1")
    template = {"metadata": {"labels": {"pool": "a"}}, "spec": {"hostSelector": {"matchLabels": {"size": "small"}}}}
    return [
        kinds.CLUSTER.new(
            NS,
            "rack1",
            spec={
                "infrastructureRef": ref(kinds.METAL3_CLUSTER, "rack1"),
                "controlPlaneRef": ref(kinds.KUBEADM_CONTROL_PLANE, "rack1"),
            },
        ),
        kinds.METAL3_CLUSTER.new(NS, "rack1", spec={"controlPlaneEndpoint": {"host": "192.0.2.10", "port": 6443}}),
        kinds.KUBEADM_CONTROL_PLANE.new(
            NS,
            "rack1",
            spec={
                "replicas": control_planes,
                "version": "v1.36.3",
                "kubeadmConfigSpec": kubeadm,
                "machineTemplate": {"spec": {"infrastructureRef": infra_ref}},
            },
        ),
        kinds.METAL3_MACHINE_TEMPLATE.new(NS, "rack1", spec={"template": template}),
        kinds.KUBEADM_CONFIG_TEMPLATE.new(
            NS, "rack1", spec={"template": {"spec": {"joinConfiguration": {"nodeRegistration": registration}}}}
        ),
        kinds.MACHINE_DEPLOYMENT.new(
            NS,
            "rack1",
            spec={
                "clusterName": "rack1",
                "replicas": workers,
                "template": {
                    "metadata": {"labels": {"nodepool": "a"}},
                    "spec": {
                        "clusterName": "rack1",
                        "version": "v1.36.3",
                        "bootstrap": {"configRef": ref(kinds.KUBEADM_CONFIG_TEMPLATE, "rack1")},
                        "infrastructureRef": infra_ref,
                    },
                },
            },
        ),
    ]


def secret_text(secret: Raw, key: str) -> str:
    return base64.b64decode(secret["data"][key]).decode()


def test_a_cluster_comes_up_and_then_nothing_is_written() -> None:
    bench = Bench()
    bench.settle()
    cluster = bench.one(kinds.CLUSTER)
    assert cluster["status"]["phase"] == "Provisioned"
    assert cluster["status"]["initialization"] == {"infrastructureProvisioned": True, "controlPlaneInitialized": True}
    assert condition.is_true(cluster, "Available")
    assert condition.is_true_legacy(cluster, "InfrastructureReady")
    assert [machine["status"]["phase"] for machine in bench.machines()] == ["Running"] * 3
    assert all(machine["status"]["nodeRef"]["name"] == machine["metadata"]["name"] for machine in bench.machines())
    assert all(condition.is_true_legacy(machine, "BootstrapReady") for machine in bench.machines())
    version = bench.world.version
    controllers.run_all(bench.core)
    assert bench.world.version == version


def test_nothing_is_made_before_the_infrastructure_of_the_cluster_is_provisioned() -> None:
    bench = Bench()
    bench.settle(provider=False)
    assert bench.machines() == []
    message = (condition.get(bench.one(kinds.KUBEADM_CONTROL_PLANE), "Available") or {}).get("message")
    assert message == "Waiting for the cluster infrastructure to be provisioned"
    assert shapes.owners(bench.one(kinds.METAL3_CLUSTER))[0]["kind"] == "Cluster"


def test_workers_wait_for_the_control_plane() -> None:
    bench = Bench()
    for _ in range(4):
        controllers.run_all(bench.core)
        for cluster in bench.world.list(kinds.METAL3_CLUSTER, NS):
            status = {"status": {"initialization": {"provisioned": True}}}
            bench.world.patch(kinds.METAL3_CLUSTER, meta.key_of(cluster), status, subresource="status")
    assert [shapes.is_control_plane(machine) for machine in bench.machines()] == [True]
    sets = bench.world.list(kinds.MACHINE_SET, NS)
    assert "ControlPlaneIsStable" in (condition.get(sets[0], "ScalingUp") or {})["message"]


def test_machine_infrastructure_and_bootstrap_share_a_name_and_the_machine_takes_them_over() -> None:
    bench = Bench()
    bench.settle()
    for machine in bench.machines():
        name = machine["metadata"]["name"]
        for kind in (kinds.METAL3_MACHINE, kinds.KUBEADM_CONFIG):
            owners = shapes.owners(bench.one(kind, name))
            assert [(owner["kind"], owner.get("controller")) for owner in owners] == [("Machine", True)]
    worker = next(machine for machine in bench.machines() if not shapes.is_control_plane(machine))
    infra = bench.one(kinds.METAL3_MACHINE, worker["metadata"]["name"])
    assert infra["spec"]["hostSelector"] == {"matchLabels": {"size": "small"}}
    assert infra["metadata"]["annotations"]["cluster.x-k8s.io/cloned-from-name"] == "rack1"
    assert (
        infra["metadata"]["annotations"]["cluster.x-k8s.io/cloned-from-groupkind"]
        == "Metal3MachineTemplate.infrastructure.cluster.x-k8s.io"
    )
    labels = shapes.labels_of(infra)
    assert {"pool": "a", "nodepool": "a", "cluster.x-k8s.io/cluster-name": "rack1"}.items() <= labels.items()
    assert labels["cluster.x-k8s.io/deployment-name"] == "rack1"
    assert labels["machine-template-hash"]


def test_bootstrap_data_leave_the_metadata_variables_for_the_machine() -> None:
    bench = Bench()
    bench.settle()
    for machine in bench.machines():
        secret = bench.one(kinds.SECRET, machine["metadata"]["name"])
        text = secret_text(secret, "value")
        assert text.startswith("## template: jinja\n#cloud-config\n")
        assert "{{ ds.meta_data.uuid }}" in text
        document: Any = yaml.safe_load(text)
        kubeadm = yaml.safe_load(document["write_files"][-1]["content"])
        expected = "InitConfiguration" if shapes.is_control_plane(machine) else "JoinConfiguration"
        assert kubeadm["kind"] == expected
        assert secret["type"] == "cluster.x-k8s.io/secret"


def test_control_plane_machines_are_made_one_after_the_other() -> None:
    bench = Bench(workers=0, control_planes=3)
    seen = set()
    for _ in range(40):
        controllers.run_all(bench.core)
        waiting = [m for m in bench.machines() if not (m.get("status") or {}).get("nodeRef")]
        assert len(waiting) <= 1
        seen.add(len(bench.machines()))
        bench.provide()
    assert seen == {0, 1, 2, 3}
    kinds_made = [
        yaml.safe_load(yaml.safe_load(secret_text(bench.one(kinds.SECRET, m["metadata"]["name"]), "value"))[
            "write_files"][-1]["content"])["kind"]
        for m in bench.machines()
    ]  # fmt: skip
    assert sorted(kinds_made) == ["InitConfiguration", "JoinConfiguration", "JoinConfiguration"]


def test_the_kubeconfig_secret_holds_what_the_workload_cluster_gave() -> None:
    bench = Bench()
    bench.settle()
    secret = bench.one(kinds.SECRET, "rack1-kubeconfig")
    assert secret_text(secret, "value") == f"kubeconfig of {CLUSTER_KEY}"
    assert secret["metadata"]["labels"] == {"cluster.x-k8s.io/cluster-name": "rack1"}


def test_deleting_the_cluster_takes_workers_then_control_plane_then_infrastructure() -> None:
    bench = Bench()
    bench.settle()
    bench.world.delete(kinds.CLUSTER, CLUSTER_KEY)
    gone: list[str] = []
    for _ in range(40):
        controllers.run_all(bench.core)
        for kind in (kinds.MACHINE_DEPLOYMENT, kinds.KUBEADM_CONTROL_PLANE, kinds.METAL3_CLUSTER, kinds.CLUSTER):
            if kind.kind not in gone and not bench.world.get(kind, CLUSTER_KEY):
                gone.append(kind.kind)
    assert gone == ["MachineDeployment", "KubeadmControlPlane", "Metal3Cluster", "Cluster"]
    left = {obj["kind"] for obj in bench.world.all()} - {"CustomResourceDefinition", "Namespace"}
    assert left <= {"Metal3MachineTemplate", "KubeadmConfigTemplate"}
    assert bench.nodes.forgotten == [CLUSTER_KEY]


def test_a_deleted_worker_is_replaced_and_its_node_goes() -> None:
    bench = Bench()
    bench.settle()
    worker = next(machine for machine in bench.machines() if not shapes.is_control_plane(machine))
    name = worker["metadata"]["name"]
    bench.world.delete(kinds.MACHINE, Key(NS, name))
    bench.settle()
    assert name not in bench.nodes.found
    assert bench.world.get(kinds.MACHINE, Key(NS, name)) is None
    assert [machine["status"]["phase"] for machine in bench.machines()] == ["Running"] * 3


def test_bootstrap_data_outlive_the_infrastructure_machine() -> None:
    bench = Bench(workers=1)
    bench.settle()
    worker = next(machine for machine in bench.machines() if not shapes.is_control_plane(machine))
    name = worker["metadata"]["name"]
    bench.world.patch(kinds.METAL3_MACHINE, Key(NS, name), {"metadata": {"finalizers": ["test/hold"]}})
    bench.world.delete(kinds.MACHINE, Key(NS, name))
    for _ in range(5):
        controllers.run_all(bench.core)
    assert bench.world.get(kinds.SECRET, Key(NS, name)) is not None
    assert (condition.get(bench.one(kinds.MACHINE, name), "Deleting") or {})[
        "reason"
    ] == "WaitingForInfrastructureDeletion"


def test_scaling_down_deletes_the_machine_that_is_marked() -> None:
    bench = Bench()
    bench.settle()
    workers = [machine for machine in bench.machines() if not shapes.is_control_plane(machine)]
    marked = workers[1]["metadata"]["name"]
    mark = {"metadata": {"annotations": {"cluster.x-k8s.io/delete-machine": "yes"}}}
    bench.world.patch(kinds.MACHINE, Key(NS, marked), mark)
    bench.world.patch(kinds.MACHINE_DEPLOYMENT, CLUSTER_KEY, {"spec": {"replicas": 1}})
    bench.settle()
    left = [m["metadata"]["name"] for m in bench.machines() if not shapes.is_control_plane(m)]
    assert left == [workers[0]["metadata"]["name"]]


def test_a_changed_template_name_replaces_the_workers_without_going_below_the_wanted_number() -> None:
    bench = Bench()
    bench.settle()
    old = {m["metadata"]["name"] for m in bench.machines() if not shapes.is_control_plane(m)}
    bench.world.create(kinds.METAL3_MACHINE_TEMPLATE.new(NS, "rack1-new", spec={"template": {"spec": {}}}))
    change = {"spec": {"template": {"spec": {"infrastructureRef": {"name": "rack1-new"}}}}}
    bench.world.patch(kinds.MACHINE_DEPLOYMENT, CLUSTER_KEY, change)
    for _ in range(60):
        controllers.run_all(bench.core)
        running = [m for m in bench.machines() if m.get("status", {}).get("phase") == "Running"]
        assert len(running) >= 3
        bench.provide()
    new = {m["metadata"]["name"] for m in bench.machines() if not shapes.is_control_plane(m)}
    assert len(new) == 2
    assert not new & old
    assert len(bench.world.list(kinds.MACHINE_SET, NS)) == 1


def test_a_paused_cluster_is_left_alone() -> None:
    bench = Bench()
    bench.world.patch(kinds.CLUSTER, CLUSTER_KEY, {"spec": {"paused": True}})
    bench.settle()
    assert bench.machines() == []
    assert condition.is_true(bench.one(kinds.CLUSTER), "Paused")


def test_a_missing_template_is_an_error_each_pass_and_leaves_nothing_half_made() -> None:
    bench = Bench()
    bench.world.delete(kinds.METAL3_MACHINE_TEMPLATE, CLUSTER_KEY)
    for _ in range(10):
        failed = controllers.run_all(bench.core)
        bench.provide()
    assert failed > 0
    assert bench.world.list(kinds.KUBEADM_CONFIG, NS) == []


@pytest.mark.parametrize("shape", crds.SHAPES, ids=lambda shape: shape.kind.kind)
def test_every_definition_is_named_as_core_computes_the_name(shape: crds.Shape) -> None:
    definition = crds.definition(shape)
    singular = shape.kind.kind.lower()
    plural = f"{singular}es" if singular.endswith("s") else f"{singular}s"
    assert definition["metadata"]["name"] == f"{plural}.{shape.kind.group}"
    assert definition["metadata"]["labels"]["cluster.x-k8s.io/v1beta2"] == "v1beta2"
