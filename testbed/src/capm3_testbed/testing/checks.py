"""What must be true of a provisioned cluster, wherever it runs: on `World`, the embedded API or a real API server.

Apart from the stories, because all three tiers are asked the same questions.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Protocol

import yaml
from capm3_api import kinds, meta
from capm3_api.meta import Kind
from capm3_api.model import Raw

from capm3_testbed.capi.api import name_of, text


class Site(Protocol):
    """A namespace to ask; see `story.Story` and `worldsite.WorldSite`."""

    namespace: str

    def all(self, kind: Kind) -> Sequence[Raw]: ...

    def get(self, kind: Kind, name: str) -> Raw | None: ...

    def nodes(self, cluster: str = "demo") -> Sequence[Raw]: ...


def provisioned(site: Site) -> None:
    """The cluster ``demo`` of the shipped manifest is up; raises AssertionError where it is not."""
    _machines_and_hosts_are_one_to_one(site)
    _documents_are_rendered_for_their_machines(site)
    _nodes_are_paired(site)


def _machines_and_hosts_are_one_to_one(site: Site) -> None:
    machines = site.all(kinds.METAL3_MACHINE)
    held = {text(machine, "metadata", "annotations", "metal3.io/BareMetalHost") for machine in machines}
    assert len(held) == len(machines) > 0
    consumers = [text(host, "spec", "consumerRef", "name") for host in site.all(kinds.BARE_METAL_HOST)]
    assert sorted(filter(None, consumers)) == sorted(name_of(machine) for machine in machines)
    for machine in machines:
        host = text(machine, "metadata", "annotations", "metal3.io/BareMetalHost").partition("/")[2]
        assert text(machine, "spec", "providerID") == f"metal3://{site.namespace}/{host}/{name_of(machine)}"


def _documents_are_rendered_for_their_machines(site: Site) -> None:
    addresses = set()
    for machine in site.all(kinds.METAL3_MACHINE):
        documents = {}
        for field in ("metaData", "networkData"):
            secret = site.get(kinds.SECRET, text(machine, "status", field, "name")) or {}
            documents[field] = yaml.safe_load(base64.b64decode(text(secret, "data", field)))
        assert documents["metaData"]["name"] == name_of(machine)
        address = documents["metaData"]["address"]
        assert documents["networkData"]["networks"][0]["ip_address"] == address
        addresses.add(address)
    assert sorted(addresses) == [f"192.0.2.{100 + number}" for number in range(len(addresses))]


def _nodes_are_paired(site: Site) -> None:
    uids = {name_of(host): meta.uid_of(host) for host in site.all(kinds.BARE_METAL_HOST)}
    nodes = {name_of(node): node for node in site.nodes()}
    machines = site.all(kinds.MACHINE)
    assert sorted(nodes) == sorted(text(machine, "status", "nodeRef", "name") for machine in machines)
    for machine in machines:
        node = nodes[text(machine, "status", "nodeRef", "name")]
        host = text(machine, "spec", "providerID").split("/")[3]
        assert text(node, "spec", "providerID") == text(machine, "spec", "providerID")
        assert text(node, "metadata", "labels", "metal3.io/uuid") == uids[host]
