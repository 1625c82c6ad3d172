"""The indexes over cached objects that `observe` functions may ask for: a table of pure functions.

Data, so that the controller's store and `testing.World` build the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from capm3_api import kinds
from capm3_api.meta import Kind
from capm3_api.model import Raw

IndexFunction = Callable[[Raw], Iterable[str]]


def owners(obj: Raw) -> Iterable[str]:
    """``Kind/name`` of every owner reference."""
    for owner in (obj.get("metadata") or {}).get("ownerReferences") or []:
        yield f"{owner.get('kind')}/{owner.get('name')}"


def consumer(host: Raw) -> Iterable[str]:
    """``Kind/name`` of a host's consumer."""
    ref = (host.get("spec") or {}).get("consumerRef")
    if ref:
        yield f"{ref.get('kind')}/{ref.get('name')}"


INDEXES: Mapping[Kind, Mapping[str, IndexFunction]] = {
    kinds.BARE_METAL_HOST: {"consumer": consumer},
    kinds.METAL3_MACHINE: {"owner": owners},
    kinds.METAL3_DATA: {"owner": owners},
    kinds.METAL3_DATA_CLAIM: {"owner": owners},
    kinds.IP_CLAIM: {"owner": owners},
    kinds.CAPI_IP_ADDRESS_CLAIM: {"owner": owners},
}
