"""Checks across the objects of the given files: references to what is not there, selectors that match no host.

Apart from the rules for one object, because the API server never makes these: it takes every order of creation. Foreign
kinds are read in whatever version they are written in. References are a table: which kind refers where, by which path.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from capm3_api import kinds, schemas, selectors
from capm3_api.commands.documents import Document
from capm3_api.commands.findings import ERROR, WARNING, Finding
from capm3_api.validation.values import at, items, mapping, text

Place = tuple[str, int, int]
"""File, document and line: where a finding belongs."""


@dataclasses.dataclass(frozen=True)
class Reference:
    """One reference by name within a namespace."""

    path: str
    group: str
    kind: str
    name: str


class Objects:
    """The objects of all files, by group, kind, namespace and name."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._known: dict[tuple[str, str, str, str], Document] = {}
        for document in documents:
            kind, name = text(document.raw.get("kind")), text(at(document.raw, "metadata", "name"))
            self._known[_group(document.raw), kind, _namespace(document), name] = document

    def has(self, namespace: str, reference: Reference) -> bool:
        return (reference.group, reference.kind, namespace, reference.name) in self._known

    def of(self, group: str, kind: str, namespace: str) -> list[Document]:
        return [doc for (g, k, n, _), doc in self._known.items() if (g, k, n) == (group, kind, namespace)]


def check(documents: Sequence[Document], *, complete: bool = False) -> dict[Place, list[Finding]]:
    """Findings by the document they belong to.

    Args:
        complete: the documents are all there is; what is missing is an error then, else a warning.
    """
    objects = Objects(documents)
    severity = ERROR if complete else WARNING
    found: dict[Place, list[Finding]] = {}
    for document in documents:
        mine = [*_dangling(document, objects, severity), *_hostless(document, objects, severity), *_patches(document)]
        if mine:
            found[document.file, document.index, document.line] = mine
    return found


def _group(raw: Mapping[str, Any]) -> str:
    return text(raw.get("apiVersion")).rpartition("/")[0]


def _namespace(document: Document) -> str:
    return text(at(document.raw, "metadata", "namespace"))


def _dangling(document: Document, objects: Objects, severity: str) -> Iterator[Finding]:
    for reference in references(document.raw):
        if not objects.has(_namespace(document), reference):
            message = f"{reference.kind} {reference.name} is in none of the files (namespace {_namespace(document)})"
            yield Finding(severity, reference.path, message, line=document.line_of(reference.path))


def references(raw: Mapping[str, Any]) -> Iterator[Reference]:
    """The references of one object to objects that these files may hold."""
    kind = text(raw.get("kind"))
    if _group(raw) == kinds.INFRASTRUCTURE:
        yield from _ours(raw, kind)
    elif _group(raw) in (kinds.CAPI, kinds.CAPI_CONTROL_PLANE):
        yield from _foreign(raw.get("spec"), "spec")


def _ours(raw: Mapping[str, Any], kind: str) -> Iterator[Reference]:
    spec = {"Metal3Machine": ("spec",), "Metal3MachineTemplate": ("spec", "template", "spec")}.get(kind)
    if spec:
        name = text(at(raw, *spec, "dataTemplate", "name"))
        if name:
            path = ".".join((*spec, "dataTemplate", "name"))
            yield Reference(path, kinds.INFRASTRUCTURE, "Metal3DataTemplate", name)
    if kind == "Metal3DataTemplate":
        yield from _pools(raw)


_POOL_LISTS = ("ipAddressesFrom", "prefixesFrom", "gatewaysFrom", "dnsServersFrom")


