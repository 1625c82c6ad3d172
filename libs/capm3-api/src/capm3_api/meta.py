"""Object metadata, references and the table of the kinds that this project reads or writes.

Apart from the kinds, because every one of them has it and the runtime needs it without knowing any kind.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import PrivateAttr

from capm3_api import model
from capm3_api.model import Model, Problem, Raw


class OwnerReference(Model):
    """``metadata.ownerReferences[]``."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Model):
    """``metadata``; times are RFC 3339 text as the server sent them."""

    name: str = ""
    generate_name: str | None = None
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    owner_references: list[OwnerReference] | None = None


@dataclasses.dataclass(frozen=True, order=True)
class Key:
    """Namespace and name of an object; the namespace is ``""`` for cluster-scoped kinds."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclasses.dataclass(frozen=True, order=True)
class Kind:
    """One kind of object in one version.

    Args:
        group: ``""`` for core.
        plural: the REST resource, lower case.
    """

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_kind(self) -> str:
        """``Metal3Machine.infrastructure.cluster.x-k8s.io``, as annotations and RBAC texts have it."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    def at(self, version: str) -> Kind:
        """The same kind in another version."""
        return dataclasses.replace(self, version=version)

    def new(self, namespace: str, name: str, **rest: Any) -> Raw:
        """The start of an object of this kind: apiVersion, kind, metadata and what is given."""
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "metadata": {"namespace": namespace, "name": name},
            **rest,
        }


class Object(Model):
    """A whole Kubernetes object.

    Attributes:
        problems: values that could not be read, each left out of the typed view (but kept by `raw`).
        raw: the JSON the object was read from; read only.
    """

    API_VERSION: ClassVar[str] = ""
    KIND: ClassVar[str] = ""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()

    _raw: Raw = PrivateAttr(default_factory=dict)
    _problems: tuple[Problem, ...] = PrivateAttr(default=())

    @property
    def key(self) -> Key:
        return Key(self.metadata.namespace, self.metadata.name)

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self._problems

    @property
    def raw(self) -> Raw:
        return self._raw

    @classmethod
    def from_raw(cls, raw: Mapping[str, Any]) -> Self:
        """Reads an object. Never raises on JSON data: see `problems`."""
        obj, problems = model.read(cls, raw)
        obj._raw = dict(raw)
        obj._problems = problems
        return obj


def group_of(api_version: str) -> str:
    """The group of an ``apiVersion``; ``""`` for core."""
    return api_version.rpartition("/")[0]


def key_of(raw: Mapping[str, Any]) -> Key:
    """Namespace and name of a raw object; a value that is no text counts as empty."""
    metadata = raw.get("metadata")
    found = [metadata.get(part) if isinstance(metadata, Mapping) else None for part in ("namespace", "name")]
    return Key(*(value if isinstance(value, str) else "" for value in found))


def uid_of(raw: Mapping[str, Any]) -> str:
    return (raw.get("metadata") or {}).get("uid") or ""


def version_of(raw: Mapping[str, Any]) -> str:
    """The resourceVersion of a raw object."""
    return (raw.get("metadata") or {}).get("resourceVersion") or ""
