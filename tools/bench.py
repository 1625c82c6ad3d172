"""Runs a benchmark by name; without a name it lists them.

Benchmarks print counts and ratios first: times on a shared machine say little alone.
"""

from __future__ import annotations

import subprocess
import sys

BENCHES = {
    "webhook": ("capm3_webhook.bench", "conversions per second of a 500-object list, admission latency"),
    "controller": ("capm3_testbed.bench", "requests, bytes, CPU and memory of the controller for N machines"),
}


def main() -> int:
    """Starts the module of the named benchmark with the rest of the arguments."""
    names = sys.argv[1:]
    if not names or names[0] not in BENCHES:
        print("usage: nox -s bench -- NAME [options]\n")
        for name, (_, text) in BENCHES.items():
            print(f"  {name:12} {text}")
        return 0 if not names else 2
    return subprocess.run([sys.executable, "-m", BENCHES[names[0]][0], *names[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
