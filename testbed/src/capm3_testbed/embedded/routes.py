"""A path of the API to what it asks for: group, version, namespace, resource, name, subresource.

Apart from the verbs, because discovery, OpenAPI and authorization reviews speak of the same parts.
"""

from __future__ import annotations

import dataclasses

from capm3_api.meta import Key


@dataclasses.dataclass(frozen=True)
class Target:
    """Args:
    namespace: ``""`` for cluster-scoped resources and for lists over all namespaces.
    name: ``""`` for a collection.
    """

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> Key:
        return Key(self.namespace, self.name)


def parse(path: str) -> Target | None:
    """The target of a resource path; ``None`` for every other path."""
    parts = [part for part in path.split("/") if part]
    if parts[:1] == ["api"] and len(parts) >= 3:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[:1] == ["apis"] and len(parts) >= 4:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) >= 3 and not (group == "" and rest[2] in ("status", "finalize")):
        namespace, rest = rest[1], rest[2:]
    if len(rest) > 3:
        return None
    plural, name, subresource = (*rest, "", "")[:3]
    return Target(group, version, plural, namespace, name, subresource)
