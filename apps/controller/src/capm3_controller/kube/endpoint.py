"""Where an API server is and how to prove who we are: kubeconfig files, service accounts, kubeconfigs in Secrets.

Apart from the transport, because this is the one place that uses the official ``kubernetes`` package (its
configuration, authentication and TLS set-up) and the one that must never print what it read.
"""

from __future__ import annotations

import dataclasses
import os
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from capm3_api.model import Raw

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

TOKEN_SECONDS = 10.0
"""How long a token is used without looking for a newer one; tokens are renewed minutes before they expire."""

_SAFE_USER = {"client-certificate-data", "client-key-data", "token", "username", "password"}
_SAFE_CLUSTER = {
    "certificate-authority-data",
    "server",
    "insecure-skip-tls-verify",
    "tls-server-name",
    "disable-compression",
    "extensions",
}


class EndpointError(Exception):
    """A configuration that can't be used; the message says where, what and how to mend it, and holds no secret."""


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """One API server.

    Args:
        url: base, without a slash at the end.
        authorization: the value of the ``Authorization`` header now, ``""`` for none; renews tokens as needed.
        ssl_context: ``None`` for plain HTTP.
        server_name: what the certificate must name instead of the host, ``""`` for the host.
        proxy: URL of an HTTP proxy, ``""`` for none.
        namespace: the configured default, ``""`` when it names none.
        renew: loads everything again, after a refusal; ``None`` when there is nothing to load.
    """

    url: str
    authorization: Callable[[], str] = dataclasses.field(repr=False, default=lambda: "")
    ssl_context: ssl.SSLContext | None = dataclasses.field(repr=False, default=None)
    server_name: str = ""
    proxy: str = ""
    namespace: str = ""
    renew: Callable[[], Endpoint] | None = dataclasses.field(repr=False, default=None)


Source = str | Path | Mapping[str, Any] | Endpoint | None


def load(source: Source = None, environ: Mapping[str, str] | None = None, *, context: str = "") -> Endpoint:
    """Finds the management cluster.

    Args:
        source: kubeconfig file, kubeconfig as data, a ready endpoint, or ``None``: ``KUBECONFIG``, then the service
            account of the pod, then ``~/.kube/config``, as the Go program.
        context: of a kubeconfig file, instead of its current one; the pod's service account is passed over then.

    Raises:
        EndpointError: nothing usable there.
    """
    environ = os.environ if environ is None else environ
    if isinstance(source, Endpoint):
        return source
    if isinstance(source, Mapping):
        data = dict(source)
        return _from_dict(data, "the given kubeconfig", lambda: load(source))
    if source:
        return _from_file(str(source), "--kubeconfig", context)
    if environ.get("KUBECONFIG"):
        return _from_file(environ["KUBECONFIG"], "KUBECONFIG", context)
    if not context and environ.get("KUBERNETES_SERVICE_HOST") and (SERVICE_ACCOUNT / "token").exists():
        return _in_cluster()
    home = Path(environ.get("HOME") or "/") / ".kube" / "config"
    if home.exists():
        return _from_file(str(home), "the default kubeconfig", context)
    raise EndpointError(
        "no API server is configured: not in a pod, KUBECONFIG is not set and ~/.kube/config does not exist; "
        "give --kubeconfig=FILE"
    )


def from_secret(kubeconfig: Raw) -> Endpoint:
    """A workload cluster, from the kubeconfig in its Secret.

    A Secret is data of users: it may hold credentials, but can't make this process run commands or read its files.

    Raises:
        EndpointError: it holds something else than inline credentials.
    """
    for kind, allowed in (("users", _SAFE_USER), ("clusters", _SAFE_CLUSTER)):
        items = kubeconfig.get(kind)
        if not isinstance(items, list) or not items:
            raise EndpointError(f"{kind} is missing or empty")
        for item in items:
            inner = (item.get(kind[:-1]) if isinstance(item, dict) else None) or {}
            refused = sorted(set(inner) - allowed) if isinstance(inner, dict) else ["(no object)"]
            if refused:
                raise EndpointError(f"{kind}[].{kind[:-1]} may not use {', '.join(refused)}; give the data inline")
    return _from_dict(kubeconfig, "the kubeconfig Secret", None)


