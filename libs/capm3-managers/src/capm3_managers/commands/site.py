"""The objects of some files, found by kind and name, all in the version that the managers read.

Apart from `capm3_api.commands.documents`, which knows YAML and lines but no kinds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from capm3_api import conversion, kinds, meta
from capm3_api.commands import documents, findings, validate
from capm3_api.commands.documents import Document, Unreadable
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import hosts

_MAPS = (("metadata", "labels"), ("metadata", "annotations"), ("spec",), ("status",))


class WrongUsage(Exception):
    """What was asked for does not fit the files; the text says what is there and what to give instead."""


class Site:
    """Everything that the files hold; of two objects of the same kind and name the last one counts."""

    def __init__(self, objects: Iterable[Raw]) -> None:
        self._objects: dict[tuple[str, str, Key], Raw] = {}
        for obj in objects:
            group = meta.group_of(str(obj.get("apiVersion") or ""))
            self._objects[group, str(obj.get("kind") or ""), meta.key_of(obj)] = obj

    def get(self, kind: Kind, key: Key) -> Raw | None:
        return self._objects.get((kind.group, kind.kind, key))

    def all(self, kind: Kind, namespace: str = "") -> list[Raw]:
        """By namespace and name; of all namespaces when none is given."""
        found = [obj for (group, name, _), obj in self._objects.items() if (group, name) == (kind.group, kind.kind)]
        found = [obj for obj in found if namespace in ("", meta.key_of(obj).namespace)]
        return sorted(found, key=meta.key_of)

    def named(self, kind: Kind, name: str) -> Raw | None:
        """The object of that name in whatever namespace.

        Raises:
            WrongUsage: there are several.
        """
        found = [obj for obj in self.all(kind) if meta.key_of(obj).name == name]
        if len(found) > 1:
            where = ", ".join(meta.key_of(obj).namespace for obj in found)
            raise WrongUsage(f"{kind.kind} {name} is in the namespaces {where}; give files of one of them")
        return found[0] if found else None

    def only(self, kind: Kind, name: str, option: str) -> Raw:
        """The object of that name.

        Raises:
            WrongUsage: there is none; names those that there are.
        """
        found = self.named(kind, name)
        if found is None:
            raise WrongUsage(f"{option}: no {kind.kind} {name} in the files; {listed(kind, self.all(kind))}")
        return found

    def hosts(self, namespace: str = "") -> list[Raw]:
        """The hosts, each with its hardware: from its status, else from the HardwareData of its name."""
        return [self.with_hardware(host) for host in self.all(kinds.BARE_METAL_HOST, namespace)]

    def with_hardware(self, host: Raw) -> Raw:
        """The host as inspection would have left it, when its status does not say and a HardwareData does."""
        data = self.get(kinds.HARDWARE_DATA, meta.key_of(host))
        known = hosts.part(data or {}, "spec", "hardware")
        if hosts.part(host, "status", "hardware") or not known:
            return host
        return {**host, "status": {**hosts.part(host, "status"), "hardware": known}}


def listed(kind: Kind, found: Sequence[Raw]) -> str:
    """What there is, for a message."""
    names = ", ".join(meta.key_of(obj).name for obj in found)
    return f"there is {names}" if names else f"there is no {kind.kind} at all"


def read(names: Iterable[str], namespace: str) -> Site:
    """Reads the files.

    Args:
        names: ``-`` is standard input.
        namespace: of objects that name none.

    Raises:
        Unreadable: a file, or an object in it; says where and why.
    """
    return Site(_object(document, namespace) for document in documents.read(names))


def _object(document: Document, namespace: str) -> Raw:
    """The object in the version that the managers read, and of the shape that they may count on."""
    where = f"{document.file}:{document.line}"
    metadata = document.raw.get("metadata")
    if document.problem or not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise Unreadable(f"{where}: {document.problem or 'metadata.name: Required value'}")
    raw: Raw = {**document.raw, "metadata": {**metadata, "namespace": metadata.get("namespace") or namespace}}
    judged = validate.judge(dataclasses.replace(document, raw=raw))
    if judged.verdict == "refused":
        worst = next(finding for finding in judged.findings if finding.severity == findings.ERROR)
        raise Unreadable(f"{document.file}:{worst.line}: {worst.path}: {worst.message}; 'capm3 validate' tells more")
    wrong = next((path for path in _MAPS if not isinstance(_at(raw, path), dict | None)), None)
    if wrong is not None:
        raise Unreadable(f"{where}: {'.'.join(wrong)}: must be an object")
    try:
        return _hub(raw)
    except conversion.ConversionError as problem:
        raise Unreadable(f"{where}: {problem}") from problem


def _hub(raw: Raw) -> Raw:
    ours = meta.group_of(str(raw["apiVersion"])) == kinds.INFRASTRUCTURE
    version = kinds.METAL3_DATA_TEMPLATE.version
    return conversion.convert(raw, to=version) if ours and not str(raw["apiVersion"]).endswith(version) else raw


def _at(raw: Raw, path: tuple[str, ...]) -> object:
    here: object = raw
    for part in path:
        here = here.get(part) if isinstance(here, dict) else None
    return here
