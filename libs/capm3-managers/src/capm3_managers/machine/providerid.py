"""Decides the provider ID of a machine and of its Node, once the host is provisioned.

Apart from `hostspec`: this is about the workload cluster. The ways are tried in the Go program's order: a Node that has
the expected ID; the cloud provider's word; the Node with the host's uid as label; the Node with the host's name. Each wait
has its own reason (report B23); none is a failure of the machine. Behaviour facts on CAPM3 5.2.11 and 4.2, steps 8 to 14.
"""

from __future__ import annotations

import collections
from collections.abc import Sequence

from capm3_api import condition, meta, names
from capm3_api import providerid as ids
from capm3_api.model import Raw

from capm3_managers import hosts, outcomes
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.machine.snapshot import Snapshot
from capm3_managers.outcomes import Outcome
from capm3_managers.plan import NodePatch
from capm3_managers.ports import Unreachable

HOSTNAME_LABEL = "kubernetes.io/hostname"
_NO_CLIENT = ("KubeconfigMissing", "KubeconfigInvalid")


def is_due(snapshot: Snapshot) -> bool:
    """Whether the Nodes of the workload cluster matter now; `observe` asks for them only then."""
    host = snapshot.host
    return host is not None and snapshot.holds_host and not snapshot.settled and hosts.state(host) == "provisioned"


def is_cloud_providers(snapshot: Snapshot) -> bool:
    """Whether the ID is the cloud provider's to give; Nodes are then known by it, not by our label."""
    return hosts.part(snapshot.metal3cluster or {}, "spec").get("cloudProviderEnabled") is True


