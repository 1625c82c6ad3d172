"""What the controller costs: ``python -m capm3_testbed.bench``, or ``nox -s bench -- controller``.

Apart from the benchmark harness, which measures any program on a real etcd and kube-apiserver and is not part of this
repository: this finds what the harness needs, runs our controller under it, and prints the figures beside those recorded
of the Go program. Options that are not its own go to the harness: ``-n 200 --phases delete``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from capm3_testbed.apiserver import binaries
from capm3_testbed.apiserver.build import MissingToolError

HARNESS_VARIABLE = "CAPM3_BENCH_HARNESS"
CAPI_MODULE = "sigs.k8s.io/cluster-api@v1.14.2"
"""Its CRDs are installed; the version whose behaviour the managers follow."""

RATES = "--kube-api-qps=1000 --kube-api-burst=2000"
"""As in the recorded runs of the Go program, so that no client-side limit is measured."""


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the harness's exit code; 2 when something it needs is missing."""
    args, rest = _parser().parse_known_args(argv)
    try:
        harness = find_harness(args.harness, os.environ)
        environ = environment(os.environ)
    except MissingToolError as error:
        _say(f"the benchmark can't run: {error}")
        return 2
    program = [sys.executable, str(harness / "bench.py")]
    name = f"{args.label}-n{args.machines}"
    run = ["run", "-n", str(args.machines), "--label", args.label, "--name", name, f"--extra={RATES}"]
    code = subprocess.run([*program, *run, "--results", str(args.results), *rest], env=environ, check=False).returncode
    ours = args.results / f"{name}.json"
    if ours.is_file():
        files = [*recorded(harness.parent / "results", args.machines), ours]
        _say(f"beside the recorded runs of the same size ({ours}):")
        subprocess.run([*program, "compare", *map(str, files)], env=environ, check=False)
    return code


def find_harness(given: Path | None, environ: Mapping[str, str]) -> Path:
    """The folder with the harness's ``bench.py``: as given, as the environment says, or beside the checkout.

    Raises:
        MissingToolError: it is nowhere; the message says how to name it.
    """
    named = given or (Path(environ[HARNESS_VARIABLE]) if environ.get(HARNESS_VARIABLE) else None)
    checkout = Path(__file__).resolve().parents[3]
    candidates = [named] if named else [checkout / "bench/harness", checkout.parent / "shared/bench/harness"]
    for folder in candidates:
        if (folder / "bench.py").is_file():
            return folder.resolve()
    looked = ", ".join(map(str, candidates))
    raise MissingToolError(
        f"the harness (bench.py) is not in {looked}; it is not part of this repository: "
        f"name its folder with --harness DIR or {HARNESS_VARIABLE}"
    )


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment in which the harness finds its programs, ours first on the path; what is set already stays.

    Raises:
        MissingToolError: etcd, kube-apiserver or the CRDs of Cluster API can't be had.
    """
    scripts = sysconfig.get_path("scripts")
    found = dict(environ, PATH=scripts + os.pathsep + environ.get("PATH", os.defpath))
    if not {"BENCH_ETCD", "BENCH_APISERVER"} <= environ.keys():
        programs = binaries.find(_say, environ)
        found.setdefault("BENCH_ETCD", str(programs.etcd))
        found.setdefault("BENCH_APISERVER", str(programs.kube_apiserver))
    found.setdefault("BENCH_KUBECTL", str(Path(scripts) / "kubectl"))
    if "BENCH_CAPI" not in environ:
        found["BENCH_CAPI"] = str(_cluster_api())
    return found


def recorded(results: Path, machines: int) -> list[Path]:
    """Result files of the Go program with that number of machines."""
    return sorted(path for path in results.glob("upstream*.json") if _machines(path) == machines)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


def _machines(path: Path) -> int:
    try:
        return int(json.loads(path.read_text())["config"]["machines"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _cluster_api() -> Path:
    """The folder of the Cluster API module; Go downloads it when it is not in its cache."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["go", "mod", "download", "-json", CAPI_MODULE]
        try:
            answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            return Path(json.loads(answer.stdout)["Dir"])
        except (OSError, ValueError, KeyError) as error:
            raise MissingToolError(
                f"the CRDs of Cluster API come from the Go module {CAPI_MODULE}, which can't be had "
                f"({type(error).__name__}): install Go, or set BENCH_CAPI to the module's folder"
            ) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m capm3_testbed.bench", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--harness", type=Path, help=f"folder of the harness; default: {HARNESS_VARIABLE}")
    parser.add_argument("-n", "--machines", type=int, default=50)
    parser.add_argument("--label", default="python", help="name of this run in the table and of its files")
    default = Path(tempfile.gettempdir(), "capm3-bench-results")
    parser.add_argument("--results", type=Path, default=default, help="folder of the results (default %(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