def _from_file(path: str, origin: str, context: str = "") -> Endpoint:
    from kubernetes.config import kube_config

    files = [part for part in path.split(os.pathsep) if part]
    if not any(Path(part).expanduser().exists() for part in files):
        raise EndpointError(f"{origin} names {path}, which does not exist; write the file or name another one")
    configuration = _blank()
    try:
        loader = kube_config._get_kube_config_loader(
            filename=path, active_context=context or None, persist_config=False
        )
        loader.load_and_set(configuration)
    except Exception as error:
        raise _bad(f"{origin} ({path})", error) from None
    return _endpoint(configuration, _namespace(loader), lambda: _from_file(path, origin, context))


def _from_dict(data: Raw, origin: str, renew: Callable[[], Endpoint] | None) -> Endpoint:
    from kubernetes.config import kube_config

    configuration = _blank()
    try:
        loader = kube_config.KubeConfigLoader(config_dict=data, config_base_path=None)
        loader.load_and_set(configuration)
    except Exception as error:
        raise _bad(origin, error) from None
    return _endpoint(configuration, _namespace(loader), renew)


def _in_cluster() -> Endpoint:
    from kubernetes.config import incluster_config

    configuration = _blank()
    try:
        incluster_config.load_incluster_config(configuration)
    except Exception as error:
        raise _bad("the pod's service account", error) from None
    name = SERVICE_ACCOUNT / "namespace"
    return _endpoint(configuration, name.read_text().strip() if name.exists() else "", _in_cluster)


def _blank() -> Any:
    from kubernetes import client

    configuration = client.Configuration()
    configuration.host = ""
    return configuration


def _namespace(loader: Any) -> str:
    context = getattr(loader, "_current_context", None)
    inner = context.value.get("context") if context is not None else None
    return str((inner or {}).get("namespace") or "")


def _bad(origin: str, error: Exception) -> EndpointError:
    """Names the failure without its text: loaders quote what they read."""
    text = str(error) if type(error).__name__ == "ConfigException" and len(str(error)) < 300 else ""
    return EndpointError(f"{origin} can't be used: {type(error).__name__}{': ' + text if text else ''}")


def _endpoint(configuration: Any, namespace: str, renew: Callable[[], Endpoint] | None) -> Endpoint:
    url = str(configuration.host or "").rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise EndpointError("the kubeconfig's cluster has no server URL; set clusters[].cluster.server")

    def authorization() -> str:
        value = configuration.get_api_key_with_prefix("BearerToken", alias="authorization") or ""
        return value.strip() if value[:1].isupper() else "Bearer " + value.partition(" ")[2].strip() if value else ""

    return Endpoint(
        url,
        remembered(authorization),
        _tls(configuration) if url.startswith("https://") else None,
        str(configuration.tls_server_name or ""),
        str(configuration.proxy or "") if not _bypassed(configuration) else "",
        namespace,
        renew,
    )


def remembered(
    read: Callable[[], str], seconds: float = TOKEN_SECONDS, clock: Callable[[], float] = time.monotonic
) -> Callable[[], str]:
    """The same for a short time: the official package sets itself up anew for every look at a token."""
    lock = threading.Lock()
    value, until = "", float("-inf")

    def current() -> str:
        nonlocal value, until
        with lock:
            if clock() >= until:
                value, until = read(), clock() + seconds
            return value

    return current


def _bypassed(configuration: Any) -> bool:
    from kubernetes.client import rest

    return bool(rest.should_bypass_proxies(configuration.host, configuration.no_proxy or ""))


def _tls(configuration: Any) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=configuration.ssl_ca_cert or None)
        if not configuration.verify_ssl:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if configuration.cert_file:
            context.load_cert_chain(configuration.cert_file, configuration.key_file or None)
    except (OSError, ssl.SSLError) as error:
        raise EndpointError(f"the certificates of the kubeconfig can't be used: {type(error).__name__}") from None
    return context
