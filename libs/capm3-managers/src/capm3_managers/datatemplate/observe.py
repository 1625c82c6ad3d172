"""Reads what one pass over a Metal3DataTemplate needs, and judges nothing.

Cached reads, with one exception. A claim that carries our finalizer but no rendered data was either left so by a crash or
is an old view of a claim that was served a moment ago; serving it twice would give one machine two indexes, so it and the
data objects are read again live. A claim without our finalizer needs no such care: the patch that adds it names the
version that was seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers import owners
from capm3_managers.datatemplate.snapshot import Snapshot
from capm3_managers.env import Env
from capm3_managers.manager import Ports
from capm3_managers.ports import Reader


def observe(ports: Ports, key: Key, env: Env) -> Snapshot:
    """One Metal3DataTemplate, its claims and their data."""
    reader = ports.reader
    template = reader.get(kinds.METAL3_DATA_TEMPLATE, key)
    index = ("template", key.name)
    claims = list(reader.list(kinds.METAL3_DATA_CLAIM, key.namespace, index=index))
    datas = list(reader.list(kinds.METAL3_DATA, key.namespace, index=index))
    doubtful = {meta.key_of(claim) for claim in claims if _is_doubtful(claim)}
    if doubtful:
        claims = [claim for claim in (_again(reader, claim, doubtful) for claim in claims) if claim is not None]
        if any(_is_doubtful(claim) for claim in claims):
            datas = [data for data in reader.list(kinds.METAL3_DATA, key.namespace, live=True) if _of(data, key)]
    claims += _unknown_claims(reader, key, claims, datas)
    return Snapshot(template, tuple(sorted(claims, key=_age)), tuple(datas), _clusters(reader, claims))


def _is_doubtful(claim: Raw) -> bool:
    metadata = claim.get("metadata") or {}
    served = bool((claim.get("status") or {}).get("renderedData"))
    leaving = bool(metadata.get("deletionTimestamp"))
    return names.DATA_CLAIM_FINALIZER in (metadata.get("finalizers") or []) and not served and not leaving


def _again(reader: Reader, claim: Raw, doubtful: Iterable[Key]) -> Raw | None:
    key = meta.key_of(claim)
    return reader.get(kinds.METAL3_DATA_CLAIM, key, live=True) if key in doubtful else claim


def _unknown_claims(reader: Reader, key: Key, claims: Iterable[Raw], datas: Iterable[Raw]) -> list[Raw]:
    """Claims that data objects on their way out name but the list lacks; read live before they count as gone."""
    known = {meta.key_of(claim).name for claim in claims}
    leaving = [data for data in datas if (data.get("metadata") or {}).get("deletionTimestamp")]
    missing = {str(name) for data in leaving if (name := _claim_name(data))} - known
    found = (reader.get(kinds.METAL3_DATA_CLAIM, Key(key.namespace, name), live=True) for name in sorted(missing))
    return [claim for claim in found if claim is not None]


def _of(data: Raw, key: Key) -> bool:
    return ((data.get("spec") or {}).get("template") or {}).get("name") == key.name


def _claim_name(data: Raw) -> Any:
    return ((data.get("spec") or {}).get("claim") or {}).get("name")


def _age(claim: Raw) -> tuple[str, str]:
    metadata = claim.get("metadata") or {}
    return str(metadata.get("creationTimestamp") or ""), str(metadata.get("name") or "")


def _clusters(reader: Reader, claims: Iterable[Raw]) -> dict[str, Raw]:
    wanted = dict.fromkeys(key for claim in claims if (key := owners.cluster_key(claim)) is not None)
    found = ((key.name, reader.get(kinds.CLUSTER, key)) for key in wanted)
    return {name: cluster for name, cluster in found if cluster is not None}
