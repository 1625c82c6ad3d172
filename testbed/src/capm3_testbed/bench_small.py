"""A small measurement without a harness: provision and release a few machines on the embedded tier, count what it took.

Apart from the harness's command line: this one needs nothing but the packages, and compares with itself only.
"""

from __future__ import annotations

import dataclasses
import http.client
import os
import re
import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from capm3_testbed import net
from capm3_testbed.stack import Stack
from capm3_testbed.testing.story import Story
from capm3_testbed.tiers import TIERS

_COUNTER = re.compile(r"^rest_client_requests_total\{(?P<labels>[^}]*)\} (?P<value>\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')


@dataclasses.dataclass(frozen=True)
class Mark:
    """The controller's totals at a moment.

    Args:
        requests: by method and code.
        cpu: seconds, user and system.
        rss: MiB.
    """

    at: float
    requests: Counter[str]
    cpu: float
    rss: float


def run(machines: int, console: Console) -> int:
    """Prints a table; 0 when all machines came up and went."""
    port = net.free_port()
    flags = (f"--diagnostics-address=127.0.0.1:{port}", "--insecure-diagnostics")
    with Stack(TIERS["embedded"](), machines, flags) as stack:
        stack.start()
        story = Story(stack, "bench", stack.fleet.servers)
        marks = {"start": _mark(stack, port)}
        story.add_hosts()
        story.wait("the hosts are available", lambda: not story.unreleased())
        marks["hosts inspected"] = _mark(stack, port)
        story.add_cluster(workers=machines - 1)
        story.wait("the cluster is ready", story.ready)
        marks["machines provisioned"] = _mark(stack, port)
        time.sleep(10)
        marks["10 s idle"] = _mark(stack, port)
        story.delete_cluster()
        marks["machines released"] = _mark(stack, port)
    console.print(_table(machines, marks))
    return 0


def _mark(stack: Stack, port: int) -> Mark:
    assert stack.controller is not None
    assert stack.controller.child is not None
    fields = Path(f"/proc/{stack.controller.child.pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    pages = int(fields[21])
    megabyte = 1024 * 1024
    return Mark(
        time.monotonic(),
        _requests(port),
        ticks / os.sysconf("SC_CLK_TCK"),
        pages * os.sysconf("SC_PAGE_SIZE") / megabyte,
    )


def _requests(port: int) -> Counter[str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    finally:
        connection.close()
    counted: Counter[str] = Counter()
    for match in _COUNTER.finditer(text):
        labels = dict(_LABEL.findall(match["labels"]))
        counted[f"{labels.get('method')} {labels.get('code')}"] += int(float(match["value"]))
    return counted


def _table(machines: int, marks: dict[str, Mark]) -> Table:
    table = Table(title=f"{machines} machines, embedded tier", title_justify="left")
    for column in ("phase", "wall s", "CPU s", "RSS MiB", "requests", "a machine", "by method and code"):
        table.add_column(column, overflow="fold")
    before = marks["start"]
    for name, mark in list(marks.items())[1:]:
        made = mark.requests - before.requests
        detail = ", ".join(f"{what}: {count}" for what, count in made.most_common())
        table.add_row(
            name,
            f"{mark.at - before.at:.1f}",
            f"{mark.cpu - before.cpu:.2f}",
            f"{mark.rss:.0f}",
            str(made.total()),
            f"{made.total() / machines:.1f}",
            detail,
        )
        before = mark
    return table
