"""The rights of the controller's service account in the testbed: the program's own roles, bound to the test user.

Apart from the installation, because only a server that checks rights needs it; it shows that the declared rules suffice.
"""

from __future__ import annotations

from capm3_api.model import Raw
from capm3_controller import rbac

from capm3_testbed.apiserver.process import CONTROLLER_NAMESPACE, CONTROLLER_USER

_MANAGER, _LEADER = "capm3-manager", "capm3-leader"
_API = "rbac.authorization.k8s.io"


def objects() -> list[Raw]:
    """A ClusterRole and a Role, each with its binding."""
    return [
        rbac.role(_MANAGER, rbac.rules()),
        _binding(_MANAGER),
        rbac.role(_LEADER, rbac.LEADER, CONTROLLER_NAMESPACE),
        _binding(_LEADER, CONTROLLER_NAMESPACE),
    ]


def _binding(role: str, namespace: str = "") -> Raw:
    prefix = "" if namespace else "Cluster"
    account = CONTROLLER_USER.rpartition(":")[2]
    return {
        "apiVersion": f"{_API}/v1",
        "kind": f"{prefix}RoleBinding",
        "metadata": {"name": role, **({"namespace": namespace} if namespace else {})},
        "roleRef": {"apiGroup": _API, "kind": f"{prefix}Role", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": CONTROLLER_NAMESPACE}],
    }
