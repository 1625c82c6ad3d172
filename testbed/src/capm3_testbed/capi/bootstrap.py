"""What the kubeadm bootstrap provider does to a KubeadmConfig: writes the bootstrap data Secret of a machine.

The data are a cloud-config in cloud-init's jinja form, with kubeadm's configuration as a file in it: enough for the
kubelet stand-in to learn node name, labels and provider ID. Left out: certificates, tokens, Ignition.
"""

from __future__ import annotations

import yaml
from capm3_api import condition, kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_testbed.capi import cluster as clusters
from capm3_testbed.capi import secrets, shapes
from capm3_testbed.capi.api import Core, at, deleting, mapping, name_of, put, text

KUBEADM_FILE = "/run/kubeadm/kubeadm.yaml"
JOIN_FILE = "/run/kubeadm/kubeadm-join-config.yaml"


def reconcile(core: Core, config: Raw) -> None:
    """One pass over one KubeadmConfig; it acts only once a Machine owns it."""
    machine = _machine(core, config)
    if machine is None or deleting(config):
        return
    cluster = clusters.of(core, machine)
    if cluster is None or shapes.paused(cluster, config):
        return
    why_not = _why_not(cluster, machine, config)
    wanted = config
    if not why_not:
        _ensure_secret(core, cluster, machine, config)
        wanted = put(wanted, name_of(config), "status", "dataSecretName")
        wanted = put(wanted, True, "status", "initialization", "dataSecretCreated")
    for type_ in ("DataSecretAvailable", "Ready"):
        status, reason = ("False", "NotAvailable") if why_not else ("True", "Available")
        wanted = condition.set_condition(wanted, type_, status, reason, why_not, now=core.now)
    core.save(kinds.KUBEADM_CONFIG, config, wanted)


def _machine(core: Core, config: Raw) -> Raw | None:
    for ref in shapes.owners(config):
        if shapes.is_owner(ref, kinds.MACHINE):
            return core.api.get(kinds.MACHINE, Key(meta.key_of(config).namespace, str(ref.get("name") or "")))
    return None


def _why_not(cluster: Raw, machine: Raw, config: Raw) -> str:
    if at(config, "status", "initialization", "dataSecretCreated"):
        return ""
    if not at(cluster, "status", "initialization", "infrastructureProvisioned"):
        return "Waiting for Cluster status.initialization.infrastructureProvisioned to be true"
    if condition.is_true(cluster, "ControlPlaneInitialized"):
        return ""
    if shapes.is_control_plane(machine) and "initConfiguration" in mapping(config, "spec"):
        return ""
    return "Waiting for the control plane to be initialized"


def _ensure_secret(core: Core, cluster: Raw, machine: Raw, config: Raw) -> None:
    init = "initConfiguration" in mapping(config, "spec") and "joinConfiguration" not in mapping(config, "spec")
    data = {
        "value": secrets.encoded(user_data(config, cluster, machine, init=init)),
        "format": secrets.encoded("cloud-config"),
    }
    secrets.ensure(core, name_of(cluster), (kinds.KUBEADM_CONFIG, config), name_of(config), data)


def user_data(config: Raw, cluster: Raw, machine: Raw, *, init: bool) -> str:
    """The cloud-config, with the jinja expressions of the node registration left for the machine to fill in."""
    part = mapping(config, "spec", "initConfiguration" if init else "joinConfiguration")
    kubeadm: Raw = {
        "apiVersion": "kubeadm.k8s.io/v1beta4",
        "kind": "InitConfiguration" if init else "JoinConfiguration",
        "nodeRegistration": {"imagePullPolicy": "IfNotPresent", **mapping(part, "nodeRegistration")},
    }
    if shapes.is_control_plane(machine) and not init:
        kubeadm["controlPlane"] = mapping(part, "controlPlane")
    if not init:
        endpoint = mapping(cluster, "spec", "controlPlaneEndpoint")
        address = f"{text(endpoint, 'host')}:{endpoint.get('port')}"
        kubeadm["discovery"] = {"bootstrapToken": {"apiServerEndpoint": address}}
    file = {
        "path": KUBEADM_FILE if init else JOIN_FILE,
        "owner": "root:root",
        "permissions": "0640",
        "content": yaml.safe_dump(kubeadm, sort_keys=False, width=10_000),
    }
    files = at(config, "spec", "files")
    before = at(config, "spec", "preKubeadmCommands")
    document: Raw = {
        "write_files": [*(files if isinstance(files, list) else []), file],
        "runcmd": [
            *(before if isinstance(before, list) else []),
            f"kubeadm {'init' if init else 'join'} --config {file['path']}",
        ],
    }
    return "## template: jinja\n#cloud-config\n" + yaml.safe_dump(document, sort_keys=False, width=10_000)
