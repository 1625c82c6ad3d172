"""Reads what a pass over a Metal3Machine needs, and no more than its state calls for.

Apart from `decide`, which reads nothing. A host is read live before it is claimed, written to for the first time or let go;
passes that only follow a host that is ours take it from the cache, whose next change wakes them again. The choice itself is
made from the cache and only what was chosen is read again, so that a claim costs the same whatever the number of hosts;
why that is safe, is ADR 0005.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from capm3_api import kinds, meta, names, selectors
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers import hosts, owners
from capm3_managers.env import Env
from capm3_managers.machine import delete, gate, hostspec, nodereuse, providerid, selection
from capm3_managers.machine.snapshot import Snapshot
from capm3_managers.manager import Ports
from capm3_managers.ports import Reader, RemoteReader, Unreachable

DOMAIN_POLICY_ANNOTATION = "capm3.metal3.io/failure-domain-policy"
"""On a Metal3Cluster: ``required`` makes its machines wait for a host of their failure domain (report B05)."""


def observe(ports: Ports, key: Key, env: Env) -> Snapshot:
    """The machine, its relatives, its host; a choice, its data, the workload cluster's Nodes as they are due."""
    reader = ports.reader
    obj = reader.get(kinds.METAL3_MACHINE, key)
    if obj is None:
        return Snapshot(None)
    snapshot = _relatives(reader, obj)
    if not gate.is_open(snapshot):
        return snapshot
    if snapshot.deleting:
        return _deletion(reader, snapshot, env)
    snapshot = _with_host(reader, snapshot, live=False)
    if _paused_or_early(snapshot):
        return snapshot
    if _claim_is_due(snapshot):
        snapshot = _candidates(reader, snapshot, env)
    if snapshot.observed is None or snapshot.deleting:
        return snapshot
    return _running(ports, _data(reader, snapshot))


def _running(ports: Ports, snapshot: Snapshot) -> Snapshot:
    """The host once more before it is written to, and the workload cluster once the host runs."""
    if _handover_is_due(snapshot):
        snapshot = _with_host(ports.reader, snapshot, live=True)
    if providerid.is_due(snapshot):
        snapshot = snapshot.but(nodes=_nodes(ports.remote, snapshot))
    return snapshot


def _nodes(remote: RemoteReader, snapshot: Snapshot) -> Sequence[Raw] | Unreachable:
    """The Node with our host's label, or else all: a cluster's machines would otherwise list all Nodes for each machine."""
    if not providerid.is_cloud_providers(snapshot):
        labels = {names.NODE_UUID_LABEL: meta.uid_of(snapshot.host or {})}
        found = remote.nodes(snapshot.cluster_key, labels=labels)
        if found:
            return found
    return remote.nodes(snapshot.cluster_key)


def _relatives(reader: Reader, obj: Raw) -> Snapshot:
    machine = owners.find(reader, obj, kinds.MACHINE)
    cluster = owners.find_cluster(reader, machine) if machine is not None else owners.find_cluster(reader, obj)
    ref = hosts.part(cluster or {}, "spec", "infrastructureRef")
    metal3cluster = None
    if ref.get("name"):
        metal3cluster = reader.get(kinds.METAL3_CLUSTER, Key(meta.key_of(obj).namespace, str(ref["name"])))
    return Snapshot(observed=obj, machine=machine, cluster=cluster, metal3cluster=metal3cluster)


def _with_host(reader: Reader, snapshot: Snapshot, *, live: bool) -> Snapshot:
    """The annotation's host; the cache's word counts only while it says that the host is ours, as it was before."""
    key = snapshot.host_key
    if key is None:
        return snapshot
    if not live:
        known = snapshot.but(host=reader.get(kinds.BARE_METAL_HOST, key))
        if known.holds_host and known.was_associated:
            return known
    return snapshot.but(host=reader.get(kinds.BARE_METAL_HOST, key, live=True))


