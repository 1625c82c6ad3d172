"""The rights that the program needs, as roles: what its controllers declare, and what the process itself does.

One source for the shipped manifests and for tests that run as the service account. Without the optional managers the role
names exactly what the Go program's does or less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from capm3_api import kinds
from capm3_api.model import Raw

from capm3_controller import crdmigrator, wiring
from capm3_controller.controllers.definition import READ, Definition, Rule
from capm3_controller.runtime.diagnostics import ACCESS_REVIEW, TOKEN_REVIEW

_API = "rbac.authorization.k8s.io"
_DEFINITIONS = tuple(crdmigrator.definition_name(kind) for kind in kinds.OURS)

PROCESS = (
    Rule(kinds.CRD.group, (kinds.CRD.plural,), READ),
    Rule(kinds.CRD.group, (kinds.CRD.plural, f"{kinds.CRD.plural}/status"), ("patch", "update"), _DEFINITIONS),
    Rule(kinds.INFRASTRUCTURE, tuple(kind.plural for kind in kinds.OURS), ("list", "patch")),
    Rule(TOKEN_REVIEW.group, (TOKEN_REVIEW.plural,), ("create",)),
    Rule(ACCESS_REVIEW.group, (ACCESS_REVIEW.plural,), ("create",)),
)
"""Storage migration (it rewrites objects of all nine kinds), and the check of those who read /metrics."""

LEADER = (Rule(kinds.LEASE.group, (kinds.LEASE.plural,), ("create", "get", "patch")),)
"""In the namespace of the program."""


def rules(definitions: Iterable[Definition] | None = None) -> Sequence[Rule]:
    """The rules of these controllers (all by default) and of the process, verbs of one resource joined."""
    chosen = wiring.definitions().values() if definitions is None else definitions
    joined: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
    for rule in (*(rule for definition in chosen for rule in definition.rules), *PROCESS):
        for resource in rule.resources:
            joined.setdefault((rule.group, resource, rule.names), set()).update(rule.verbs)
    grouped: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (group, resource, names), verbs in sorted(joined.items()):
        grouped.setdefault((group, tuple(sorted(verbs)), names), []).append(resource)
    return [Rule(group, tuple(resources), verbs, names) for (group, verbs, names), resources in grouped.items()]


def role(name: str, rules_: Iterable[Rule], namespace: str = "") -> Raw:
    """A ClusterRole, or a Role in `namespace`."""
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {
        "apiVersion": f"{_API}/v1",
        "kind": "Role" if namespace else "ClusterRole",
        "metadata": metadata,
        "rules": [_raw(rule) for rule in rules_],
    }


def _raw(rule: Rule) -> Raw:
    raw: Raw = {"apiGroups": [rule.group], "resources": list(rule.resources), "verbs": list(rule.verbs)}
    return {**raw, "resourceNames": list(rule.names)} if rule.names else raw
