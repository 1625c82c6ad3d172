"""The indexes over cached objects that `observe` functions may ask for: a table of pure functions.

Data, so that the controller's store and `testing.World` build the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from capm3_api import condition, kinds, meta, names
from capm3_api.meta import Kind
from capm3_api.model import Raw

from capm3_managers import hosts, outcomes
from capm3_managers import owners as references
from capm3_managers.ippool import flavours

IndexFunction = Callable[[Raw], Iterable[str]]


def owners(obj: Raw) -> Iterable[str]:
    """``Kind/name`` of every owner reference."""
    for owner in references.references(obj):
        yield f"{owner.get('kind')}/{owner.get('name')}"


def consumer(host: Raw) -> Iterable[str]:
    """``Kind/name`` of a host's consumer."""
    ref = hosts.consumer(host)
    if ref is not None:
        yield f"{ref.get('kind')}/{ref.get('name')}"


def credentials(host: Raw) -> Iterable[str]:
    """Name of the Secret with the credentials of a host's BMC."""
    name = hosts.text(host, "spec", "bmc", "credentialsName")
    if name:
        yield name


def template(obj: Raw) -> Iterable[str]:
    """The Metal3DataTemplate that a claim or a data object names."""
    name = hosts.text(obj, "spec", "template", "name")
    if name:
        yield name


def pool(obj: Raw) -> Iterable[str]:
    """The IPPool that a claim or an address of either kind names."""
    flavour = flavours.of(obj)
    name = flavour.pool_name(obj) if flavour is not None else ""
    if name:
        yield name


def address_prefix(obj: Raw) -> Iterable[str]:
    """What stands before the address in the name of an IPAddress: the ``namePrefix`` of its pool."""
    address = hosts.text(obj, "spec", "address").replace(":", "-").replace(".", "-").rstrip("-")
    head, found, _ = meta.key_of(obj).name.rpartition(f"-{address}")
    if found:
        yield head


def pool_cluster(obj: Raw) -> Iterable[str]:
    """``spec.clusterName`` of an IPPool."""
    name = hosts.text(obj, "spec", "clusterName")
    if name:
        yield name


def without(machine: Raw) -> Iterable[str]:
    """``host`` for a Metal3Machine that looked for one and found none."""
    told = condition.get(machine, outcomes.ASSOCIATED) or {}
    reasons = (outcomes.NO_HOST.reason, outcomes.NO_HOST_IN_DOMAIN.reason)
    if told.get("reason") in reasons and names.HOST_ANNOTATION not in hosts.marks(machine):
        yield "host"


INDEXES: Mapping[Kind, Mapping[str, IndexFunction]] = {
    kinds.BARE_METAL_HOST: {"consumer": consumer, "claimable": hosts.claimable, "credentials": credentials},
    kinds.METAL3_MACHINE: {"owner": owners, "without": without},
    kinds.METAL3_DATA: {"owner": owners, "template": template},
    kinds.METAL3_DATA_CLAIM: {"owner": owners, "template": template},
    kinds.IP_POOL: {"cluster": pool_cluster},
    kinds.IP_CLAIM: {"owner": owners, "pool": pool},
    kinds.IP_ADDRESS: {"pool": pool, "prefix": address_prefix},
    kinds.CAPI_IP_ADDRESS_CLAIM: {"owner": owners, "pool": pool},
    kinds.CAPI_IP_ADDRESS: {"pool": pool},
}
