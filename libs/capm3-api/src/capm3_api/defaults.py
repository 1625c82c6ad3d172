"""Fills in what a user may leave out: the defaulting webhooks, and the defaults of the CRD schemas.

Apart from the validation rules, because it changes objects: first default, then judge. Both are idempotent and alike on
create and update, or Cluster API's topology controller would see a difference on every pass. Source: behaviour facts on
CAPM3 3.2 and 3.10, field report B15.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from capm3_api import schema, schemas
from capm3_api.model import Raw

DEFAULT_PORT = 6443
DEFAULT_TIMEOUT_SECONDS = 600
DEFAULT_RETRY_LIMIT = 1
DEFAULT_STRATEGY = "Reboot"


def default(obj: Raw) -> Raw:
    """The object as the defaulting webhook of its kind leaves it; unchanged for kinds without one."""
    fill = DEFAULTERS.get(str(obj.get("kind")))
    return fill(obj) if fill else obj


def schema_defaults(obj: Raw) -> Raw:
    """The object with the defaults of its CRD schema; unchanged when its kind or version has none."""
    found = schemas.of(str(obj.get("apiVersion")), str(obj.get("kind")))
    return obj if found is None else schema.default(found, obj)


def _cluster(obj: Raw) -> Raw:
    """Port 0 or none becomes 6443, even without a host; ``cloudProviderEnabled`` becomes explicit."""
    spec = _map(obj.get("spec"))
    endpoint = _map(spec.get("controlPlaneEndpoint"))
    if not endpoint.get("port"):
        endpoint = {**endpoint, "port": DEFAULT_PORT}
    enabled = spec.get("cloudProviderEnabled")
    filled = {"controlPlaneEndpoint": endpoint, "cloudProviderEnabled": False if enabled is None else enabled}
    return {**obj, "spec": {**spec, **filled}}


def _remediation_template(obj: Raw) -> Raw:
    spec = _map(obj.get("spec"))
    template = _map(spec.get("template"))
    inner = _map(template.get("spec"))
    strategy = inner.get("strategy")
    if not isinstance(strategy, Mapping):
        return obj
    filled = dict(strategy)
    filled["type"] = strategy.get("type") or DEFAULT_STRATEGY
    filled["timeoutSeconds"] = strategy.get("timeoutSeconds") or DEFAULT_TIMEOUT_SECONDS
    retries = strategy.get("retryLimit")
    if not retries or (isinstance(retries, int) and retries < DEFAULT_RETRY_LIMIT):
        filled["retryLimit"] = DEFAULT_RETRY_LIMIT
    return {**obj, "spec": {**spec, "template": {**template, "spec": {**inner, "strategy": filled}}}}


def _map(value: Any) -> Raw:
    return dict(value) if isinstance(value, Mapping) else {}


DEFAULTERS: Mapping[str, Callable[[Raw], Raw]] = {
    "Metal3Cluster": _cluster,
    "Metal3RemediationTemplate": _remediation_template,
}
"""The kinds that have a defaulting webhook."""
