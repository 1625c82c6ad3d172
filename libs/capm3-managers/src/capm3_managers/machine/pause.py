"""Pausing: keeps the host as paused as its cluster is, and holds back ``clusterctl move`` until that is so.

Apart from `gate`, because this is about the host too: the Baremetal Operator must stop before its object is moved, and
the host's status has to travel with it in an annotation. Behaviour facts on CAPM3 5.2.3 to 5.2.5.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.model import Raw

from capm3_managers import hosts, outcomes, pausing
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.machine.snapshot import Snapshot
from capm3_managers.plan import Patch

# What the status annotation holds for fields that a host's status lacks, as the Baremetal Operator's own type has it.
_OPERATION = {"end": None, "start": None}
_STATUS: Raw = {
    "errorCount": 0,
    "errorMessage": "",
    "goodCredentials": {},
    "operationHistory": dict.fromkeys(("deprovision", "inspect", "provision", "register"), _OPERATION),
    "operationalStatus": "",
    "poweredOn": False,
    "provisioning": {"ID": "", "image": {"url": ""}, "state": ""},
    "provisioningFailCount": 0,
    "triedCredentials": {},
}


def host_pause(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Brings the annotations of our host in line with the Cluster's pause."""
    host = snapshot.host
    if host is None or not snapshot.holds_host:
        return draft
    paused = pausing.cluster_is_paused(snapshot.cluster)
    changes = _pause(host) if paused else _resume(host, snapshot.cluster_name)
    if not changes:
        return draft
    patch = {"metadata": {"annotations": changes}}
    done = draft.act(Patch(kinds.BARE_METAL_HOST, meta.key_of(host), patch, meta.version_of(host)))
    return done if paused else done.end("the host's annotations follow the Cluster's pause")


def paused(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Stops while the Cluster or the machine is paused."""
    if pausing.is_paused(snapshot.cluster, snapshot.observed or {}):
        draft = draft.outcome(outcomes.PAUSED)
        return draft.wait(outcomes.MACHINE_PAUSED, seconds=env.settings.requeue_seconds)
    return draft.outcome(outcomes.NOT_PAUSED)


def status_annotation(host: Mapping[str, Any]) -> str:
    """The host's status without hardware details, compact and with sorted keys."""
    status = {name: value for name, value in hosts.part(host, "status").items() if name != "hardware"}
    return json.dumps(_filled(_STATUS, status), sort_keys=True, separators=(",", ":"))


def _pause(host: Raw) -> Raw:
    """In one write what the Go program does in three: paused, with its status kept, and free to be moved."""
    marks = hosts.marks(host)
    gone: Raw = {names.BLOCK_MOVE_ANNOTATION: None} if names.BLOCK_MOVE_ANNOTATION in marks else {}
    if names.HOST_PAUSED_ANNOTATION in marks:
        return gone
    return {
        **gone,
        names.HOST_PAUSED_ANNOTATION: names.HOST_PAUSED_BY_US,
        names.HOST_STATUS_ANNOTATION: status_annotation(host),
    }


def _resume(host: Raw, cluster_name: str) -> Raw:
    """Takes our own pause back (a user's stays), and holds back a move of a host that is not paused."""
    marks = hosts.marks(host)
    value = marks.get(names.HOST_PAUSED_ANNOTATION)
    if value is None:
        return {} if names.BLOCK_MOVE_ANNOTATION in marks else {names.BLOCK_MOVE_ANNOTATION: ""}
    if value != names.HOST_PAUSED_BY_US or hosts.labels(host).get(names.CLUSTER_NAME_LABEL) != cluster_name:
        return {}
    return {names.HOST_PAUSED_ANNOTATION: None, names.BLOCK_MOVE_ANNOTATION: ""}


def _filled(default: Any, value: Any) -> Any:
    if not isinstance(default, dict) or not isinstance(value, Mapping):
        return value
    filled = {name: _filled(default[name], value[name]) if name in value else default[name] for name in default}
    return filled | {name: value[name] for name in value if name not in default}
