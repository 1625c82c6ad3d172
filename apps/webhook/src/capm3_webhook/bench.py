"""How fast the webhooks are: ``python -m capm3_webhook.bench``, or ``nox -s bench -- webhook``.

Apart from the tests: it measures one server process over TLS on this machine as an API server would use it, and prints
a table. What is measured: converting a list of 500 machines in one review, with the CPU that it takes, and the latency
of single admission reviews on a connection that stays open.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import http.client
import json
import pathlib
import ssl
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

from capm3_api import kinds

from capm3_webhook import certs, paths, server
from capm3_webhook.settings import Settings

_JSON = {"content-type": "application/json"}
LIST = 500
"""Objects in one ConversionReview; the API server's page size."""

CPU_LIMIT_SECONDS = 1.0
"""What one review of 500 objects may cost."""


def run(*, lists: int = 10, reviews: int = 500) -> dict[str, float]:
    """Measures and gives the figures.

    Args:
        lists: ConversionReviews of 500 objects in each direction.
        reviews: AdmissionReviews.
    Returns:
        by name: conversions per second, CPU seconds of a list, latencies in milliseconds.
    """
    with tempfile.TemporaryDirectory() as folder, _serving(pathlib.Path(folder)) as (port, context):
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
        with contextlib.closing(connection):
            found = {
                **_conversions(connection, "v1beta1", "v1beta2", lists),
                **_conversions(connection, "v1beta2", "v1beta1", lists),
                **_admissions(connection, reviews),
            }
    return found


@contextlib.contextmanager
def _serving(folder: pathlib.Path) -> Iterator[tuple[int, ssl.SSLContext]]:
    now = datetime.datetime.now(datetime.UTC)
    authority = certs.authority(now)
    certs.write_pair(authority, folder, ["127.0.0.1"], now)
    settings = Settings(host="127.0.0.1", port=0, cert_dir=folder, health_address="")
    with server.serve(settings) as running:
        if not running.wait_ready(30):
            raise RuntimeError(f"the webhook server did not become ready: {running.not_ready()}")
        yield running.port, ssl.create_default_context(cadata=authority.pem.decode())


def _post(connection: http.client.HTTPSConnection, path: str, body: bytes) -> Any:
    connection.request("POST", path, body, _JSON)
    return json.loads(connection.getresponse().read())["response"]


def _conversions(connection: http.client.HTTPSConnection, old: str, new: str, lists: int) -> dict[str, float]:
    objects = [_machine(old, number) for number in range(LIST)]
    request = {"uid": "u", "desiredAPIVersion": f"{kinds.INFRASTRUCTURE}/{new}", "objects": objects}
    review = {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "request": request}
    body = json.dumps(review).encode()
    times, cpu = [], []
    for _ in range(lists):
        # Client and server share the process, so that the CPU of both counts; the client's part is a few per cent.
        before, used = time.perf_counter(), time.process_time()
        response = _post(connection, paths.CONVERT, body)
        times.append(time.perf_counter() - before)
        cpu.append(time.process_time() - used)
        if len(response["convertedObjects"] or []) != LIST:
            raise RuntimeError(f"a conversion failed: {response['result']}")
    name = f"{old} to {new}"
    return {
        f"{name}: objects/s": LIST / _quantile(times, 0.5),
        f"{name}: list of {LIST}, p99 s": _quantile(times, 0.99),
        f"{name}: list of {LIST}, CPU s": _quantile(cpu, 0.5),
    }


def _admissions(connection: http.client.HTTPSConnection, reviews: int) -> dict[str, float]:
    hook = next(hook for hook in paths.VALIDATING if hook.kind == kinds.METAL3_MACHINE)
    old, new = _machine("v1beta2", 1), _machine("v1beta2", 1)
    new["metadata"]["labels"] = {"edited": "yes"}
    request = {"uid": "u", "operation": "UPDATE", "object": new, "oldObject": old}
    body = json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}).encode()
    times = []
    for number in range(reviews + 20):
        before = time.perf_counter()
        response = _post(connection, hook.path, body)
        if number >= 20:  # the first ones load the schemas
            times.append(time.perf_counter() - before)
        if not response["allowed"]:
            raise RuntimeError(f"a review was denied: {response['status']}")
    return {
        "admission: p50 ms": _quantile(times, 0.5) * 1000,
        "admission: p99 ms": _quantile(times, 0.99) * 1000,
        "admission: reviews/s": len(times) / sum(times),
    }


def _machine(version: str, number: int) -> dict[str, Any]:
    """A machine with what real ones have: image, selector, data references, conditions, addresses."""
    image = {"url": "http://img.example.test/os.raw", "checksum": "http://img.example.test/os.raw.sha256"}
    image |= {"checksumType": "sha256", "format" if version == "v1beta1" else "diskFormat": "raw"}
    spec = {
        "image": image,
        "providerID": f"metal3://lab/host-{number}/m-{number}",
        "hostSelector": {"matchLabels": {"rack": "r1"}},
        "dataTemplate": {"name": "t", "namespace": "lab"},
        "userData": {"name": f"m-{number}", "namespace": "lab"},
    }
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    addresses = [{"type": "InternalIP", "address": f"192.0.2.{number % 250}"}]
    status: dict[str, Any] = {"addresses": addresses}
    if version == "v1beta1":
        status |= {"ready": True, "conditions": [condition]}
    else:
        status |= {"initialization": {"provisioned": True}, "deprecated": {"v1beta1": {"conditions": [condition]}}}
    made = kinds.METAL3_MACHINE.at(version).new("lab", f"m-{number}", spec=spec, status=status)
    made["metadata"] |= {"uid": f"uid-{number}", "finalizers": ["metal3machine.infrastructure.cluster.x-k8s.io"]}
    return made


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(figures: dict[str, float]) -> str:
    """Two columns of text."""
    width = max(map(len, figures))
    return "\n".join(f"{name:<{width}}  {value:>10.3f}" for name, value in figures.items()) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table; exit code 1 when a list costs more CPU than it may."""
    parser = argparse.ArgumentParser(prog="python -m capm3_webhook.bench", description="Measures the webhook server.")
    parser.add_argument("--lists", type=int, default=10, help="reviews of 500 objects in each direction")
    parser.add_argument("--reviews", type=int, default=500, help="admission reviews")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text")
    arguments = parser.parse_args(argv)
    figures = run(lists=arguments.lists, reviews=arguments.reviews)
    sys.stdout.write(json.dumps(figures, indent=2) + "\n" if arguments.output == "json" else table(figures))
    slow = [name for name, value in figures.items() if name.endswith("CPU s") and value > CPU_LIMIT_SECONDS]
    if slow:
        sys.stdout.write(f"over {CPU_LIMIT_SECONDS:g} s of CPU: {', '.join(slow)}\n")
    return 1 if slow else 0


if __name__ == "__main__":
    raise SystemExit(main())