def _pools(raw: Mapping[str, Any]) -> Iterator[Reference]:
    for name in [f"{start}{end}" for start in _POOL_LISTS for end in ("Pool", "IPPool")]:
        for index, item in enumerate(items(at(raw, "spec", "metaData", name))):
            yield from _pool(item, f"spec.metaData.{name}[{index}].name", item.get("name"))
    for family in ("ipv4", "ipv6"):
        for index, network in enumerate(items(at(raw, "spec", "networkData", "networks", family))):
            path = f"spec.networkData.networks.{family}[{index}]"
            yield from _pool({}, f"{path}.ipAddressFromIPPool", network.get("ipAddressFromIPPool"))
            reference = mapping(network.get("fromPoolRef"))
            yield from _pool(reference, f"{path}.fromPoolRef.name", reference.get("name"))


def _pool(reference: Mapping[str, Any], path: str, name: Any) -> Iterator[Reference]:
    if text(name):
        group = text(reference.get("apiGroup")) or kinds.METAL3_IPAM
        yield Reference(path, group, text(reference.get("kind")) or "IPPool", text(name))


def _foreign(value: Any, path: str) -> Iterator[Reference]:
    """Every reference to a kind of ours within a Cluster API object, in the form of either contract version."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _foreign(item, f"{path}[{index}]")
    if not isinstance(value, Mapping):
        return
    group = text(value.get("apiGroup")) or _group(value)
    name = text(value.get("name"))
    if group == kinds.INFRASTRUCTURE and name and text(value.get("kind")):
        yield Reference(f"{path}.name", group, text(value.get("kind")), name)
        return
    for key, item in value.items():
        yield from _foreign(item, f"{path}.{key}")


def _hostless(document: Document, objects: Objects, severity: str) -> Iterator[Finding]:
    """A selector that matches none of the hosts in the files; without any host there is nothing to say."""
    spec = {"Metal3Machine": ("spec",), "Metal3MachineTemplate": ("spec", "template", "spec")}
    where = spec.get(text(document.raw.get("kind")))
    hosts = objects.of(kinds.METAL3, "BareMetalHost", _namespace(document))
    if where is None or not hosts or _group(document.raw) != kinds.INFRASTRUCTURE:
        return
    path = ".".join((*where, "hostSelector"))
    selector = selectors.parse(at(document.raw, *where, "hostSelector"), path)
    if isinstance(selector, selectors.Selector) and not any(selector.matches(_labels(host)) for host in hosts):
        message = f"matches none of the {len(hosts)} hosts in the files ({selector})"
        yield Finding(severity, path, message, line=document.line_of(path))


def _labels(document: Document) -> dict[str, str]:
    found = mapping(at(document.raw, "metadata", "labels"))
    return {str(key): value for key, value in found.items() if isinstance(value, str)}


def _patches(document: Document) -> Iterator[Finding]:
    """JSON patches of a ClusterClass that put a field where our schema has none: it is dropped on every pass."""
    if text(document.raw.get("kind")) != "ClusterClass":
        return
    for index, patch in enumerate(items(at(document.raw, "spec", "patches"))):
        for place, definition in enumerate(items(patch.get("definitions"))):
            selector = mapping(definition.get("selector"))
            schema = schemas.of(text(selector.get("apiVersion")), text(selector.get("kind")))
            for number, operation in enumerate(items(definition.get("jsonPatches"))):
                target = text(operation.get("path"))
                path = f"spec.patches[{index}].definitions[{place}].jsonPatches[{number}].path"
                if schema is not None and not _leads_somewhere(schema, target):
                    message = f"{selector.get('kind')} has no field {target}: what the patch writes there is dropped"
                    yield Finding(WARNING, path, message, line=document.line_of(path))


def _leads_somewhere(schema: Mapping[str, Any], pointer: str) -> bool:
    here: Any = schema
    for part in pointer.strip("/").split("/"):
        if not isinstance(here, Mapping) or here.get("x-kubernetes-preserve-unknown-fields"):
            return True
        if here.get("type") == "array":
            here = here.get("items")
            continue
        known = (here.get("properties") or {}).get(part.replace("~1", "/").replace("~0", "~"))
        here = known if known is not None else here.get("additionalProperties")
        if here is None:
            return False
    return True
