"""An installation that grew old: one version stored, many objects in it, then the new definitions over them.

Apart from the site, which can install anything; this says what an upgrade consists of, and what is looked at afterwards.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from capm3_api import crdgen, kinds
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_testbed.dropin import definitions
from capm3_testbed.dropin.site import Site


@dataclasses.dataclass(frozen=True)
class Old:
    """Args:
    namespace: holds nothing but the objects.
    objects: as they were sent, by kind name.
    """

    namespace: str
    objects: dict[str, list[Raw]]


def install_old(site: Site) -> None:
    """A release with v1beta1 alone: no conversion, no defaults of pool references."""
    old = [definitions.only(item, "v1beta1") for item in definitions.ours()]
    site.put_definitions([*old, *definitions.foreign_of_ours(), *site.foreign()])


def fill(site: Site, samples: Sequence[Raw], count: int) -> Old:
    """`count` objects of each kind.

    Raises:
        AssertionError: one was refused.
    """
    namespace = site.namespace("old-site")
    made: dict[str, list[Raw]] = {}
    for sample in samples:
        for number in range(count):
            name = f"{sample['metadata']['name']}-{number:02}"
            obj = {**sample, "metadata": {"name": name, "namespace": namespace}}
            answer = site.calls.create(obj)
            if not answer.accepted:
                raise AssertionError(f"{sample['kind']}: {answer.message}")
            made.setdefault(sample["kind"], []).append(obj)
    return Old(namespace, made)


def swap(site: Site) -> None:
    """Our definitions over the old ones, and the webhooks."""
    site.put_definitions(definitions.ours(site.conversion))
    site.configure_webhooks()


def stored_versions(site: Site) -> dict[str, list[str]]:
    """``status.storedVersions`` of the nine definitions, by kind name."""
    found = {}
    for kind in kinds.OURS:
        definition = site.api.get(kinds.CRD, Key("", crdgen.crd_name(kind)))
        found[kind.kind] = list(((definition or {}).get("status") or {}).get("storedVersions") or [])
    return found


def lying(site: Site, kind: Kind, namespace: str) -> list[Raw]:
    """What etcd holds of a kind."""
    return site.plane.stored(f"/registry/{kind.group}/{kind.plural}/{namespace}/")
