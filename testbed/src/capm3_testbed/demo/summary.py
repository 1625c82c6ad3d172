"""The end of a demo as data and as text: tree of objects, one machine's rendered documents, Redfish requests, the time.

Apart from the progress, because ``-o json`` prints the same as data.
"""

from __future__ import annotations

import base64
import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_hwdrivers.testing.emulator import Request
from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from capm3_testbed.capi import shapes
from capm3_testbed.capi.api import Api, name_of, text
from capm3_testbed.demo import view
from capm3_testbed.demo.view import Objects, Row


@dataclasses.dataclass(frozen=True)
class Summary:
    """Args:
    ready: whether the clusters came up.
    tree: for each object that nobody owns: kind, name and what it owns, recursively.
    documents: metaData and networkData of one machine, as rendered.
    redfish: for each server the requests it saw, as (method and path, times).
    """

    ready: bool
    seconds: float
    rows: Sequence[Row]
    tree: Sequence[Raw]
    documents: Mapping[str, str]
    redfish: Mapping[str, Sequence[tuple[str, int]]]

    def data(self) -> Raw:
        """For ``-o json``."""
        return dataclasses.asdict(self)


def collect(api: Api, objects: Objects, requests: Mapping[str, Sequence[Request]], seconds: float) -> Summary:
    """Looks at everything once."""
    return Summary(
        view.ready(objects),
        round(seconds, 1),
        view.rows(objects),
        _tree(objects),
        _documents(api, objects),
        {name: _counted(seen) for name, seen in requests.items()},
    )


def _tree(objects: Objects) -> list[Raw]:
    """Owners above what they own; hosts hang under the Metal3Machine that holds them."""
    everything = [obj for kind in view.WATCHED for obj in objects.all(kind)]
    children: dict[str, list[Raw]] = {}
    roots: list[Raw] = []
    uids = {meta.uid_of(obj) for obj in everything}
    holders = {name_of(obj): meta.uid_of(obj) for obj in objects.all(kinds.METAL3_MACHINE)}
    for obj in everything:
        owner = next((str(ref.get("uid")) for ref in shapes.owners(obj) if ref.get("uid") in uids), "")
        owner = owner or holders.get(text(obj, "spec", "consumerRef", "name"), "")
        (children.setdefault(owner, []) if owner else roots).append(obj)
    return [_node(obj, children, frozenset()) for obj in roots]


def _node(obj: Raw, children: Mapping[str, list[Raw]], above: frozenset[str]) -> Raw:
    uid = meta.uid_of(obj)
    below = [] if uid in above else children.get(uid, [])
    return {
        "kind": obj.get("kind"),
        "name": name_of(obj),
        "children": [_node(child, children, above | {uid}) for child in below],
    }


def _documents(api: Api, objects: Objects) -> dict[str, str]:
    """What was rendered for the first machine that has data."""
    for machine in objects.all(kinds.METAL3_MACHINE):
        found = {}
        for field, key in (("metaData", "metaData"), ("networkData", "networkData")):
            name = text(machine, "status", field, "name")
            secret = api.get(kinds.SECRET, Key(meta.key_of(machine).namespace, name)) if name else None
            content = text(secret or {}, "data", key)
            if content:
                found[f"{name_of(machine)} {field}"] = base64.b64decode(content).decode()
        if found:
            return found
    return {}


def _counted(requests: Sequence[Request]) -> list[tuple[str, int]]:
    """What was done to the server, in the order of the first time; reads of documents are summed up."""
    counts: Counter[str] = Counter()
    for request in requests:
        what = (
            "GET (reads)" if request.method == "GET" else f"{request.method} {_tail(request.path)}{_body(request.body)}"
        )
        counts[what] += 1
    return list(counts.items())


def _tail(path: str) -> str:
    parts = [part for part in path.split("/") if part]
    if "Actions" in parts:
        return parts[-1]
    return "/".join([*parts[2:3], *parts[4:]]) or path


def _body(body: Any) -> str:
    """The part of a request that says what it does."""
    if not isinstance(body, dict):
        return ""
    boot = body.get("Boot")
    shown = {
        "ResetType": body.get("ResetType"),
        "Image": body.get("Image"),
        "Boot": boot.get("BootSourceOverrideTarget") if isinstance(boot, dict) else None,
    }
    told = ", ".join(f"{key}={value}" for key, value in shown.items() if value)
    return f" ({told})" if told else ""


def draw(summary: Summary, console: Console) -> None:
    """Prints it for people."""
    tree = Tree("Objects")
    for root in summary.tree:
        _grow(tree, root)
    console.print(tree)
    for name, content in summary.documents.items():
        console.rule(name, align="left")
        console.print(content.rstrip(), markup=False, highlight=False)
    table = Table(title="Redfish requests", title_justify="left")
    for column in ("Server", "Request", "Times"):
        table.add_column(column, overflow="fold")
    for server, requests in summary.redfish.items():
        for number, (what, times) in enumerate(requests):
            table.add_row(server if not number else "", what, str(times))
    console.print(table)
    console.print(f"{'Ready' if summary.ready else 'Not ready'} after {summary.seconds:.1f} s", highlight=False)


def _grow(tree: Tree, node: Raw) -> None:
    branch = tree.add(f"{node['kind']} {node['name']}")
    for child in node["children"]:
        _grow(branch, child)
