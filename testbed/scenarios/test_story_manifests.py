"""Manifests as people have them provision as they are, but for the image."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from capm3_api import kinds
from capm3_testbed import manifests
from capm3_testbed.capi.api import mapping, name_of
from capm3_testbed.testing.story import Story

pytestmark = pytest.mark.timeout(600)
REFERENCE = "CAPM3_REFERENCE_MANIFEST"


def test_the_manifest_that_clusterctl_generates_provisions(story: Story) -> None:
    objects = manifests.load(Path(__file__).parent / "data" / "rack.yaml", story.stack.images.url)
    _provisions(story, objects)


def test_a_rendered_manifest_from_elsewhere_provisions(small: Story) -> None:
    """Set CAPM3_REFERENCE_MANIFEST to a manifest that clusterctl rendered."""
    path = os.environ.get(REFERENCE)
    if not path:
        pytest.skip(f"{REFERENCE} names no manifest")
    objects = [_adapted(obj, small) for obj in manifests.load(Path(path), small.stack.images.url)]
    _provisions(small, objects)


def _provisions(story: Story, objects: list[dict[str, Any]]) -> None:
    for obj in objects:
        obj["metadata"]["namespace"] = story.namespace
    story.add_hosts()
    story.stack.apply(objects)
    story.wait("the cluster is ready", story.ready)
    cluster = next(name_of(obj) for obj in objects if obj["kind"] == "Cluster")
    hosts = [name_of(host) for host in story.all(kinds.BARE_METAL_HOST) if mapping(host, "spec", "consumerRef")]
    assert sorted(name_of(node) for node in story.nodes(cluster)) == sorted(hosts)  # the drive's default names


def _adapted(obj: dict[str, Any], story: Story) -> dict[str, Any]:
    """Kinds of ours in v1beta2, the image a live ISO; nothing else."""
    if not obj["apiVersion"].startswith(f"{kinds.INFRASTRUCTURE}/"):
        return obj
    adapted = {**obj, "apiVersion": f"{kinds.INFRASTRUCTURE}/v1beta2"}
    image = mapping(adapted, "spec", "template", "spec", "image")
    if image:
        image.clear()
        image.update(url=story.stack.images.url, diskFormat="live-iso")
    return adapted
