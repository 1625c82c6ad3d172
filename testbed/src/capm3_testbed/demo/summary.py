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
from capm3_managers.overview import states, tree
from capm3_managers.overview.objects import Objects
from capm3_managers.overview.states import Row
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from capm3_testbed.capi.api import Api, name_of, text
from capm3_testbed.demo import view


@dataclasses.dataclass(frozen=True)
class Summary:
    """Args:
    ready: whether the clusters came up.
    tree: for each object that nobody owns: kind, name, state and what it owns, recursively; see `tree.forest`.
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
        states.rows(objects),
        tree.forest(objects),
        _documents(api, objects),
        {name: _counted(seen) for name, seen in requests.items()},
    )


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
    shown = Tree("Objects")
    for root in summary.tree:
        _grow(shown, root)
    console.print(shown)
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


def _grow(above: Tree, node: Raw) -> None:
    told = f"  {node['state']}" if node["state"] else ""
    branch = above.add(Text(f"{node['kind']} {node['name']}{told}"))
    for child in node["children"]:
        _grow(branch, child)
