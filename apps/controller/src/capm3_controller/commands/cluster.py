"""The cluster that a command asks: options as ``kubectl`` has them, and a reader whose every answer is live.

Apart from the commands, which only look at objects.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

from capm3_api import kinds
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.ports import ApiError, Reader

from capm3_controller.kube import endpoint
from capm3_controller.kube.discovery import VersionedClient
from capm3_controller.kube.endpoint import EndpointError
from capm3_controller.kube.transport import Call, Timeouts, Transport

_SENTENCES = {
    "Unauthorized": "the credentials of the kubeconfig are refused; log in again, or give another --context",
    "Forbidden": "ask for the right to get and list it",
    "ConnectionFailed": "see whether the cluster runs and --kubeconfig or --context names the right one",
    "TlsFailed": "the kubeconfig's certificate-authority does not fit this server",
}


class Refused(Exception):
    """The command can't do what it was asked; the text says what and the mend."""


class Live:
    """A `ports.Reader` without a cache. A kind that is not installed has no objects."""

    def __init__(self, client: VersionedClient) -> None:
        self._client = client

    def get(self, kind: Kind, key: Key, *, live: bool = True) -> Raw | None:
        return self._client.get(kind, key)

    def list(
        self,
        kind: Kind,
        namespace: str,
        *,
        labels: Mapping[str, str] | None = None,
        index: tuple[str, str] | None = None,
        live: bool = True,
    ) -> Sequence[Raw]:
        try:
            return self._client.list(kind, namespace, labels=labels)[0]
        except ApiError as error:
            if error.status == 404:
                return []
            raise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say which cluster and namespace."""
    parser.add_argument(
        "-n", "--namespace", default="", help="default: that of the kubeconfig's context, else 'default'"
    )
    parser.add_argument(
        "--kubeconfig", default="", metavar="FILE", help="default: $KUBECONFIG, the pod's own, or ~/.kube/config"
    )
    parser.add_argument("--context", default="", metavar="NAME", help="of the kubeconfig; default: its current one")


def ask(name: str, arguments: argparse.Namespace, work: Callable[[Reader, str], int]) -> int:
    """Connects and does the work; what goes wrong is told in one line.

    Args:
        name: of the command.
        work: gets the reader and the namespace, gives the exit code.

    Returns:
        The exit code; 2 when the cluster can't be asked.
    """
    try:
        found = endpoint.load(arguments.kubeconfig or None, context=arguments.context)
        client = VersionedClient(Transport(found, user_agent=f"capm3-{name}", timeouts=Timeouts(busy=5.0)))
        try:
            _reachable(client)
            return work(Live(client), arguments.namespace or found.namespace or "default")
        finally:
            client.close()
    except (EndpointError, Refused) as problem:
        sys.stderr.write(f"capm3 {name}: {problem}\n")
    except ApiError as problem:
        mend = _SENTENCES.get(problem.reason)
        sys.stderr.write(f"capm3 {name}: {problem.message}{f'; {mend}' if mend else ''}\n")
    return 2


def _reachable(client: VersionedClient) -> None:
    """Says early that our kinds are not there, which an answer of "no such object" would hide."""
    try:
        client.transport.request(Call("GET", f"/apis/{kinds.METAL3_MACHINE.api_version}"))
    except ApiError as error:
        if error.status != 404:
            raise
        raise Refused(
            f"this cluster does not serve {kinds.METAL3_MACHINE.api_version}: Cluster API Provider Metal3 is not installed "
            "in it, or too old; give the management cluster with --kubeconfig or --context"
        ) from None
