"""One embedded API server: a world behind HTTPS, from start to stop.

Apart from the parts it puts together. Several may run in one process (a management cluster and its workload clusters):
each costs a thread, a port and a world.
"""

from __future__ import annotations

import datetime
import secrets
import ssl
import tempfile
import uuid
from collections.abc import Iterable
from pathlib import Path

from capm3_api import kinds
from capm3_api.meta import key_of
from capm3_api.model import Raw
from capm3_managers.testing.world import World

from capm3_testbed import certs
from capm3_testbed.embedded.api import Api
from capm3_testbed.embedded.conversion import Converter
from capm3_testbed.embedded.dispatch import Dispatcher
from capm3_testbed.embedded.httpd import Listener
from capm3_testbed.embedded.registry import Registry
from capm3_testbed.embedded.webhook_client import Services, WebhookClient
from capm3_testbed.embedded.webhooks import Webhooks
from capm3_testbed.kubeconfig import Access

_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")


def new_world(name: str = "", *, history: int = 5000, collect: bool = True) -> World:
    """A world as a server needs it: real time, uids that no other world has, owners checked as the real collector does.

    Args:
        collect: off for a server without its controller manager.
    """
    return World(
        lambda: datetime.datetime.now(datetime.UTC),
        name=f"{name}/{uuid.uuid4()}",
        history=history,
        collect=collect,
        strict_owners=True,
        log_writes=False,
    )


class EmbeddedServer:
    """An API server for tests and trials; never for production.

    Args:
        world: what is served; a new one (see `new_world`) unless given. It may be used directly too, from any thread.
        crds: CustomResourceDefinitions that are there from the start.
        port: 0 for any free one; it stays the same over `stop` and `start`.
        authority: signs the server's certificate; a new one unless given. Making keys costs some milliseconds, so
            share one between many servers.

    Attributes:
        services: where webhooks named by a Service really listen: (namespace, name) -> (host, port); add to it.
        bookmark_seconds: pause between the bookmarks of a watch, read at `start`.
        token: of the user ``admin``, who may do everything.
    """

    def __init__(
        self,
        world: World | None = None,
        crds: Iterable[Raw] = (),
        port: int = 0,
        name: str = "capm3-testbed",
        *,
        authority: certs.Authority | None = None,
    ) -> None:
        self.world = world or new_world(name)
        self.name = name
        self.token = secrets.token_urlsafe(24)
        self.authority = authority or certs.Authority(name)
        self._users = {self.token: "admin"}
        self._port = port
        self.services: Services = {}
        self.bookmark_seconds = 10.0
        self._client = WebhookClient(self.services)
        self._listener: Listener | None = None
        self._registry = Registry(self.world, Converter(self._client))
        Webhooks(self.world, self._registry, self._client).install(self.world.hooks)
        self._tls = _context(self.authority)
        self._api = self._new_api()
        for space in _NAMESPACES:
            if self.world.get(kinds.NAMESPACE, key_of({"metadata": {"name": space}})) is None:
                self.world.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}})
        for crd in crds:
            self.install(crd)

    def install(self, crd: Raw) -> None:
        """Creates a CustomResourceDefinition, or updates the one of that name."""
        body = {key: value for key, value in crd.items() if key != "status"}
        if self.world.get(kinds.CRD, key_of(crd)) is None:
            self.world.create(body)
        else:
            self.world.patch(kinds.CRD, key_of(crd), body)

    def add_user(self, name: str) -> str:
        """A token of another user; `name` is what webhooks see."""
        token = secrets.token_urlsafe(24)
        self._users[token] = name
        return token

    def start(self) -> EmbeddedServer:
        if self._listener is None:
            self._api = self._new_api()
            self._listener = Listener(Dispatcher(self._api, self._users), self._tls, "127.0.0.1", self._port)
            self._port = self._listener.port
            self._listener.start()
        return self

    def stop(self) -> None:
        """Ends every connection; the world stays and `start` serves it again."""
        if self._listener is not None:
            self._api.end()
            self._listener.stop()
            self._listener = None
            self._client.close()

    def __enter__(self) -> EmbeddedServer:
        return self.start()

    def __exit__(self, *problem: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    @property
    def requests(self) -> dict[tuple[str, str], int]:
        """How many requests of each (verb, plural) came since the last start."""
        return dict(self._api.requests)

    def access(self) -> Access:
        """How to reach it, as data."""
        return Access(self.url, self.authority.certificate, self.token, self.name)

    def kubeconfig(self) -> str:
        """Text of a kubeconfig for the user ``admin``."""
        return self.access().text()

    def write_kubeconfig(self, path: Path) -> Path:
        """Writes it, readable by the owner only."""
        return self.access().write(path)

    def _new_api(self) -> Api:
        return Api(self.world, self._registry, self.bookmark_seconds)


def _context(authority: certs.Authority) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    with tempfile.TemporaryDirectory() as directory:
        certificate, key = authority.server().write(Path(directory), "server")
        context.load_cert_chain(certificate, key)
    return context
