"""Gives addresses back: takes our finalizer off claims and deletes them.

Apart from claiming, because it needs neither template nor host: claims are found by who owns them, so that those of a
pool named by an annotation, of a template that is gone, or of a name that an older release made are given back too
(behaviour facts on CAPM3, section 10, item 39; report B19).
"""

from __future__ import annotations

from collections.abc import Iterable

from capm3_api import kinds, meta, names
from capm3_api.meta import Kind
from capm3_api.model import Raw

from capm3_managers.data import claims
from capm3_managers.plan import Action, Delete, Patch

_KINDS: dict[str, Kind] = {flavour.claim.group_kind: flavour.claim for flavour in claims.FLAVOURS}


def of(held: Iterable[Raw]) -> tuple[Action, ...]:
    """What lets every one of the claims go; nothing for one that already is on its way without us."""
    return tuple(action for claim in held for action in _release(claim))


def _release(claim: Raw) -> Iterable[Action]:
    kind = kind_of(claim)
    key = meta.key_of(claim)
    finalizers = list((claim.get("metadata") or {}).get("finalizers") or [])
    if names.DATA_FINALIZER in finalizers:
        finalizers.remove(names.DATA_FINALIZER)
        patch = {"metadata": {"finalizers": finalizers or None}}
        yield Patch(kind, key, patch, resource_version=meta.version_of(claim), missing_ok=True)
    if not claims.is_leaving(claim):
        yield Delete(kind, key, meta.uid_of(claim))


def kind_of(claim: Raw) -> Kind:
    """The kind of a claim that one of the flavours' lists gave."""
    group = meta.group_of(str(claim.get("apiVersion") or ""))
    return _KINDS.get(f"{claim.get('kind')}.{group}", kinds.IP_CLAIM)
