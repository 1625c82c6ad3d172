"""Which Metal3Data objects a changed claim, machine or host concerns, and which of those changes can matter to them.

Apart from the watch table, which says what is watched: this says what it maps to. Hosts, machines and claims of addresses
change often, so they wake only data that still waits for something.
"""

from __future__ import annotations

from collections.abc import Sequence

from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers import hosts, owners
from capm3_managers.ports import Reader


def answering(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The data that answers a Metal3DataClaim."""
    return _owned(reader, meta.key_of(obj).namespace, kinds.METAL3_DATA_CLAIM.kind, meta.key_of(obj).name)


def waiting_for_machine(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The data of a Metal3Machine, while it is not ready."""
    key = meta.key_of(obj)
    return _owned(reader, key.namespace, kinds.METAL3_MACHINE.kind, key.name, waiting=True)


def waiting_for_host(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The data of the Metal3Machine that uses a host, while it is not ready (report B26: new hardware details)."""
    ref = hosts.consumer(obj) or {}
    if ref.get("kind") != kinds.METAL3_MACHINE.kind or not ref.get("name"):
        return []
    namespace = meta.key_of(obj).namespace
    if ref.get("namespace") not in (None, "", namespace):
        return []
    return _owned(reader, namespace, kinds.METAL3_MACHINE.kind, str(ref["name"]), waiting=True)


def waiting_for_address(obj: Raw, reader: Reader) -> Sequence[Key]:
    """The data that made a claim of an address, unless it is ready; data that is gone may have left the claim behind."""
    namespace = meta.key_of(obj).namespace
    keys = [Key(namespace, name) for name in owners.names_of(obj, kinds.METAL3_DATA)]
    return [key for key in keys if _is_unsettled(reader.get(kinds.METAL3_DATA, key))]


def tells_more(old: Raw | None, new: Raw | None) -> bool:
    """Whether a host changed in something that a template can ask for; its power and provisioning are not among that."""
    if old is None or new is None:
        return True
    return any(hosts.part(old, *path) != hosts.part(new, *path) for path in _RENDERED)


_RENDERED = (("metadata", "labels"), ("metadata", "annotations"), ("spec",), ("status", "hardware"))


def _owned(reader: Reader, namespace: str, kind: str, name: str, *, waiting: bool = False) -> list[Key]:
    found = reader.list(kinds.METAL3_DATA, namespace, index=("owner", f"{kind}/{name}"))
    return [meta.key_of(data) for data in found if not waiting or not _is_ready(data)]


def _is_ready(data: Raw) -> bool:
    return bool(hosts.part(data, "status").get("ready"))


def _is_unsettled(data: Raw | None) -> bool:
    return data is None or not _is_ready(data) or bool(hosts.part(data, "metadata").get("deletionTimestamp"))
