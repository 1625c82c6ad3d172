"""Replays a recorded life cycle: the same API writes go to `World`, and our managers run in place of the Go programs.

Apart from `vectors_lifecycle`, which judges what comes out. The recordings know no garbage collector, no Baremetal
Operator and no Cluster API core, so neither does the replay; see the description of the recordings.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import cluster, data, datatemplate, diff, ippool, machine
from capm3_managers.ports import ApiError, Unreachable
from capm3_managers.settings import Settings
from capm3_managers.testing import cache, consistency, peers
from capm3_managers.testing.scenario import NeverSettled, Scenario
from capm3_managers.testing.world import World

MANAGERS = (cluster.MANAGER, machine.MANAGER, datatemplate.MANAGER, data.MANAGER, ippool.MANAGER)
_PATH = re.compile(r"^/apis?/(?:([^/]+)/)?(v[^/]+)/(?:namespaces/([^/]+)/)?([^/?]+)(?:/([^/?]+))?(?:/(status))?$")
_UID_NAME = "<uid:{kind}/{name}>"
_TOUCH = "touch.example.com/n"
_UID = re.compile(r"<uid:([A-Za-z0-9]+)/([^>]+)>")

# What admission and schema defaulting added while recording; `World` alone has neither.
_DEFAULTS: Mapping[str, Raw] = {
    "BareMetalHost": {"spec": {"automatedCleaningMode": "metadata"}},
    "Metal3Cluster": {"spec": {"cloudProviderEnabled": False}},
}


@dataclasses.dataclass(frozen=True)
class Step:
    """What the recording has after a step, and what we have; both in `consistency.plain` form."""

    name: str
    recorded: list[Raw]
    ours: list[Raw]
    problem: str = ""


def run(recording: Mapping[str, Any]) -> Iterator[Step]:
    """Replays step by step."""
    world, workloads = World(collect=False), peers.Workloads()
    reachable = "failed to retrieve kubeconfig secret" not in json.dumps(recording)
    admitted = "admission webhook configurations deleted" not in str(recording.get("managerVariant"))
    defaults = _DEFAULTS if admitted else {}
    settings = Settings(fast_track="CAPM3_FAST_TRACK=true" in str(recording.get("managerVariant")))
    scenario = Scenario(world, MANAGERS, settings=settings, remote=workloads, check=False)
    uids: dict[str, str] = {}
    for step in recording["steps"]:
        problem = ""
        for action in step["actions"]:
            if "method" in action or reachable:
                problem = problem or _act(world, workloads, action, defaults)
            try:
                scenario.until_settled(silent=False)
            except NeverSettled as error:
                problem = str(error)
            uids |= {
                meta.uid_of(obj): _UID_NAME.format(**obj, name=meta.key_of(obj).name) for obj in _all(world, workloads)
            }
        ours = _named(_all(world, workloads), uids)
        yield Step(step["step"], _plain(step["snapshot"]), _plain(ours), problem)


def _act(world: World, workloads: peers.Workloads, action: Mapping[str, Any], defaults: Mapping[str, Raw]) -> str:
    """One recorded write; the answer says what went wrong with it.

    Touching an object that is gone is no problem: the recording only touched it because its manager had to be woken.
    """
    if "method" not in action:
        found = re.search(r"Secret (\S+)-kubeconfig created", str(action.get("note")))
        if found:
            workloads.clusters.setdefault(Key("site-a", found.group(1)), {})
        return ""
    if action["code"] >= 300:
        return ""
    match = _PATH.match(action["path"].partition("?")[0])
    if match is None:
        return f"path {action['path']} is not understood"
    group, version, namespace, plural, name, subresource = match.groups()
    kind = _kind(group or "", version, plural, action.get("body") or {})
    body = _with_uids(world, workloads, action.get("body") or {})
    if kind == kinds.NODE:
        return _act_on_node(workloads, action["method"], name or meta.key_of(body).name, body)
    try:
        if action["method"] == "POST":
            body = diff.apply(defaults.get(kind.kind, {}), body)
        _write(world, action["method"], (kind, Key(namespace or "", name or ""), subresource or ""), body)
    except ApiError as error:
        touched = error.is_not_found and _TOUCH in json.dumps(body)
        return "" if touched else f"{action['method']} {action['path']}: {error}"
    return ""


def _write(world: World, method: str, place: tuple[Kind, Key, str], body: Raw) -> None:
    kind, key, subresource = place
    if method == "POST":
        world.create(body)
    elif method == "PATCH":
        world.patch(kind, key, body, subresource=subresource)
    elif method == "PUT":
        world.update(body, subresource=subresource)
    elif method == "DELETE":
        world.delete(kind, key)


def _act_on_node(workloads: peers.Workloads, method: str, name: str, body: Raw) -> str:
    if not workloads.clusters:
        workloads.clusters[Key("site-a", "orchid")] = {}
    for nodes in workloads.clusters.values():
        if isinstance(nodes, Unreachable):
            continue
        if method == "DELETE":
            nodes.pop(name, None)
        else:
            nodes[name] = diff.apply(nodes.get(name, {"metadata": {"uid": f"node-uid-{name}"}}), body)
    return ""


def _kind(group: str, version: str, plural: str, body: Raw) -> Kind:
    known = cache.kinds_by_plural().get((group, plural))
    return known or Kind(group, version, str(body.get("kind") or plural), plural)


def _with_uids(world: World, workloads: peers.Workloads, body: Raw) -> Raw:
    """Names of uids in the recording become the uids of our objects."""
    known = {(obj["kind"], meta.key_of(obj).name): meta.uid_of(obj) for obj in _all(world, workloads)}
    text = _UID.sub(lambda match: known.get((match[1], match[2]), match[0]), json.dumps(body))
    found: Raw = json.loads(text)
    return found


def _all(world: World, workloads: peers.Workloads) -> list[Raw]:
    nodes = [node for found in workloads.clusters.values() if isinstance(found, dict) for node in found.values()]
    return [*world.all(), *({"apiVersion": "v1", "kind": "Node", **node} for node in nodes)]


def _named(objects: list[Raw], uids: Mapping[str, str]) -> list[Raw]:
    """Uids by their names, those of objects that are gone included."""
    text = json.dumps(objects)
    for uid, name in uids.items():
        text = text.replace(uid, name) if uid else text
    found: list[Raw] = json.loads(text)
    return found


def _plain(objects: list[Raw]) -> list[Raw]:
    """What is compared: the recordings decode Secrets, hide the driver's own annotation, and know one namespace."""
    found = [obj for obj in consistency.plain(objects) if meta.key_of(obj).namespace in ("", "site-a")]
    return [_tidy(obj) for obj in found]


def _tidy(obj: Raw) -> Raw:
    metadata = dict(obj.get("metadata") or {})
    marks = {name: value for name, value in (metadata.pop("annotations", None) or {}).items() if name != _TOUCH}
    metadata |= {"annotations": marks} if marks else {}
    metadata = {name: value for name, value in metadata.items() if value not in ({}, [])}
    hidden = ("dataDecoded", "data", "stringData", "type") if obj.get("kind") == "Secret" else ()
    found = {name: value for name, value in obj.items() if name not in hidden} | {"metadata": metadata}
    if obj.get("kind") == "Node":
        found["spec"] = {name: value for name, value in (obj.get("spec") or {}).items() if name != "taints"}
    return found
