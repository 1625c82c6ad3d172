"""What a machine says of itself: its addresses, that its data is in place, and when the status last changed.

Apart from the steps that act, because these only tell. Behaviour facts on CAPM3 5.2.9 step 5 and 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capm3_api.model import Raw

from capm3_managers import hosts, outcomes
from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.machine.snapshot import Snapshot

MAX_ADDRESSES = 32
"""The CRD's limit; the Go program fails for ever on a host with more."""


def addresses(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """``status.addresses`` from the host's hardware details; a failure told in earlier times is taken back (B03)."""
    found = of_host(snapshot.host or {})
    draft = draft.patch({"status": {"addresses": found or None}})
    old = hosts.part(draft.wanted, "status", "deprecated", "v1beta1")
    gone = {name: None for name in ("failureReason", "failureMessage") if name in old}
    return draft.patch({"status": {"deprecated": {"v1beta1": gone}}}) if gone else draft


def done(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Everything that can be done for the machine itself is done."""
    return draft.outcome(outcomes.METADATA_OK)


def summary(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Ready in both forms."""
    return draft.summarise(outcomes.MACHINE_SUMMARY, outcomes.MACHINE_LEGACY_SUMMARY)


def last_updated(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """``status.lastUpdated`` moves when the addresses do; alone it is no change."""
    status = hosts.part(draft.wanted, "status").get("addresses")
    before = hosts.part(snapshot.observed or {}, "status").get("addresses")
    return draft if status == before else draft.patch({"status": {"lastUpdated": draft.now}})


def of_host(host: Mapping[str, Any]) -> list[Raw]:
    """Addresses of the NICs in their order, then the host name in two roles; cut so that the names stay."""
    hardware = hosts.part(host, "status", "hardware")
    nics = [nic for nic in hardware.get("nics") or [] if isinstance(nic, Mapping) and nic.get("ip")]
    hostname = str(hardware.get("hostname") or "")
    names = [{"type": kind, "address": hostname} for kind in ("Hostname", "InternalDNS")] if hostname else []
    found = [{"type": "InternalIP", "address": str(nic["ip"])} for nic in nics]
    return found[: MAX_ADDRESSES - len(names)] + names
