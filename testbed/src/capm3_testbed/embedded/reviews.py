"""Token and access reviews: who a token belongs to, and that everybody known may do everything.

Apart from stored resources: these are questions, answered and forgotten. There is no RBAC here; it is tried on the real
API server.
"""

from __future__ import annotations

from collections.abc import Mapping

from capm3_api.model import Raw

from capm3_testbed.embedded.messages import HttpRequest, HttpResponse, answer

_GROUPS = ("system:authenticated", "system:masters")
_ACCESS = {
    "subjectaccessreviews": "SubjectAccessReview",
    "selfsubjectaccessreviews": "SelfSubjectAccessReview",
    "localsubjectaccessreviews": "LocalSubjectAccessReview",
}


def serve(request: HttpRequest, users: Mapping[str, str]) -> HttpResponse | None:
    """Answers a review; ``None`` for every other request.

    Args:
        users: token -> user name.
    """
    parts = [part for part in request.path.split("/") if part]
    if request.method != "POST" or parts[:1] != ["apis"] or len(parts) not in (4, 6):
        return None
    group, plural = parts[1], parts[-1]
    if group == "authentication.k8s.io" and plural == "tokenreviews":
        return answer({**_echo(request, group, "TokenReview"), "status": _token_status(request, users)}, 201)
    if group == "authentication.k8s.io" and plural == "selfsubjectreviews":
        status = {"userInfo": user_info(request.user)}
        return answer({**_echo(request, group, "SelfSubjectReview"), "status": status}, 201)
    if group == "authorization.k8s.io" and plural in _ACCESS:
        return answer({**_echo(request, group, _ACCESS[plural]), "status": {"allowed": True}}, 201)
    return None


def user_info(user: str) -> Raw:
    return {"username": user, "groups": list(_GROUPS)}


def _echo(request: HttpRequest, group: str, kind: str) -> Raw:
    obj = request.object()
    return {"kind": kind, "apiVersion": f"{group}/v1", "metadata": {}, "spec": obj.get("spec") or {}}


def _token_status(request: HttpRequest, users: Mapping[str, str]) -> Raw:
    token = (request.object().get("spec") or {}).get("token") or ""
    user = users.get(token)
    if user is None:
        return {"authenticated": False, "error": "invalid bearer token"}
    return {"authenticated": True, "user": user_info(user), "audiences": ["https://kubernetes.default.svc"]}
