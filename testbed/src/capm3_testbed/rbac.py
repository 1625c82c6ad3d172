"""The role of the controller's service account, from the rules that its controllers declare.

Apart from the installation, because only a server that checks rights needs it; it shows that the declared rules suffice.
"""

from __future__ import annotations

from capm3_api import kinds
from capm3_api.model import Raw
from capm3_controller import wiring
from capm3_controller.controllers.definition import WRITE, Rule

from capm3_testbed.apiserver.process import CONTROLLER_NAMESPACE, CONTROLLER_USER

ROLE = "capm3-manager"
_API = "rbac.authorization.k8s.io"
_PROCESS = (
    Rule(kinds.LEASE.group, (kinds.LEASE.plural,), WRITE),
    Rule("", (kinds.EVENT.plural,), ("create", "patch")),
)
"""What the process needs besides its controllers."""


def objects() -> list[Raw]:
    """ClusterRole and ClusterRoleBinding."""
    rules = [*(rule for definition in wiring.definitions().values() for rule in definition.rules), *_PROCESS]
    role: Raw = {
        "apiVersion": f"{_API}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": ROLE},
        "rules": [
            {"apiGroups": [rule.group], "resources": list(rule.resources), "verbs": list(rule.verbs)} for rule in rules
        ],
    }
    account = CONTROLLER_USER.rpartition(":")[2]
    binding: Raw = {
        "apiVersion": f"{_API}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": ROLE},
        "roleRef": {"apiGroup": _API, "kind": "ClusterRole", "name": ROLE},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": CONTROLLER_NAMESPACE}],
    }
    return [role, binding]
