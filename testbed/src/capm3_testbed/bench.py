"""``nox -s bench -- controller``: what the controller costs, in requests first, then in time and memory.

With a harness (a folder with ``bench.py``, as used for the Go program) that one is run on a real control plane and its
table printed beside other results. Without, a small measurement of our own on the embedded tier: few machines, real
Redfish, the controller's own counters.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import yaml
from capm3_api.model import Raw
from rich.console import Console
from rich.table import Table

from capm3_testbed import bench_small, net
from capm3_testbed.apiserver import binaries
from capm3_testbed.apiserver.build import MissingToolError
from capm3_testbed.capi import crds

HARNESS_VARIABLE = "CAPM3_BENCH_HARNESS"
COMMAND = (
    "{python} -m capm3_controller --kubeconfig={{kubeconfig}} --webhook-port={{webhook_port}} "
    "--webhook-cert-dir={{certdir}} --diagnostics-address=127.0.0.1:{{metrics_port}} --insecure-diagnostics "
    "--health-addr=127.0.0.1:{{health_port}}"
)
_FIGURES = ("uut_cpu_s", "uut_rss_peak_mib", "wall_s")
LIMITS = "--kube-api-qps=1000 --kube-api-burst=2000"


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code of the benchmark."""
    args, rest = _parser().parse_known_args(argv)
    console = Console(soft_wrap=True)
    try:
        if args.harness is None:
            return bench_small.run(args.machines or 3, console)
        return _harness(args, rest, console)
    except MissingToolError as error:
        console.print(f"bench: {error}", markup=False, highlight=False)
        return 1


def _harness(args: argparse.Namespace, rest: list[str], console: Console) -> int:
    """Runs the harness with what it needs from us, then shows the table beside the others."""
    script = args.harness / "bench.py"
    if not script.is_file():
        raise MissingToolError(f"{script} does not exist; --harness names the folder of the benchmark")
    found = binaries.find(lambda text: console.print(text, markup=False, highlight=False))
    args.results.mkdir(parents=True, exist_ok=True)
    name = f"{args.label}-n{args.machines or 50}-{time.strftime('%H%M%S')}"
    with tempfile.TemporaryDirectory(prefix="capm3-bench-") as scratch:
        environ = _environment(found, Path(scratch), args.harness)
        command = [
            sys.executable, str(script), "--dir", f"{scratch}/control-plane", *_ports(), "run", *_uut_ports(),
            "-n", str(args.machines or 50), "--label", args.label, "--name", name, "--results", str(args.results),
            "--command", COMMAND.format(python=sys.executable), f"--extra={LIMITS}", *rest,
        ]  # fmt: skip
        code = subprocess.run(command, env=environ, check=False).returncode
    ours = args.results / f"{name}.json"
    if ours.is_file():
        _compare(script, [*args.compare, ours], console)
    return code


def _ports() -> list[str]:
    """Free ports for the control plane, so that two benchmarks do not meet."""
    return [f"--etcd-port={net.free_pair()}", f"--api-port={net.free_port()}"]


def _uut_ports() -> list[str]:
    """Free ports for the program under test."""
    return [f"--{name}-port={net.free_port()}" for name in ("webhook", "metrics", "health")]


def _environment(found: binaries.Binaries, scratch: Path, harness: Path) -> dict[str, str]:
    """Where the harness finds programs, and the Cluster API definitions in the layout it reads."""
    bases = scratch / "capi" / "core" / "config" / "crd" / "bases"
    bases.mkdir(parents=True)
    for definition in crds.definitions():
        spec = definition["spec"]
        file = bases / f"{spec['group']}_{spec['names']['plural']}.yaml"
        file.write_text(yaml.safe_dump(definition))
    kubectl = Path(sys.executable).parent / "kubectl"
    known = {
        "BENCH_ETCD": str(found.etcd),
        "BENCH_APISERVER": str(found.kube_apiserver),
        "BENCH_CAPI": str(scratch / "capi"),
        "BENCH_KUBECTL": str(kubectl) if kubectl.is_file() else "kubectl",
    }
    return {**os.environ, **{key: value for key, value in known.items() if key not in os.environ}}


def _compare(script: Path, files: Sequence[Path], console: Console) -> None:
    """The harness's own comparison, and the ratio of ours (last) to the first."""
    subprocess.run([sys.executable, str(script), "compare", *map(str, files)], check=False)
    results = [json.loads(file.read_text()) for file in files]
    if len(results) < 2:
        return
    table = Table(title=f"{files[-1].stem} / {files[0].stem}", title_justify="left")
    for column in ("phase", "requests a machine", "CPU", "memory", "wall"):
        table.add_column(column, justify="right")
    for phase, ours in results[-1]["phases"].items():
        theirs = results[0]["phases"].get(phase)
        if theirs is not None:
            pairs = ((_requests(ours), _requests(theirs)), *((ours[key], theirs[key]) for key in _FIGURES))
            table.add_row(phase, *(_ratio(mine, other) for mine, other in pairs))
    console.print(table)


def _requests(phase: Raw) -> float:
    """Requests a machine of the program under test."""
    return float(phase["requests"]["uut"]["per_machine"])


def _ratio(ours: float, theirs: float) -> str:
    return f"{ours / theirs:.2f}" if theirs else "-"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench controller", description=__doc__, allow_abbrev=False)
    harness = os.environ.get(HARNESS_VARIABLE)
    parser.add_argument(
        "--harness", type=Path, default=Path(harness) if harness else None,
        help=f"folder with bench.py (default: {HARNESS_VARIABLE}); none: the small measurement",
    )  # fmt: skip
    parser.add_argument("-n", "--machines", type=int, default=0, help="machines (harness 50, small 3)")
    parser.add_argument("--compare", type=Path, nargs="*", default=[], help="result files to show beside ours")
    parser.add_argument("--label", default="python")
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
