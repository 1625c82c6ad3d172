"""Small valid objects of every kind for tests: a builder a kind, changed by keyword.

Apart from the tests, because every package needs them. A builder gives a raw dict; keyword arguments are merge patches:
``metal3_machine(spec={"image": None})`` takes the image away, ``name="x"`` and ``namespace="y"`` rename.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capm3_api import kinds, names
from capm3_api.model import Raw
from capm3_api.testing.building import NAMESPACE, b64, build, condition, legacy_condition, merge, owned_by, owners

IMAGE = {
    "url": "http://images.example.com/os.qcow2",
    "checksum": "http://images.example.com/os.qcow2.sha256",
    "checksumType": "sha256",
    "diskFormat": "qcow2",
}
LIVE_ISO = {"url": "http://images.example.com/os.iso", "diskFormat": "live-iso"}

__all__ = ["NAMESPACE", "b64", "build", "condition", "legacy_condition", "merge", "owned_by", "owners"]


def _cluster_label(cluster: str) -> Raw:
    return {"metadata": {"labels": {names.CLUSTER_NAME_LABEL: cluster}}}


# Cluster API


def cluster(name: str = "c1", namespace: str = NAMESPACE, **changes: Any) -> Raw:
    """A Cluster with a Metal3Cluster of the same name."""
    spec = {"infrastructureRef": {"apiGroup": kinds.INFRASTRUCTURE, "kind": "Metal3Cluster", "name": name}}
    return build(kinds.CLUSTER, name, namespace, {"spec": spec}, changes)


def ready_cluster(name: str = "c1", namespace: str = NAMESPACE, **changes: Any) -> Raw:
    """A Cluster whose infrastructure is provisioned, said in both forms."""
    status = {
        "initialization": {"infrastructureProvisioned": True},
        "conditions": [condition("InfrastructureReady")],
        "deprecated": {"v1beta1": {"conditions": [legacy_condition("InfrastructureReady")]}},
    }
    return merge(cluster(name, namespace, status=status), changes)  # type: ignore[no-any-return]


def machine(name: str = "m1", namespace: str = NAMESPACE, *, cluster: str = "c1", **changes: Any) -> Raw:
    """A Machine that refers to a Metal3Machine of the same name and has its bootstrap data."""
    spec = {
        "clusterName": cluster,
        "version": "v1.35.0",
        "bootstrap": {
            "configRef": {"apiGroup": kinds.CAPI_BOOTSTRAP, "kind": "KubeadmConfig", "name": name},
            "dataSecretName": f"{name}-bootstrap",
        },
        "infrastructureRef": {"apiGroup": kinds.INFRASTRUCTURE, "kind": "Metal3Machine", "name": name},
    }
    status = {
        "initialization": {"bootstrapDataSecretCreated": True},
        "conditions": [condition("BootstrapConfigReady")],
        "deprecated": {"v1beta1": {"conditions": [legacy_condition("BootstrapReady")]}},
    }
    return build(kinds.MACHINE, name, namespace, _cluster_label(cluster), {"spec": spec, "status": status}, changes)


def machine_set(name: str = "ms1", namespace: str = NAMESPACE, *, cluster: str = "c1", **changes: Any) -> Raw:
    return build(kinds.MACHINE_SET, name, namespace, _cluster_label(cluster), _replicas(cluster), changes)


def machine_deployment(name: str = "md1", namespace: str = NAMESPACE, *, cluster: str = "c1", **changes: Any) -> Raw:
    return build(kinds.MACHINE_DEPLOYMENT, name, namespace, _cluster_label(cluster), _replicas(cluster), changes)


def _replicas(cluster: str) -> Raw:
    template = {
        "clusterName": cluster,
        "bootstrap": {"dataSecretName": "bootstrap"},
        "infrastructureRef": {"apiGroup": kinds.INFRASTRUCTURE, "kind": "Metal3MachineTemplate", "name": "t1"},
    }
    return {"spec": {"clusterName": cluster, "replicas": 1, "selector": {}, "template": {"spec": template}}}


def kubeadm_control_plane(name: str = "cp1", namespace: str = NAMESPACE, *, cluster: str = "c1", **changes: Any) -> Raw:
    reference = {"apiGroup": kinds.INFRASTRUCTURE, "kind": "Metal3MachineTemplate", "name": "t1"}
    spec = {
        "replicas": 1,
        "version": "v1.35.0",
        "machineTemplate": {"spec": {"infrastructureRef": reference}},
        "kubeadmConfigSpec": {},
    }
    return build(kinds.KUBEADM_CONTROL_PLANE, name, namespace, _cluster_label(cluster), {"spec": spec}, changes)


def ip_address_claim(name: str = "claim1", namespace: str = NAMESPACE, *, pool: str = "pool1", **changes: Any) -> Raw:
    """A claim of Cluster API for an address of an IPPool."""
    spec = {"poolRef": {"apiGroup": kinds.METAL3_IPAM, "kind": "IPPool", "name": pool}}
    return build(kinds.CAPI_IP_ADDRESS_CLAIM, name, namespace, {"spec": spec}, changes)


def capi_ip_address(
    name: str = "address1", namespace: str = NAMESPACE, *, claim: str = "claim1", **changes: Any
) -> Raw:
    """An address that answers a claim of Cluster API."""
    spec = {
        "claimRef": {"name": claim},
        "poolRef": {"apiGroup": kinds.METAL3_IPAM, "kind": "IPPool", "name": "pool1"},
        "address": "192.0.2.10",
        "prefix": 24,
        "gateway": "192.0.2.1",
    }
    return build(kinds.CAPI_IP_ADDRESS, name, namespace, {"spec": spec}, changes)


# Our own kinds


def metal3_cluster(name: str = "c1", namespace: str = NAMESPACE, **changes: Any) -> Raw:
    spec = {"controlPlaneEndpoint": {"host": "192.0.2.100", "port": 6443}, "cloudProviderEnabled": False}
    return build(kinds.METAL3_CLUSTER, name, namespace, {"spec": spec}, changes)


def metal3_cluster_template(name: str = "ct1", namespace: str = NAMESPACE, **changes: Any) -> Raw:
    spec = {"template": {"spec": {"controlPlaneEndpoint": {"host": "192.0.2.100", "port": 6443}}}}
    return build(kinds.METAL3_CLUSTER_TEMPLATE, name, namespace, {"spec": spec}, changes)


def metal3_machine(name: str = "m1", namespace: str = NAMESPACE, *, cluster: str = "c1", **changes: Any) -> Raw:
    """A Metal3Machine without owner: add one with ``**owners(machine())``."""
    spec = {"image": IMAGE}
    return build(kinds.METAL3_MACHINE, name, namespace, _cluster_label(cluster), {"spec": spec}, changes)


def metal3_machine_template(name: str = "t1", namespace: str = NAMESPACE, **changes: Any) -> Raw:
    spec = {"nodeReuse": False, "template": {"spec": {"image": IMAGE}}}
    return build(kinds.METAL3_MACHINE_TEMPLATE, name, namespace, {"spec": spec}, changes)


def data_template(name: str = "dt1", namespace: str = NAMESPACE, **changes: Any) -> Raw:
    """A Metal3DataTemplate that renders the name of the machine and nothing of the network."""
    spec = {"metaData": {"objectNames": [{"key": "name", "object": "machine"}]}}
    return build(kinds.METAL3_DATA_TEMPLATE, name, namespace, {"spec": spec}, changes)


def data(name: str = "dt1-0", namespace: str = NAMESPACE, *, cluster: str = "c1", **changes: Any) -> Raw:
    """Metal3Data with index 0 of the template dt1, for the claim m1."""
    spec = {
        "index": 0,
        "template": {"name": "dt1", "namespace": namespace},
        "claim": {"name": "m1", "namespace": namespace},
    }
    return build(kinds.METAL3_DATA, name, namespace, _cluster_label(cluster), {"spec": spec}, changes)


def data_claim(name: str = "m1", namespace: str = NAMESPACE, *, cluster: str = "c1", **changes: Any) -> Raw:
    spec = {"template": {"name": "dt1", "namespace": namespace}}
    return build(kinds.METAL3_DATA_CLAIM, name, namespace, _cluster_label(cluster), {"spec": spec}, changes)


def remediation(name: str = "m1", namespace: str = NAMESPACE, *, cluster: str = "c1", **changes: Any) -> Raw:
    spec = {"strategy": {"type": "Reboot", "retryLimit": 1, "timeoutSeconds": 300}}
    return build(kinds.METAL3_REMEDIATION, name, namespace, _cluster_label(cluster), {"spec": spec}, changes)


def remediation_template(name: str = "rt1", namespace: str = NAMESPACE, **changes: Any) -> Raw:
    spec = {"template": {"spec": {"strategy": {"type": "Reboot", "retryLimit": 1, "timeoutSeconds": 300}}}}
    return build(kinds.METAL3_REMEDIATION_TEMPLATE, name, namespace, {"spec": spec}, changes)


# Baremetal Operator


def host(name: str = "h1", namespace: str = NAMESPACE, *, state: str = "available", **changes: Any) -> Raw:
    """A BareMetalHost that is inspected and free."""
    spec = {
        "online": True,
        "bootMACAddress": "00:00:5e:00:53:01",
        "bmc": {"address": f"redfish-virtualmedia+http://bmc.example.com/redfish/v1/Systems/{name}"}
        | {"credentialsName": f"{name}-bmc"},
    }
    status = {
        "operationalStatus": "OK",
        "errorMessage": "",
        "errorCount": 0,
        "provisioningFailCount": 0,
        "poweredOn": False,
        "provisioning": {"state": state, "ID": f"node-{name}", "image": {"url": ""}},
        "hardware": hardware_details(name),
    }
    return build(kinds.BARE_METAL_HOST, name, namespace, {"spec": spec, "status": status}, changes)


def hardware_details(hostname: str = "h1") -> Raw:
    """Hardware with two network cards and one disk."""
    return {
        "hostname": hostname,
        "cpu": {"arch": "x86_64", "count": 8},
        "ramMebibytes": 16384,
        "nics": [
            {"name": "eth0", "mac": "00:00:5e:00:53:01", "ip": "192.0.2.11"},
            {"name": "eth1", "mac": "00:00:5e:00:53:02", "ip": "2001:db8::11"},
        ],
        "storage": [{"name": "/dev/sda", "sizeBytes": 500107862016, "type": "SSD"}],
        "systemVendor": {"manufacturer": "Example", "productName": "Server", "serialNumber": f"sn-{hostname}"},
        "firmware": {"bios": {}},
    }


def hardware_data(name: str = "h1", namespace: str = NAMESPACE, **changes: Any) -> Raw:
    return build(kinds.HARDWARE_DATA, name, namespace, {"spec": {"hardware": hardware_details(name)}}, changes)


# IP address management


def ip_pool(name: str = "pool1", namespace: str = NAMESPACE, **changes: Any) -> Raw:
    spec = {
        "namePrefix": name,
        "pools": [{"start": "192.0.2.10", "end": "192.0.2.20"}],
        "prefix": 24,
        "gateway": "192.0.2.1",
        "dnsServers": ["192.0.2.53"],
        "allocationStrategy": "sequential",
    }
    return build(kinds.IP_POOL, name, namespace, {"spec": spec}, changes)


def ip_claim(name: str = "claim1", namespace: str = NAMESPACE, *, pool: str = "pool1", **changes: Any) -> Raw:
    spec = {"pool": {"name": pool, "namespace": namespace}}
    return build(kinds.IP_CLAIM, name, namespace, {"spec": spec}, changes)


def ip_address(
    name: str = "pool1-192-0-2-10", namespace: str = NAMESPACE, *, claim: str = "claim1", **changes: Any
) -> Raw:
    spec = {
        "pool": {"name": "pool1", "namespace": namespace},
        "claim": {"name": claim, "namespace": namespace},
        "address": "192.0.2.10",
        "prefix": 24,
        "gateway": "192.0.2.1",
        "dnsServers": ["192.0.2.53"],
    }
    return build(kinds.IP_ADDRESS, name, namespace, {"spec": spec}, changes)


# Kubernetes


def secret(
    name: str = "s1", namespace: str = NAMESPACE, *, text: Mapping[str, str] | None = None, **changes: Any
) -> Raw:
    """A Secret; `text` is encoded."""
    data = {key: b64(value) for key, value in (text or {}).items()}
    return build(kinds.SECRET, name, namespace, {"type": "Opaque", "data": data}, changes)


def bmc_secret(host: str = "h1", namespace: str = NAMESPACE, **changes: Any) -> Raw:
    """The credentials that `host` refers to."""
    return secret(f"{host}-bmc", namespace, text={"username": "admin", "password": "password"}, **changes)


def node(name: str = "node-1", **changes: Any) -> Raw:
    return build(kinds.NODE, name, "", {"spec": {}, "status": {"conditions": []}}, changes)


def lease(name: str = "lock", namespace: str = NAMESPACE, **changes: Any) -> Raw:
    spec = {"holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 0}
    return build(kinds.LEASE, name, namespace, {"spec": spec}, changes)
