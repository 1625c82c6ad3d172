"""Testbeds that outlive the command that started them: a child in a session of its own, a state file, an end by its id.

Apart from the stack, which lives as long as its process. The child tells through a pipe when it is done, then cuts its
ties to the terminal; the parent passes Ctrl-C on until then.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from capm3_testbed import net
from capm3_testbed.demo import run as demos
from capm3_testbed.stack import Stack
from capm3_testbed.tiers import TIERS


class BackgroundError(Exception):
    """Something runs already, or nothing does; the message says so."""


@dataclasses.dataclass(frozen=True)
class State:
    """What runs in the background.

    Args:
        started: kernel's start time of the process, so that a reused id is not mistaken for it.
    """

    pid: int
    started: str
    tier: str
    kubeconfig: str
    hosts: list[str]

    @property
    def alive(self) -> bool:
        return _start_time(self.pid) == self.started


def state_file(tier: str) -> Path:
    """Where the state of a tier is kept."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "capm3-testbed" / f"{tier}.json"


def read(tier: str) -> State | None:
    """What runs; ``None`` when nothing does."""
    try:
        state = State(**json.loads(state_file(tier).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return state if state.alive else None


def demo(options: demos.Options, console: Console, notify: int) -> int:
    """``demo --keep``: in the parent starts the child and waits for its result; in the child runs the demo and stays."""
    if not notify:
        return _spawn(options.tier, console)
    demos.run(options, console, lambda stack: _stay(stack, console, notify))
    return 0


def up(tier: str, hosts: int, console: Console, notify: int) -> int:
    """``up``: a stack without a cluster."""
    if not notify:
        return _spawn(tier, console)
    with Stack(TIERS[tier](), hosts) as stack:
        stack.start(lambda text: console.print(text, markup=False, highlight=False))
        stack.apply(stack.fleet.objects(stack.namespace))
        _stay(stack, console, notify)
    return 0


def status(tier: str, console: Console) -> int:
    """Says what runs; 0 when something does."""
    state = read(tier)
    if state is None:
        console.print(f"{tier}: nothing runs")
        return 1
    console.print(f"{tier}: runs as process {state.pid}, hosts {', '.join(state.hosts)}")
    for fact in TIERS[tier]().facts:
        console.print(f"  {fact}")
    console.print(f"export KUBECONFIG={state.kubeconfig}", soft_wrap=True)
    return 0


def down(tier: str, console: Console) -> int:
    """Ends it and waits until it is gone; nothing to end is fine."""
    state = read(tier)
    if state is None:
        console.print(f"{tier}: nothing runs")
    else:
        os.kill(state.pid, signal.SIGTERM)
        try:
            net.wait_until(f"process {state.pid} has ended", lambda: not state.alive, 60.0)
        except TimeoutError:
            os.kill(state.pid, signal.SIGKILL)
        console.print(f"{tier}: ended")
    state_file(tier).unlink(missing_ok=True)
    return 0


def _spawn(tier: str, console: Console) -> int:
    """Starts this same command as a child that stays; gives its exit code, or 0 once it says that it is up."""
    running = read(tier)
    if running is not None:
        raise BackgroundError(
            f"{tier} runs already (process {running.pid}); end it with: capm3-testbed down --tier {tier}"
        )
    reader, writer = os.pipe()
    command = [sys.executable, "-m", "capm3_testbed.cli", *sys.argv[1:], f"--notify={writer}"]
    child = subprocess.Popen(command, pass_fds=(writer,), stdin=subprocess.DEVNULL, start_new_session=True)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        while True:
            try:
                answer = pipe.read()
                break
            except KeyboardInterrupt:
                child.send_signal(signal.SIGINT)
    return 0 if answer == "up" else child.wait()


def _stay(stack: Stack, console: Console, notify: int) -> None:
    """In the child: says how to reach it, lets the parent go, and waits for the end."""
    file = state_file(stack.tier.name)
    names = [server.name for server in stack.fleet.servers]
    state = State(os.getpid(), _start_time(os.getpid()), stack.tier.name, str(stack.kubeconfig), names)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(dataclasses.asdict(state)))
    for text in _how(stack):
        console.print(text, soft_wrap=True, markup=False, highlight=False)
    sys.stdout.flush()
    sys.stderr.flush()
    _cut_ties(stack.folder / "testbed.log")
    os.write(notify, b"up")
    os.close(notify)
    try:
        threading.Event().wait()
    finally:
        file.unlink(missing_ok=True)


def _how(stack: Stack) -> Sequence[str]:
    end = f"capm3-testbed down --tier {stack.tier.name}"
    return (
        f"export KUBECONFIG={stack.kubeconfig}",
        f"kubectl --kubeconfig {stack.kubeconfig} get clusters,machines,metal3machines,baremetalhosts -A",
        f"end it with: {end}",
    )


def _cut_ties(log: Path) -> None:
    """Sends further output to a file: the terminal belongs to others from now on."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in (1, 2):
        os.dup2(descriptor, number)
    os.close(descriptor)


def _start_time(pid: int) -> str:
    """When the process began, as the kernel counts; empty when there is none (or it has ended and waits to be reaped)."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] == "Z" else fields[19]
    return ""