def provider_id(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """The whole search; ends the pass while something is missing."""
    if not is_due(snapshot):
        return draft
    nodes, wanted = snapshot.nodes, expected(snapshot)
    known = snapshot.view.spec.provider_id
    cloud = is_cloud_providers(snapshot)
    holder = _holder(nodes or (), wanted) if known and not isinstance(nodes, Unreachable) else ""
    if isinstance(holder, dict):
        return _provisioned(draft if cloud else _external_data(snapshot, draft, holder))
    if cloud:
        return _from_cloud_provider(snapshot, draft, env)
    if isinstance(nodes, Unreachable) or nodes is None:
        return _unreachable(snapshot, draft, env)
    found = _labelled(snapshot, nodes)
    if found or snapshot.owner.spec.bootstrap.config_ref is not None:
        return _from_label(snapshot, draft, env, found)
    if not known:
        draft = draft.patch({"spec": {"providerID": str(wanted)}})
    return _from_hostname(snapshot, _provisioned(draft), env, nodes)


def expected(snapshot: Snapshot) -> ids.ProviderID:
    """The ID as it follows from the names of today."""
    return ids.ProviderID(snapshot.key.namespace, meta.key_of(snapshot.host or {}).name, snapshot.key.name)


def _from_cloud_provider(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Copies what the cloud provider wrote to the Node; writes no Node itself."""
    nodes = snapshot.nodes
    if isinstance(nodes, Unreachable) or nodes is None:
        reason = nodes.reason if nodes else "WorkloadAPIUnreachable"
        note = f" ({nodes.message})" if nodes else ""
    else:
        found = _holder(nodes, expected(snapshot))
        if isinstance(found, dict):
            return _provisioned(draft.patch({"spec": {"providerID": hosts.text(found, "spec", "providerID")}}))
        reason = "MultipleNodesMatch" if found else "WaitingForCloudProvider"
        note = f" ({found})" if found else ""
    message = outcomes.again("error retrieving node, requeuing") + note
    return _wait(draft, outcomes.CLOUD_PROVIDER_FAILED.but(reason), message, env)


def _unreachable(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    nodes = snapshot.nodes
    failure = nodes if isinstance(nodes, Unreachable) else Unreachable("WorkloadAPIUnreachable", "it was not asked")
    if failure.reason in _NO_CLIENT:
        message = f"error creating a remote client: {failure.message}"
    else:
        message = outcomes.again(f"error retrieving node with label {_label(snapshot)}, requeuing: {failure.message}")
    return _wait(draft, outcomes.NODE_LABEL_FAILED.but(failure.reason), message, env)


def _from_label(snapshot: Snapshot, draft: Draft, env: Env, found: Sequence[Raw]) -> Draft:
    """The Node that carries the host's uid."""
    outcome, wanted = outcomes.NODE_LABEL_FAILED, str(expected(snapshot))
    if not found:
        nodes = snapshot.nodes if not isinstance(snapshot.nodes, Unreachable) else ()
        bare = any(names.NODE_UUID_LABEL not in hosts.labels(node) for node in nodes or ())
        message = outcomes.again(f"requeuing, could not find node with label: {_label(snapshot)}")
        return _wait(draft, outcome.but("NodeLabelMissing" if bare else "NodeNotFound"), message, env)
    if len(found) > 1:
        message = f"found multiple target nodes with the same label: ({_label(snapshot)})"
        return _wait(draft, outcome.but("MultipleNodesMatch"), message, env)
    node = found[0]
    value = hosts.text(node, "spec", "providerID")
    if value not in ("", wanted):
        return _wait(draft, outcome.but("NodeHasOtherProviderID"), _other(node, value, wanted), env)
    draft = draft.patch({"spec": {"providerID": wanted}})
    draft = draft if value else draft.act(_node_patch(snapshot, node, wanted))
    return _provisioned(_external_data(snapshot, draft, node))


def _external_data(snapshot: Snapshot, draft: Draft, node: Raw) -> Draft:
    """A Node with our label got its data somehow; said again by later passes, since a crash may have lost the first."""
    labelled = hosts.labels(node).get(names.NODE_UUID_LABEL) == meta.uid_of(snapshot.host or {})
    if not labelled or condition.is_true(draft.wanted, outcomes.DATA_READY):
        return draft
    return draft.outcome(outcomes.DATA_EXTERNAL)


def _from_hostname(snapshot: Snapshot, draft: Draft, env: Env, nodes: Sequence[Raw]) -> Draft:
    """The Node whose host name the host reports; only for machines whose bootstrap is not Cluster API's."""
    outcome = outcomes.HOSTNAME_FAILED
    told = hosts.part(draft.wanted, "status").get("addresses") or []
    hostnames = [item["address"] for item in told if item.get("type") == "Hostname"]
    if not hostnames:
        return _wait(draft, outcome.but("HostnameMissing"), outcomes.again("metal3Data Secret not ready"), env)
    if not nodes:
        return _wait(draft, outcome.but("NodeNotFound"), outcomes.again("no Nodes found"), env)
    shown = ", ".join(hostnames)
    found = [node for node in nodes if hosts.labels(node).get(HOSTNAME_LABEL) in hostnames]
    if not found:
        return _wait(draft, outcome.but("NodeNotFound"), outcomes.again(f"no nodes matching hostnames: {shown}"), env)
    if len(found) > 1:
        message = outcomes.again(f"multiple nodes matching hostnames: {shown}")
        return _wait(draft, outcome.but("MultipleNodesMatch"), message, env)
    value, wanted = hosts.text(found[0], "spec", "providerID"), hosts.text(draft.wanted, "spec", "providerID")
    if value not in ("", wanted):
        return _wait(draft, outcome.but("NodeHasOtherProviderID"), _other(found[0], value, wanted), env)
    return draft if value else draft.act(_node_patch(snapshot, found[0], wanted))


def _holder(nodes: Sequence[Raw], wanted: ids.ProviderID) -> Raw | str:
    """The one Node with the expected ID; else why there is none (``""``: simply not there)."""
    holders: dict[str, list[str]] = collections.defaultdict(list)
    for node in nodes:
        value = hosts.text(node, "spec", "providerID")
        if value:
            holders[value].append(meta.key_of(node).name)
    for value, held in sorted(holders.items()):
        if len(held) > 1:
            return f"providerID {value} is in use by multiple nodes: ({', '.join(sorted(held))})"
    same_host = [value for value in holders if wanted.host_prefix in value]
    if len(same_host) > 1:
        who = sorted(name for value in same_host for name in holders[value])
        return f"providerID ({wanted}) cannot be used at the same time by node: ({', '.join(who)})"
    return next((node for node in nodes if hosts.text(node, "spec", "providerID") == str(wanted)), "")


def _labelled(snapshot: Snapshot, nodes: Sequence[Raw]) -> list[Raw]:
    """Nodes with the host's uid, but for what an earlier machine on that host left behind: another ID, and not Ready."""
    uid, wanted = meta.uid_of(snapshot.host or {}), str(expected(snapshot))
    found = [node for node in nodes if hosts.labels(node).get(names.NODE_UUID_LABEL) == uid]
    return [node for node in found if hosts.text(node, "spec", "providerID") in ("", wanted) or _is_ready(node)]


def _is_ready(node: Raw) -> bool:
    conditions = hosts.part(node, "status").get("conditions") or []
    return any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions)


def _label(snapshot: Snapshot) -> str:
    return f"{names.NODE_UUID_LABEL}={meta.uid_of(snapshot.host or {})}"


def _other(node: Raw, value: str, wanted: str) -> str:
    name = meta.key_of(node).name
    return f"node using unsupported providerID format (node {name} has {value} instead of {wanted})"


def _node_patch(snapshot: Snapshot, node: Raw, value: str) -> NodePatch:
    return NodePatch(
        snapshot.cluster_key, meta.key_of(node).name, {"spec": {"providerID": value}}, meta.version_of(node)
    )


def _provisioned(draft: Draft) -> Draft:
    return draft.patch({"status": {"initialization": {"provisioned": True}}})


def _wait(draft: Draft, outcome: Outcome, message: str, env: Env) -> Draft:
    return draft.wait(outcome, message, seconds=env.settings.requeue_seconds)
