"""What a machine's bootstrap data ask its kubelet for: node name, labels, provider ID, role.

Plays cloud-init (jinja over ``ds.meta_data``) and kubeadm (its configuration file in ``write_files``), as far as a Node
object shows it. Pure: documents in, a Node out.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Any

import jinja2
import jinja2.sandbox
import yaml
from capm3_api import kinds
from capm3_api.model import Raw

from capm3_testbed.capi.controlplane import CONTROL_PLANE_NODE_LABEL
from capm3_testbed.workload.configdrive import ConfigDrive

_JINJA_HEADER = re.compile(r"\A##\s*template:\s*jinja\s*\n")
_CONDITIONS = (("Ready", "True"), ("MemoryPressure", "False"), ("DiskPressure", "False"), ("PIDPressure", "False"))


class BootstrapError(Exception):
    """The machine can't become a Node with these data; the message says why, for people."""


@dataclasses.dataclass(frozen=True)
class NodeConfig:
    """Args:
    provider_id: empty when the bootstrap data leave it to others.
    """

    name: str
    labels: dict[str, str]
    provider_id: str
    control_plane: bool
    addresses: tuple[str, ...]


def derive(drive: ConfigDrive) -> NodeConfig:
    """Reads the bootstrap data.

    Raises:
        BootstrapError: a variable is not in the meta data, or there is no kubeadm configuration.
    """
    kubeadm = _kubeadm(_rendered(drive))
    registration = kubeadm.get("nodeRegistration")
    registration = registration if isinstance(registration, dict) else {}
    arguments = dict(_arguments(registration.get("kubeletExtraArgs")))
    name = str(registration.get("name") or arguments.get("hostname-override") or drive.meta_data["local-hostname"])
    return NodeConfig(
        name.lower(),
        dict(_pairs(arguments.get("node-labels", ""))),
        arguments.get("provider-id", ""),
        kubeadm.get("kind") == "InitConfiguration" or "controlPlane" in kubeadm,
        tuple(_addresses(drive.network_data)),
    )


def node(config: NodeConfig, now: str, version: str = "") -> Raw:
    """The Node that a kubelet would register, ready."""
    labels = {"kubernetes.io/hostname": config.name, "kubernetes.io/os": "linux", **config.labels}
    if config.control_plane:
        labels[CONTROL_PLANE_NODE_LABEL] = ""
    addresses = [{"type": "InternalIP", "address": address} for address in config.addresses]
    obj: Raw = {
        "apiVersion": kinds.NODE.api_version,
        "kind": kinds.NODE.kind,
        "metadata": {"name": config.name, "labels": labels},
        "spec": {"providerID": config.provider_id} if config.provider_id else {},
    }
    return {**obj, "status": status("True", now, version, [*addresses, {"type": "Hostname", "address": config.name}])}


def status(ready: str, now: str, version: str, addresses: list[Raw]) -> Raw:
    """A Node's status; a kubelet that is silent leaves everything ``Unknown``."""
    reason = "KubeletReady" if ready == "True" else "NodeStatusUnknown"
    conditions = [
        {"type": type_, "status": value if ready == "True" else ready, "reason": reason, "lastTransitionTime": now}
        for type_, value in _CONDITIONS
    ]
    return {"conditions": conditions, "addresses": addresses, "nodeInfo": {"kubeletVersion": version}}


def _rendered(drive: ConfigDrive) -> Raw:
    """The cloud-config with its variables filled in."""
    text = drive.user_data
    if not text:
        raise BootstrapError("there is no user data")
    if _JINJA_HEADER.match(text):
        environment = jinja2.sandbox.SandboxedEnvironment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
        environment.filters["b64encode"] = str
        try:
            template = environment.from_string(_JINJA_HEADER.sub("", text))
            text = template.render(ds={"meta_data": drive.meta_data}, v1=_v1(drive.meta_data))
        except jinja2.TemplateError as error:
            raise BootstrapError(f"the meta data lack what the user data ask for: {error}") from error
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BootstrapError("the user data are not a cloud-config") from error
    if not isinstance(document, dict):
        raise BootstrapError("the user data are not a cloud-config")
    return document


def _v1(meta_data: Raw) -> Raw:
    return {"local_hostname": meta_data.get("local-hostname"), "instance_id": meta_data.get("uuid")}


def _kubeadm(cloud_config: Raw) -> Raw:
    """The first kubeadm Init- or JoinConfiguration among the files."""
    for file in cloud_config.get("write_files") or []:
        content = file.get("content") if isinstance(file, dict) else None
        if not isinstance(content, str) or "kubeadm.k8s.io" not in content:
            continue
        for document in yaml.safe_load_all(content):
            if isinstance(document, dict) and document.get("kind") in ("InitConfiguration", "JoinConfiguration"):
                return document
    raise BootstrapError("the user data hold no kubeadm configuration")


def _arguments(value: Any) -> Iterable[tuple[str, str]]:
    """``kubeletExtraArgs`` in either form: a list of name and value, or a mapping."""
    if isinstance(value, dict):
        yield from ((str(key), str(item)) for key, item in value.items())
    elif isinstance(value, list):
        yield from ((str(item.get("name")), str(item.get("value"))) for item in value if isinstance(item, dict))


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    for part in filter(None, (item.strip() for item in text.split(","))):
        key, _, value = part.partition("=")
        yield key, value


def _addresses(network_data: Raw) -> Iterable[str]:
    for network in network_data.get("networks") or []:
        if isinstance(network, dict) and network.get("ip_address"):
            yield str(network["ip_address"]).partition("/")[0]
