"""How long a host is left alone after an error. Pure.

The pause stands in the status itself (when it was last written, how many errors), so that a restarted controller and
every event in between keep to it; a changed spec, Secret or a deletion ends it at once.
"""

from __future__ import annotations

import datetime

from capm3_api import condition
from capm3_api.external.bmo import BareMetalHost
from capm3_api.model import Raw

from capm3_managers.env import Env
from capm3_managers.host import credentials, states

SLOW_REASONS = ("AddressInvalid", "CredentialsRefused", "TlsVerificationFailed", "NotSupported")
"""Reasons of failures that a person has to mend; asking often does not help, and BMCs lock accounts."""
SLOW_SECONDS = 60.0


def pause(count: int, message: str, env: Env) -> float:
    """Seconds after the `count`-th error in a row."""
    settings = env.settings
    first = settings.host_error_backoff_seconds
    if message.partition(":")[0] in SLOW_REASONS:
        first = max(first, SLOW_SECONDS)
    doubled = first * 2.0 ** min(max(count - 1, 0), 30)
    return float(min(doubled, max(settings.host_error_backoff_max_seconds, first)))


def left(host: BareMetalHost, secret: Raw | None, env: Env) -> float:
    """Seconds until the BMC may be asked again; 0.0 when it may be now."""
    status = host.status
    if status.operational_status != "error" or not status.error_count or not status.last_updated:
        return 0.0
    if _changed(host, secret):
        return 0.0
    since = age(status.last_updated, env)
    return max(0.0, pause(status.error_count, status.error_message, env) - since)


def age(timestamp: str, env: Env) -> float:
    """Seconds since an RFC 3339 time; huge when it can't be read, so that nothing waits for ever."""
    try:
        then = datetime.datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
    except ValueError:
        return float("inf")
    if then.tzinfo is None:
        then = then.replace(tzinfo=datetime.UTC)
    return (env.now - then).total_seconds()


def _changed(host: BareMetalHost, secret: Raw | None) -> bool:
    if secret is not None and not credentials.is_tried(host, secret):
        return True
    ready = condition.get(host.raw, "Ready") or {}
    if host.metadata.generation is not None and ready.get("observedGeneration") != host.metadata.generation:
        return True
    going = (states.DEPROVISIONING, states.POWERING_OFF, states.DELETING)
    return host.metadata.deletion_timestamp is not None and host.status.provisioning.state not in going
