"""Why something waits: the chain of objects from it to the root cause, each with what it says of itself.

Apart from `findings`, which judges one object and names those behind it: this walks from one to the next, and never twice
over the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from capm3_api import meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers.overview import findings
from capm3_managers.overview.findings import Finding, Target
from capm3_managers.overview.objects import Objects


@dataclasses.dataclass(frozen=True)
class Link:
    """One object of a chain, and what it waits for."""

    kind: Kind
    key: Key
    finding: Finding

    def data(self) -> Raw:
        """For ``-o json``."""
        told = {name: getattr(self.finding, name) for name in ("what", "message", "remedy", "since")}
        return {"kind": self.kind.kind, "namespace": self.key.namespace, "name": self.key.name, **told}


def explain(objects: Objects, kind: Kind, obj: Raw) -> list[Link]:
    """The chain from an object to the root cause of its wait, which is the last; empty when it waits for nothing."""
    target: Target | None = (kind, meta.key_of(obj))
    chain: list[Link] = []
    seen: set[Target] = set()
    while target is not None:
        seen.add(target)
        found = findings.of(objects, target)
        if found is None:
            break
        chain.append(Link(*target, found))
        target = _next(objects, found.behind, seen)
    return chain


def _next(objects: Objects, behind: Sequence[Target], seen: set[Target]) -> Target | None:
    """The first of them that waits itself, or is missing."""
    return next((item for item in behind if item not in seen and findings.of(objects, item) is not None), None)
