"""Shows how far a run is: a table that is redrawn on a terminal, plain lines of what changed elsewhere.

Apart from `capm3_managers.overview`, which says what there is to show.
"""

from __future__ import annotations

import time
import types
from typing import Self

from capm3_managers.overview.states import Row
from rich.console import Console
from rich.live import Live
from rich.table import Table

_SHORT = {"KubeadmControlPlane": "Control plane", "MachineDeployment": "Deployment", "BareMetalHost": "Host"}


class Progress:
    """Use it with ``with``; call `show` after each change, `say` for lines of its own."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, refresh_per_second=8, transient=True) if console.is_terminal else None
        self._shown: dict[tuple[str, str], Row] = {}
        self.begin = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since it was made."""
        return time.monotonic() - self.begin

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, text: str) -> None:
        self._console.print(f"[{self.elapsed:5.1f} s] {text}", markup=False, highlight=False, soft_wrap=True)

    def show(self, rows: list[Row]) -> None:
        """Draws the table, or prints the lines that differ from those printed before."""
        if self._live is not None:
            self._live.update(table(rows, self.elapsed))
            return
        for row in rows:
            if self._shown.get((row.kind, row.name)) != row:
                self.say(line(row))
        gone = set(self._shown) - {(row.kind, row.name) for row in rows}
        for kind, name in sorted(gone):
            self.say(f"{kind} {name}: gone")
        self._shown = {(row.kind, row.name): row for row in rows}


def line(row: Row) -> str:
    """One row as a line of a log."""
    return f"{row.kind} {row.name}: {row.state}" + (f" - {row.why}" if row.why else "")


def table(rows: list[Row], elapsed: float) -> Table:
    """The rows as a table."""
    drawn = Table(title=f"{elapsed:.0f} s", title_justify="left", expand=True)
    drawn.add_column("Kind", no_wrap=True)
    for name, ratio in (("Name", 3), ("State", 3), ("Waits for", 7)):
        drawn.add_column(name, ratio=ratio, overflow="fold")
    for row in rows:
        drawn.add_row(
            _SHORT.get(row.kind, row.kind), row.name, row.state, row.why, style="green" if row.done else "yellow"
        )
    return drawn
