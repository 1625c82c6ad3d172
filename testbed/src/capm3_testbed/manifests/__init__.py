"""Manifests that come with the testbed, and the way from any manifest text to objects.

Templates are jinja2; every value goes in as JSON, so that no value can change the shape of the document.
"""

from __future__ import annotations

import dataclasses
import json
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import yaml
from capm3_api.model import Raw


class ManifestError(Exception):
    """A manifest that can't be used; the message names the document and what is wrong."""


@dataclasses.dataclass(frozen=True)
class Values:
    """What the shipped manifest is rendered with.

    Args:
        image_url: of the live ISO.
        node_name: what cloud-init fills in on the machine, as is `node_labels`.
    """

    image_url: str
    cluster: str = "demo"
    namespace: str = "metal3"
    control_planes: int = 1
    workers: int = 2
    version: str = "v1.36.3"
    node_name: str = "{{ ds.meta_data.name }}"
    node_labels: str = "metal3.io/uuid={{ ds.meta_data.uuid }}"


def shipped(values: Values, name: str = "cluster") -> list[Raw]:
    """The objects of a manifest that comes with the testbed."""
    source = resources.files(__package__).joinpath(f"{name}.yaml.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False, finalize=_as_json)
    return parse(environment.from_string(source).render(dataclasses.asdict(values)), f"the manifest {name}")


def load(path: Path, image_url: str) -> list[Raw]:
    """The objects of a user's manifest; ``${IMAGE_URL}`` in it is the live ISO that the testbed serves.

    Raises:
        ManifestError: it can't be read, or holds something that is no object.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}") from error
    return parse(text.replace("${IMAGE_URL}", image_url), str(path))


def parse(text: str, origin: str) -> list[Raw]:
    """The objects of a YAML text, lists unfolded, empty documents left out."""
    try:
        documents = [document for document in yaml.safe_load_all(text) if document is not None]
    except yaml.YAMLError as error:
        raise ManifestError(f"{origin}: not YAML: {error}") from error
    objects: list[Raw] = []
    for number, document in enumerate(documents, 1):
        items = document.get("items") if isinstance(document, dict) and document.get("kind") == "List" else [document]
        for item in items or []:
            if not isinstance(item, dict) or not item.get("kind") or not item.get("apiVersion"):
                raise ManifestError(f"{origin}, document {number}: no apiVersion or kind")
            if not (item.get("metadata") or {}).get("name"):
                raise ManifestError(f"{origin}, document {number} ({item['kind']}): no metadata.name")
            objects.append(item)
    return objects


def namespaces(objects: list[Raw], default: str) -> list[str]:
    """The namespaces that the objects are in, each once."""
    found = [(obj.get("metadata") or {}).get("namespace") or default for obj in objects if obj["kind"] != "Namespace"]
    return sorted(set(found))


def _as_json(value: Any) -> Any:
    return value if isinstance(value, jinja2.Undefined) else json.dumps(value)
