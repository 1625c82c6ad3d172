"""The two Secrets of a Metal3Data: their names, what they hold, and whose they are.

Apart from rendering, which knows documents but no Secrets, and from the steps, which only decide when they are made.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.model import Raw
from capm3_api.v1beta2.metal3datatemplate import Metal3DataTemplateSpec

from capm3_managers import owners
from capm3_managers.data import report
from capm3_managers.data.render import document, metadata, networks
from capm3_managers.data.render.sources import Sources

Render = Callable[[Metal3DataTemplateSpec, Sources], dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Part:
    """One of the two documents.

    Args:
        field: in the specs of template and Metal3Data, and the key in the Secret.
        suffix: of the Secret's usual name.
        render: the document, for a template that has the field.
    """

    field: str
    suffix: str
    render: Render


def _metadata(spec: Metal3DataTemplateSpec, sources: Sources) -> dict[str, Any]:
    return dict(metadata.render(spec.meta_data, sources)) if spec.meta_data is not None else {}


def _network_data(spec: Metal3DataTemplateSpec, sources: Sources) -> dict[str, Any]:
    return networks.network_data(spec.network_data, sources) if spec.network_data is not None else {}


METADATA = Part("metaData", "metadata", _metadata)
NETWORK_DATA = Part("networkData", "networkdata", _network_data)
PARTS = (METADATA, NETWORK_DATA)


def wanted(template: Raw) -> tuple[Part, ...]:
    """The parts that a raw template has; an empty object counts, ``null`` does not."""
    spec = template.get("spec") or {}
    return tuple(part for part in PARTS if spec.get(part.field) is not None)


def name_of(part: Part, data: Raw, metal3machine: Raw) -> str:
    """The Secret's name: as the Metal3Data says, else made from the name of the Metal3Machine."""
    chosen = ((data.get("spec") or {}).get(part.field) or {}).get("name")
    return str(chosen or f"{meta.key_of(metal3machine).name}-{part.suffix}")


def text(part: Part, spec: Metal3DataTemplateSpec, sources: Sources) -> str:
    """The rendered document.

    Raises:
        report.Unrenderable: a value can't be had or not be written.
    """
    try:
        return document.dump(part.render(spec, sources))
    except document.Unwritable as error:
        message = f"{part.field} holds a character that YAML forbids where it stands"
        raise report.refuse(report.TEMPLATE_INVALID, str(error), message) from None


def new(part: Part, content: str, data: Raw, around: Sources) -> Raw:
    """The Secret with the rendered text."""
    machine = around.around.machine
    cluster = (machine.get("spec") or {}).get("clusterName") or ""
    name = name_of(part, data, around.around.metal3machine)
    secret = kinds.SECRET.new(around.namespace, name, type=names.RENDERED_SECRET_TYPE)
    secret["metadata"] |= {
        "labels": {names.CLUSTER_NAME_LABEL: str(cluster)},
        "ownerReferences": [owners.make(data, controller=True)],
    }
    return {**secret, "data": {part.field: base64.b64encode(content.encode()).decode()}}


def is_foreign(secret: Raw, data: Raw) -> bool:
    """Whether the Secret belongs to another Metal3Data, with which it will vanish; without an owner it may be used."""
    owner = owners.reference(secret, kinds.METAL3_DATA)
    return owner is not None and owner.get("uid") != meta.uid_of(data)
