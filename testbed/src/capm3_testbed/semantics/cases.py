"""The list of cases, what a case may ask of a server, and the little language they are written in.

Apart from the cases themselves, which are grouped by theme.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.ports import ApiError

WIDGET = Kind("semantics.testbed.metal3.io", "v1", "Widget", "widgets")
"""A custom resource with a status subresource, defaults, rules and two versions; see `widget`."""


@dataclasses.dataclass(frozen=True)
class Page:
    """A list, or a page of one."""

    items: tuple[Raw, ...]
    version: str
    token: str = ""


@dataclasses.dataclass(frozen=True)
class Ask:
    """Args:
    path: with its query.
    """

    method: str
    path: str
    body: Any = None
    content: str = "application/json"
    accept: str = "application/json"


@dataclasses.dataclass(frozen=True)
class Answer:
    """Args:
    headers: names in lower case.
    body: JSON.
    """

    status: int
    headers: Mapping[str, str]
    body: Any


class Client(Protocol):
    """The server under test. Every refusal raises `ApiError`; causes of an invalid object are in its ``causes``."""

    def create(self, obj: Raw, *, dry_run: bool = False, validation: str = "") -> Raw: ...

    def get(self, kind: Kind, key: Key) -> Raw | None: ...

    def list(self, kind: Kind, namespace: str, query: Mapping[str, str] | None = None) -> Page:
        """``query``: ``labelSelector``, ``fieldSelector``, ``limit``, ``continue``."""
        ...

    def update(self, obj: Raw, *, subresource: str = "") -> Raw: ...

    def patch(self, kind: Kind, key: Key, patch: Raw, *, subresource: str = "", dry_run: bool = False) -> Raw: ...

    def json_patch(self, kind: Kind, key: Key, patch: Sequence[Raw]) -> Raw: ...

    def delete(self, kind: Kind, key: Key, *, uid: str = "", propagation: str = "") -> None: ...

    def watch(self, kind: Kind, namespace: str, since: str, query: Mapping[str, str] | None = None) -> Iterator[Raw]:
        """Events as ``{"type", "object"}`` until the iterator is closed or nothing came for some seconds."""
        ...

    def http(self, ask: Ask) -> Answer:
        """One request as it is; only where there is HTTP."""
        ...

    def forget(self, kind: Kind, namespace: str) -> str:
        """Makes the server lose some history; a version that it can't resume from any more."""
        ...


@dataclasses.dataclass
class Subject:
    """What a case works with.

    Args:
        namespace: the case's own, empty at the start.
    """

    client: Client
    namespace: str
    numbers: Iterator[int] = dataclasses.field(default_factory=lambda: itertools.count(1))

    def key(self, name: str = "w") -> Key:
        return Key(self.namespace, name)

    def widget(self, name: str = "w", **parts: Any) -> Raw:
        """A Widget that is not created yet; ``metadata`` is merged, other parts are set."""
        metadata = {"namespace": self.namespace, "name": name, **parts.pop("metadata", {})}
        return {"apiVersion": WIDGET.api_version, "kind": WIDGET.kind, "metadata": metadata, "spec": {}, **parts}

    def made(self, name: str = "w", **parts: Any) -> Raw:
        """A Widget that is created."""
        return self.client.create(self.widget(name, **parts))

    def path(self, name: str = "", version: str = "v1") -> str:
        """Path of a Widget, or of all in the namespace."""
        base = f"/apis/{WIDGET.group}/{version}/namespaces/{self.namespace}/{WIDGET.plural}"
        return f"{base}/{name}" if name else base

    def read(self, name: str = "w") -> Raw:
        found = self.client.get(WIDGET, self.key(name))
        assert found is not None, f"widget {name} is gone"
        return found

    def patched(self, patch: Raw, name: str = "w", *, subresource: str = "") -> Raw:
        return self.client.patch(WIDGET, self.key(name), patch, subresource=subresource)

    def events(self, count: int, since: str, query: Mapping[str, str] | None = None) -> list[Raw]:
        """The next events; fewer when no more come."""
        stream = self.client.watch(WIDGET, self.namespace, since, query)
        try:
            return list(itertools.islice(stream, count))
        finally:
            close = getattr(stream, "close", None)
            if close:
                close()


@dataclasses.dataclass(frozen=True)
class Case:
    """Args:
    name: a sentence that is true of an API server.
    needs: features without which it can't be tried: ``gc`` (owners are collected), ``schema``, ``pages``,
        ``http`` (requests and answers can be looked at), ``bookmarks``, ``soon`` (a bookmark comes within seconds).
    """

    name: str
    run: Callable[[Subject], None]
    needs: frozenset[str] = frozenset()


CASES: list[Case] = []


def case(name: str, *needs: str) -> Callable[[Callable[[Subject], None]], Callable[[Subject], None]]:
    """Adds a function to the list."""

    def add(run: Callable[[Subject], None]) -> Callable[[Subject], None]:
        CASES.append(Case(name, run, frozenset(needs)))
        return run

    return add


@contextlib.contextmanager
def refused(status: int, reason: str, *texts: str, fields: tuple[str, ...] = ()) -> Iterator[None]:
    """The server refuses in this way.

    Args:
        texts: all must be in the message.
        fields: all must be among the fields that the causes name.
    """
    try:
        yield
    except ApiError as error:
        assert (error.status, error.reason) == (status, reason), f"{error.status} {error}"
        assert all(text in error.message for text in texts), error.message
        named = {cause.field for cause in getattr(error, "causes", ())}
        assert named.issuperset(fields), f"{named} lacks some of {fields}"
    else:
        raise AssertionError(f"not refused; {status} {reason} was expected")


def version_of(obj: Raw) -> int:
    """The resourceVersion as a number; only its order may be used."""
    return int(obj["metadata"]["resourceVersion"])
