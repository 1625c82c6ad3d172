"""Single requests to an API server with everything that the answer says: status code, causes, warnings.

Apart from the controller's client, which hides warnings and never writes whole objects or asks for dry runs, and from
kubectl, which is too slow for hundreds of requests.
"""

from __future__ import annotations

import dataclasses
import json
import ssl
import time
from typing import Any

import urllib3
from capm3_api import meta
from capm3_api.meta import Kind
from capm3_api.model import Raw
from capm3_controller.kube import paths

from capm3_testbed.kubeapi import kind_of
from capm3_testbed.kubeconfig import Access

JSON = "application/json"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
_TRIES = 20


@dataclasses.dataclass(frozen=True)
class Answer:
    """Args:
    code: HTTP status.
    body: the object, or the Status of a refusal.
    warnings: texts of the ``Warning`` headers.
    """

    code: int
    body: Raw
    warnings: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        return self.code < 300

    @property
    def message(self) -> str:
        return str(self.body.get("message") or "")

    @property
    def causes(self) -> frozenset[tuple[str, str]]:
        """Field path and reason of each error; the reason is empty when the server gives none."""
        if self.accepted:
            return frozenset()
        causes = (self.body.get("details") or {}).get("causes") or []
        return frozenset((str(cause.get("field") or ""), str(cause.get("reason") or "")) for cause in causes)

    @property
    def fields(self) -> list[str]:
        """Field paths of the errors, sorted, one each."""
        return sorted({field for field, _ in self.causes})


class Calls:
    """Requests as one user; thread-safe."""

    def __init__(self, access: Access) -> None:
        self._base = access.server
        self._headers = {"Authorization": f"Bearer {access.token}"}
        context = ssl.create_default_context(cadata=access.ca.decode())
        self._pool = urllib3.PoolManager(ssl_context=context, retries=False, maxsize=8)

    def create(self, obj: Raw, **query: str) -> Answer:
        kind, namespace = kind_of(obj), meta.key_of(obj).namespace
        return self.send("POST", paths.collection(kind, namespace), obj, **query)

    def put(self, obj: Raw, subresource: str = "", **query: str) -> Answer:
        return self.send("PUT", paths.of(kind_of(obj), meta.key_of(obj), subresource), obj, **query)

    def apply(self, obj: Raw, manager: str = "tester", **query: str) -> Answer:
        path = paths.of(kind_of(obj), meta.key_of(obj))
        return self.send("PATCH", path, obj, APPLY, fieldManager=manager, **query)

    def merge(self, obj: Raw, patch: Raw, subresource: str = "", **query: str) -> Answer:
        """A merge patch of the object that `obj` names, in its version."""
        path = paths.of(kind_of(obj), meta.key_of(obj), subresource)
        return self.send("PATCH", path, patch, MERGE, **query)

    def read(self, obj: Raw, version: str = "") -> Answer:
        """The stored object that `obj` names, in a version (its own by default)."""
        kind = kind_of(obj)
        return self.send("GET", paths.of(kind.at(version) if version else kind, meta.key_of(obj)))

    def list(self, kind: Kind, namespace: str = "") -> Answer:
        return self.send("GET", paths.collection(kind, namespace))

    def delete(self, obj: Raw) -> Answer:
        return self.send("DELETE", paths.of(kind_of(obj), meta.key_of(obj)))

    def send(self, method: str, path: str, body: Any = None, content_type: str = JSON, **query: str) -> Answer:
        data = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, "Accept": JSON, **({"Content-Type": content_type} if data is not None else {})}
        words = "&".join(f"{key}={value}" for key, value in query.items())
        target = f"{self._base}{path}{'?' if words else ''}{words}"
        response = self._pool.request(method, target, body=data, headers=headers, timeout=30.0)
        for _ in range(_TRIES):
            if response.status != 429:  # kube-apiserver while it fills the cache of a kind
                break
            time.sleep(min(float(response.headers.get("Retry-After", "1")), 1.0))
            response = self._pool.request(method, target, body=data, headers=headers, timeout=30.0)
        found = response.headers.getlist("Warning")
        return Answer(response.status, _document(response.data), tuple(_warning(text) for text in found))

    def close(self) -> None:
        self._pool.clear()


def _document(data: bytes) -> Raw:
    """The JSON document; a plain text, as for a path that nothing serves, becomes the message of one."""
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {"message": data.decode(errors="replace").strip()}
    return found if isinstance(found, dict) else {"message": str(found)}


def _warning(header: str) -> str:
    """The text of ``299 - "text"``."""
    quoted = header.split(" ", 2)[2]
    return str(json.loads(quoted)) if quoted.startswith('"') else quoted
