"""Reads a host, its Secret and its server; judges nothing but whether there is something to ask the server about."""

from __future__ import annotations

from capm3_api import kinds
from capm3_api.external.bmo import BareMetalHost
from capm3_api.meta import Key

from capm3_managers.env import Env
from capm3_managers.host import backoff, credentials, detach, states
from capm3_managers.host.snapshot import Snapshot
from capm3_managers.manager import Ports
from capm3_managers.ports import BmcAccess


def observe(ports: Ports, key: Key, env: Env) -> Snapshot:
    """The host and its Secret are read live: what they say decides about real power."""
    raw = ports.reader.get(kinds.BARE_METAL_HOST, key, live=True)
    if raw is None:
        return Snapshot(None)
    host = BareMetalHost.from_raw(raw)
    annotations = host.metadata.annotations or {}
    if credentials.is_paused(annotations):
        return Snapshot(raw, host)
    hardware_data = ports.reader.get(kinds.HARDWARE_DATA, key, live=True)
    secret_key = credentials.secret_key(host)
    secret = ports.reader.get(kinds.SECRET, secret_key, live=True) if secret_key is not None else None
    access = credentials.access(host, secret)
    if not isinstance(access, BmcAccess):
        return Snapshot(raw, host, hardware_data, secret, problem=access)
    wait = backoff.left(host, secret, env)
    snapshot = Snapshot(raw, host, hardware_data, secret, access, wait=wait)
    if not _asks(snapshot, env):
        return snapshot
    state = states.of(host.status.provisioning.state)
    server = ports.bmc.observe(access, inventory=state.reads_inventory, media=state.reads_media)
    return Snapshot(raw, host, hardware_data, secret, access, server=server)


def _asks(snapshot: Snapshot, env: Env) -> bool:
    host = snapshot.host
    if snapshot.wait > 0 or not snapshot.state.asks or detach.wanted(snapshot):
        return False
    if snapshot.deleting:
        return snapshot.state.name in (states.DEPROVISIONING, states.POWERING_OFF)
    return snapshot.secret is None or credentials.claim(host, snapshot.secret) is None