def _paused_or_early(snapshot: Snapshot) -> bool:
    """Whether a later step stops before anything more is needed."""
    paused = hosts.part(snapshot.cluster or {}, "spec").get("paused") is True
    paused = paused or names.PAUSED_ANNOTATION in hosts.marks(snapshot.observed or {})
    return paused or not (snapshot.settled or gate.bootstrap_ready(snapshot))


def _claim_is_due(snapshot: Snapshot) -> bool:
    """Whether this pass may write a claim, or finish one."""
    return not snapshot.holds_host or not snapshot.was_associated


def _handover_is_due(snapshot: Snapshot) -> bool:
    """Whether this pass may give the host its image and data, a write that happens once and is not made on an old view."""
    host, data = snapshot.host, snapshot.data
    if host is None or hostspec.has_image(host) or not snapshot.was_associated:
        return False
    return snapshot.view.spec.data_template is None or hosts.part(data or {}, "status").get("ready") is True


def _candidates(reader: Reader, snapshot: Snapshot, env: Env) -> Snapshot:
    """A fresh look at the machine itself, at hosts that are its own already, and at what it may claim."""
    own = reader.get(kinds.METAL3_MACHINE, snapshot.key, live=True)
    if own is None or meta.uid_of(own) != meta.uid_of(snapshot.observed or {}):
        return Snapshot(None)
    snapshot = _with_host(reader, snapshot.but(observed=own, host=None), live=True)
    if snapshot.deleting:
        return _deletion(reader, snapshot, env)
    target = snapshot.host
    if not snapshot.annotation:
        snapshot = snapshot.but(choice=_choice(reader, snapshot, env))
        chosen = snapshot.choice.host if snapshot.choice else None
        snapshot = snapshot.but(mine=_mine(reader, snapshot))
        target = chosen
    return _with_secret(reader, snapshot, target)


def _choice(reader: Reader, snapshot: Snapshot, env: Env) -> selection.Choice:
    """Chooses from the cache, then reads the chosen host again."""
    wish = _wish(reader, snapshot, env)
    if not isinstance(wish, selection.Wish):
        return selection.Choice(problem=wish)
    namespace = snapshot.key.namespace
    kept = reader.list(kinds.BARE_METAL_HOST, namespace, index=("claimable", f"reuse/{wish.reuse_name}"))
    free = reader.list(kinds.BARE_METAL_HOST, namespace, index=("claimable", hosts.FREE))
    choice = selection.choose(kept, free, wish, env.rng)
    if choice.host is None:
        if choice.note:
            return choice
        note = selection.summary(reader.list(kinds.BARE_METAL_HOST, namespace), wish)
        return dataclasses.replace(choice, note=note)
    return dataclasses.replace(choice, host=reader.get(kinds.BARE_METAL_HOST, meta.key_of(choice.host), live=True))


def _wish(reader: Reader, snapshot: Snapshot, env: Env) -> selection.Wish | str:
    """What the machine wants; or what is wrong with its selector."""
    raw = hosts.part(snapshot.observed or {}, "spec").get("hostSelector")
    selector = selectors.parse(raw)
    if not isinstance(selector, selectors.Selector):
        return "; ".join(error.text() for error in selector)
    policy = hosts.marks(snapshot.metal3cluster or {}).get(DOMAIN_POLICY_ANNOTATION)
    kept = reader.list(kinds.BARE_METAL_HOST, snapshot.key.namespace, index=("claimable", hosts.ANY_REUSE))
    return selection.Wish(
        selector=selector,
        failure_domain=snapshot.owner.spec.failure_domain,
        domain_required=env.settings.required_failure_domain or policy == "required",
        reuse_name=nodereuse.owner_name(reader, snapshot.machine or {}) if kept else "",
    )


