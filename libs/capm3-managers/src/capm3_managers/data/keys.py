"""Which Metal3Data objects a changed claim, machine or host concerns.

Apart from the watch table, which says what is watched: this says what it maps to. Hosts and machines change often, so
they wake only data that still waits for something.
"""

from __future__ import annotations

from collections.abc import Sequence

from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw

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
    ref = (obj.get("spec") or {}).get("consumerRef") or {}
    if ref.get("kind") != kinds.METAL3_MACHINE.kind or not ref.get("name"):
        return []
    namespace = meta.key_of(obj).namespace
    if ref.get("namespace") not in (None, "", namespace):
        return []
    return _owned(reader, namespace, kinds.METAL3_MACHINE.kind, str(ref["name"]), waiting=True)


def _owned(reader: Reader, namespace: str, kind: str, name: str, *, waiting: bool = False) -> list[Key]:
    found = reader.list(kinds.METAL3_DATA, namespace, index=("owner", f"{kind}/{name}"))
    return [meta.key_of(data) for data in found if not waiting or not (data.get("status") or {}).get("ready")]
