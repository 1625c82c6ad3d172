"""The registered differences between recorded renderings and ours, each as a rule that explains all of a difference.

Apart from `vectors_rendering`, because this is the list that reviewers read; docs/reference/quirks.md gives the reasons.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml
from capm3_api import kinds
from capm3_api.model import Raw

from capm3_managers.data import report
from capm3_managers.testing import rendering_run
from capm3_managers.testing.rendering_run import Case, Result


def dns_servers_are_rendered(case: Case, ours: Result, theirs: Result) -> str:
    """``dnsServersFromPool`` gives its keys, which the Go program claims an address for and leaves out."""
    keys = {item.get("key") for item in (case.spec.get("metaData") or {}).get("dnsServersFromPool") or []}
    if not keys or (ours.errors, ours.outcome) != (theirs.errors, theirs.outcome):
        return ""
    same = set(ours.rendered) == set(theirs.rendered) and all(
        _without(ours.rendered[name], keys) == _without(theirs.rendered[name], keys) for name in ours.rendered
    )
    return "dnsServersFromPool is rendered" if same else ""


def annotated_gateways_are_claimed(case: Case, ours: Result, theirs: Result) -> str:
    """A DHCP or SLAAC network's gateway may come from a pool named by an annotation; the Go program never claims it."""
    failed = set(theirs.errors.values()) == {"failed to fetch pool from cache"}
    networks = (case.spec.get("networkData") or {}).get("networks") or {}
    dynamic = [item for part in ("ipv4DHCP", "ipv6DHCP", "ipv6SLAAC") for item in networks.get(part) or []]
    routes = [route for item in dynamic for route in item.get("routes") or []]
    annotated = any((route.get("gateway") or {}).get("fromPoolAnnotation") for route in routes)
    return "gateways named by annotations are claimed" if failed and annotated and ours.outcome != "error" else ""


def pool_kinds_count(case: Case, ours: Result, theirs: Result) -> str:
    """Group and kind of a pool in the metadata decide who is asked; the Go program always asks an IPPool.

    Explained when ours, given a template that says IPPool everywhere, does what the Go program did.
    """
    if all((item.get("apiGroup"), item.get("kind")) == _METAL3_POOL for item in _from_pools(case.spec)):
        return ""
    spec = copy.deepcopy(case.spec)
    for item in _from_pools(spec):
        item["apiGroup"], item["kind"] = _METAL3_POOL
    plain = rendering_run.run(Case(case.raw, {**(case.template or {}), "spec": spec}))
    explained = plain == theirs or bool(dns_servers_are_rendered(case, plain, theirs))
    return "apiGroup and kind of ...FromPool entries are honoured" if explained else ""


_METAL3_POOL = (kinds.METAL3_IPAM, kinds.IP_POOL.kind)


def only_used_pools_are_claimed(case: Case, ours: Result, theirs: Result) -> str:
    """Pools that another source overrides are not claimed; the Go program claims them, and waits or fails with them."""
    given = {
        ((obj.get("spec") or {}).get("pool") or {}).get("name") for obj in case.observed if obj["kind"] == _ADDRESS
    }
    without = _overridden(case.spec) - given
    blamed = theirs.outcome == "wait" or any(
        "multiple references" in text or text.startswith("IP Allocation for ") for text in theirs.errors.values()
    )
    return "pools that are not used are not claimed" if without and blamed else ""


OURS_ALONE = {
    report.SECRET_NOT_OURS: "a Secret of another Metal3Data is not used",
    report.POOL_NAME_INVALID: "a pool's name that no object can have is refused before a claim is made",
}
"""Reasons of which the Go program knows nothing."""


def reasons_of_ours(case: Case, ours: Result, theirs: Result) -> str:
    """Ours stop for a reason that the Go program does not look at; what it did then can't agree."""
    return next((OURS_ALONE[reason] for reason in ours.reasons.values() if reason in OURS_ALONE), "")


def masks_fit_their_family(case: Case, ours: Result, theirs: Result) -> str:
    """A prefix length that is too long for the network's family is refused; the Go program writes no mask at all."""
    refused = any(text.startswith("prefix out of range: ") for text in ours.errors.values())
    texts = [text for secret in theirs.rendered.values() for text in secret.values()]
    unfit = any(mask in text for text in texts for mask in ("netmask: ?00000000000000000000ffff", "netmask: <nil>"))
    return "a prefix length that does not fit the network's family is refused" if refused and unfit else ""


_ADDRESS = kinds.IP_ADDRESS.kind

RULES: tuple[Callable[[Case, Result, Result], str], ...] = (
    dns_servers_are_rendered,
    annotated_gateways_are_claimed,
    pool_kinds_count,
    only_used_pools_are_claimed,
    masks_fit_their_family,
    reasons_of_ours,
)


def _from_pools(spec: Raw) -> Iterator[Raw]:
    metadata = spec.get("metaData") or {}
    for part in ("ipAddressesFromPool", "prefixesFromPool", "gatewaysFromPool", "dnsServersFromPool"):
        yield from metadata.get(part) or []


def _without(texts: Mapping[str, str], keys: set[str]) -> dict[str, Any]:
    """The documents as data, without some keys of the metadata."""
    result: dict[str, Any] = {}
    for name, text in texts.items():
        document = yaml.load(text, Loader=yaml.BaseLoader)
        result[name] = {k: v for k, v in document.items() if k not in keys} if name == "metaData" else document
    return result


def _overridden(spec: Raw) -> set[str]:
    """Names of pools that stand in the template beside a source that goes before them."""
    networks = (spec.get("networkData") or {}).get("networks") or {}
    found: set[str] = set()
    for network in (item for part in networks.values() for item in part or []):
        found |= _after(network.get("fromPoolAnnotation"), network, "ipAddressFromIPPool")
        for route in network.get("routes") or []:
            gateway = route.get("gateway") or {}
            before = gateway.get("string") or gateway.get("fromPoolAnnotation")
            found |= _after(before, gateway, "fromIPPool")
    return found


def _after(before: Any, place: Raw, plain: str) -> set[str]:
    name = (place.get("fromPoolRef") or {}).get("name") or place.get(plain)
    return {str(name)} if before and name else set()