def _mine(reader: Reader, snapshot: Snapshot, *, search: bool = False) -> tuple[Raw, ...]:
    """Hosts that have this machine as consumer: those that the cache names, read again.

    The cache is enough: this program writes the machine's annotation first, so a host that the cache does not show yet as
    ours can only be found by a machine that knows it already (ADR 0005).

    Args:
        search: look among the cluster's hosts on the API server too, which costs a list.
    """
    namespace, name = snapshot.key.namespace, snapshot.key.name
    index = ("consumer", f"{kinds.METAL3_MACHINE.kind}/{name}")
    found = {meta.key_of(host) for host in reader.list(kinds.BARE_METAL_HOST, namespace, index=index)}
    fresh: list[Raw | None] = [snapshot.host] if snapshot.host is not None else []
    found -= {meta.key_of(host) for host in fresh if host is not None}
    fresh += [reader.get(kinds.BARE_METAL_HOST, key, live=True) for key in sorted(found)]
    if search and snapshot.cluster_name:
        labels = {names.CLUSTER_NAME_LABEL: snapshot.cluster_name}
        fresh += list(reader.list(kinds.BARE_METAL_HOST, namespace, labels=labels, live=True))
    ours = [host for host in fresh if host is not None and hosts.is_consumed_by(host, snapshot.observed or {})]
    return tuple({meta.key_of(host): host for host in ours}.values())


def _with_secret(reader: Reader, snapshot: Snapshot, host: Raw | None) -> Snapshot:
    name = hosts.text(host or {}, "spec", "bmc", "credentialsName")
    if not name:
        return snapshot
    secret = reader.get(kinds.SECRET, Key(snapshot.key.namespace, name), live=True)
    return snapshot.but(secret=secret)


def _data(reader: Reader, snapshot: Snapshot) -> Snapshot:
    """Claim and Metal3Data; making a claim that the cache does not show yet does no harm, its name is fixed."""
    if snapshot.view.spec.data_template is None and snapshot.view.status.rendered_data is None:
        return snapshot
    claim = None
    if snapshot.view.status.rendered_data is None:
        claim = reader.get(kinds.METAL3_DATA_CLAIM, snapshot.key)
    known = snapshot.view.status.rendered_data
    name = known.name if known else hosts.text(claim or {}, "status", "renderedData", "name")
    data = reader.get(kinds.METAL3_DATA, Key(snapshot.key.namespace, name)) if name else None
    return snapshot.but(claim=claim, data=data)


def _deletion(reader: Reader, snapshot: Snapshot, env: Env) -> Snapshot:
    """Everything that is still held: hosts, the Secret's label, the data claim; and for whom the host may be kept.

    A machine without annotation may have been left by the Go program after it wrote the host and before the machine; this
    is the last chance to find that host.
    """
    if names.MACHINE_FINALIZER not in (snapshot.view.metadata.finalizers or []):
        return snapshot
    waiting = _while_host_is_cleaned(reader, snapshot, env)
    if waiting is not None:
        return waiting
    snapshot = _with_host(reader, snapshot, live=True)
    snapshot = snapshot.but(
        mine=_mine(reader, snapshot, search=not snapshot.annotation),
        claim=reader.get(kinds.METAL3_DATA_CLAIM, snapshot.key, live=True),
    )
    held = delete.held(snapshot)
    snapshot = _with_secret(reader, snapshot, held[0] if held else None)
    if snapshot.machine is not None and any(delete.is_idle(host) for host in held):
        snapshot = snapshot.but(reuse=nodereuse.read(reader, snapshot.machine))
    return snapshot


def _while_host_is_cleaned(reader: Reader, snapshot: Snapshot, env: Env) -> Snapshot | None:
    """The cache's view, if that shows only one thing left: that the host is still being cleaned; else ``None``.

    The event that ends this state wakes the machine, and what follows is decided on live reads.
    """
    key = snapshot.host_key
    host = reader.get(kinds.BARE_METAL_HOST, key) if key else None
    known = snapshot.but(host=host)
    if host is None or not known.holds_host or delete.is_idle(host):
        return None
    if hostspec.smallest(host, hostspec.deprovision(known, host, env)):
        return None
    index = ("consumer", f"{kinds.METAL3_MACHINE.kind}/{snapshot.key.name}")
    others = len(reader.list(kinds.BARE_METAL_HOST, snapshot.key.namespace, index=index)) > 1
    return None if others or reader.get(kinds.METAL3_DATA_CLAIM, snapshot.key) is not None else known
