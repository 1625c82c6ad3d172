"""One demo from start to end: a stack, a manifest, the wait with its progress, the summary, deletion when asked for.

Apart from the command line, so that tests run it as a function.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from capm3_api import kinds, meta
from capm3_api.model import Raw
from capm3_hwdrivers.testing.emulator import EmulatorError
from capm3_managers.overview import states
from capm3_managers.overview.objects import Objects
from capm3_managers.ports import ApiError
from rich.console import Console

from capm3_testbed import manifests
from capm3_testbed.apiserver.build import MissingToolError
from capm3_testbed.capi.api import text
from capm3_testbed.children import ChildFailedError
from capm3_testbed.demo import summary, view
from capm3_testbed.demo.progress import Progress, line
from capm3_testbed.manifests import ManifestError, Values
from capm3_testbed.mirror import Mirror
from capm3_testbed.stack import Stack, clusters_of
from capm3_testbed.tiers import TIERS

SPARE_HOSTS = 1


class DemoFailedError(Exception):
    """The demo did not come to its end; the message says what was awaited."""


EXPECTED = (
    DemoFailedError,
    ManifestError,
    MissingToolError,
    ChildFailedError,
    EmulatorError,
    ApiError,
    TimeoutError,
)
"""What may go wrong without being a bug here: the command line prints the message and no traceback."""


@dataclasses.dataclass(frozen=True)
class Options:
    """Args:
    manifest: a user's own; ``None`` for the one that is shipped.
    timeout: seconds for the clusters to come up, and again for the deletion.
    delete: whether the clusters are deleted at the end.
    output: ``text`` or ``json``.
    """

    tier: str = "embedded"
    manifest: Path | None = None
    timeout: float = 300.0
    delete: bool = False
    output: str = "text"


def run(options: Options, console: Console, keep: Callable[[Stack], None] | None = None) -> None:
    """Runs it.

    Args:
        keep: called at the end while everything still runs.

    Raises:
        DemoFailedError: the clusters did not come up, or did not go, in time.
        ManifestError: the user's manifest can't be used.
    """
    hosts = view.machines_wanted(_objects(options, "http://127.0.0.1/")) + SPARE_HOSTS
    progress = Progress(console)
    with Stack(TIERS[options.tier](), hosts) as stack:
        stack.start(progress.say)
        objects = _objects(options, stack.images.url)
        namespace = next(iter(manifests.namespaces(clusters_of(objects), stack.namespace)), stack.namespace)
        stack.apply([*stack.fleet.objects(namespace), *objects])
        progress.say(f"applied {len(objects)} objects and {hosts} hosts in namespace {namespace}")
        with _mirror(stack) as mirror:
            _await(mirror, progress, lambda: view.ready(mirror), options.timeout, "the clusters are ready")
            _finish(stack, mirror, progress, options, console)
            if options.delete:
                delete(stack, mirror, progress, clusters_of(objects), options.timeout)
                progress.say("deleted; every host is released")
        if keep is not None:
            keep(stack)


def delete(stack: Stack, mirror: Mirror, progress: Progress, clusters: Sequence[Raw], timeout: float) -> None:
    """Deletes the clusters and waits until they are gone and every host is free."""
    for cluster in clusters:
        stack.api.delete(kinds.CLUSTER, meta.key_of(cluster))
    _await(mirror, progress, lambda: released(mirror), timeout, "every host is released")


def released(objects: Objects) -> bool:
    """Whether no Cluster is left and no host has a consumer, an image or work in progress."""
    hosts = objects.all(kinds.BARE_METAL_HOST)
    return not objects.all(kinds.CLUSTER) and all(
        not (host.get("spec") or {}).get("consumerRef")
        and not (host.get("spec") or {}).get("image")
        and text(host, "status", "provisioning", "state") in ("available", "ready")
        for host in hosts
    )


def _objects(options: Options, image_url: str) -> list[Raw]:
    if options.manifest is not None:
        return manifests.load(options.manifest, image_url)
    return manifests.shipped(Values(image_url))


@contextlib.contextmanager
def _mirror(stack: Stack) -> Iterator[Mirror]:
    mirror = Mirror(stack.api, view.WATCHED)
    try:
        mirror.start()
        yield mirror
    finally:
        mirror.stop()


def _await(mirror: Mirror, progress: Progress, check: Callable[[], bool], timeout: float, what: str) -> None:
    end = time.monotonic() + timeout
    with progress:
        while True:
            progress.show(states.rows(mirror))
            if check():
                return
            if time.monotonic() > end:
                break
            mirror.wake.wait(0.5)
    stuck = [line(row) for row in states.rows(mirror) if not row.done]
    raise DemoFailedError("\n  ".join([f"not true after {timeout:.0f} s: {what}", *stuck]))


def _finish(stack: Stack, mirror: Mirror, progress: Progress, options: Options, console: Console) -> None:
    found = summary.collect(stack.api, mirror, stack.fleet.requests(), progress.elapsed)
    if options.output == "json":
        console.file.flush()
        print(json.dumps(found.data(), indent=2))  # noqa: T201 (the answer, apart from the progress on stderr)
    else:
        summary.draw(found, console)
