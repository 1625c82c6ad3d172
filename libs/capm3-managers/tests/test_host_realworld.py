"""Hosts as people really write them: each is taken, refused with a reason, or left alone; none stops the manager."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from capm3_api import kinds, meta, names
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import host as host_manager
from capm3_managers.testing.scenario import NeverSettled, Scenario
from capm3_managers.testing.servers import Server, Servers
from capm3_managers.testing.world import World

FOLDER = Path(__file__).parent / "data" / "bmh"
SERVED = ("redfish", "redfish-virtualmedia", "idrac-virtualmedia")
"""Protocols that the servers of this test speak; others are refused as the drivers refuse them."""


def documents(name: str) -> list[Raw]:
    return [doc for doc in yaml.safe_load_all((FOLDER / name).read_text()) if isinstance(doc, dict) and doc.get("kind")]


def hosts() -> list[str]:
    found = [path.name for path in sorted(FOLDER.glob("*.yaml"))]
    return [name for name in found if any(doc["kind"] == "BareMetalHost" for doc in documents(name))]


def play(name: str) -> tuple[Raw, Server, World]:
    """Runs the manager over the file's host, with the Secret it names and a server at its address."""
    world, servers = World(), Servers()
    host: Raw = {}
    for doc in documents(name):
        doc["metadata"].setdefault("namespace", "site-a")
        if doc["kind"] == "BareMetalHost":
            host = doc
    bmc = host["spec"]["bmc"]
    server = Server()
    if bmc["address"].partition(":")[0].partition("+")[0] in SERVED:
        servers.servers[bmc["address"]] = server
    if bmc["credentialsName"]:
        text = {"username": "operator", "password": "password"}
        world.create(builders.secret(bmc["credentialsName"], host["metadata"]["namespace"], text=text))
    world.create(host)
    scenario = Scenario(world, [host_manager.MANAGER], bmc=servers)
    try:
        scenario.until_settled(max_passes=120, silent=False)
    except NeverSettled:
        pass
    found = world.get(kinds.BARE_METAL_HOST, meta.key_of(host))
    assert found is not None
    return found, server, world


EXPECTED: dict[str, dict[str, Any]] = {
    "01-ipmi-with-cert-flag.yaml": {"state": "registering", "status": "error", "power": "off"},
    "03-nmstate-dualstack-dhcp-ra-own-dns.yaml": {"state": "available", "status": "OK", "power": "on"},
    "05-unmanaged-no-online.yaml": {"state": "unmanaged", "status": "discovered", "power": "off"},
    "07-redfish-port-by-id-hint.yaml": {"state": "available", "status": "error", "power": "off"},
    "09-oran-inventory-offline.yaml": {"state": "available", "status": "OK", "power": "off"},
    "11-software-raid-by-path.yaml": {"state": "registering", "status": "error", "power": "off"},
    "13-irmc-scheme.yaml": {"state": "registering", "status": "error", "power": "off"},
    "17-assisted-detached-and-paused.yaml": {"state": None, "status": None, "power": "off"},
    "21-raid-clear-singular-field.yaml": {"state": "available", "status": "OK", "power": "on"},
    "25-wwn-hint-only.yaml": {"state": "available", "status": "OK", "power": "on"},
}


def test_every_real_host_has_an_expectation() -> None:
    assert set(hosts()) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_real_host_ends_as_expected(name: str) -> None:
    host, server, _ = play(name)
    status = host.get("status") or {}
    found = {
        "state": (status.get("provisioning") or {}).get("state"),
        "status": status.get("operationalStatus"),
        "power": server.power,
    }
    assert found == EXPECTED[name], status.get("errorMessage")


def test_a_custom_deploy_step_is_refused_by_its_field() -> None:
    host, _, _ = play("07-redfish-port-by-id-hint.yaml")
    assert "spec.customDeploy" in host["status"]["errorMessage"]


def test_hints_of_a_real_host_are_kept_as_given() -> None:
    host, _, _ = play("25-wwn-hint-only.yaml")
    assert host["status"]["provisioning"]["rootDeviceHints"] == {"wwn": "0x22222000000qwe456"}


def test_annotations_and_labels_of_other_tools_are_left_alone() -> None:
    before = next(doc for doc in documents("25-wwn-hint-only.yaml") if doc["kind"] == "BareMetalHost")["metadata"]
    host, _, _ = play("25-wwn-hint-only.yaml")
    assert host["metadata"]["annotations"] == before["annotations"]
    assert host["metadata"]["labels"] == before["labels"]
    assert names.HOST_FINALIZER in host["metadata"]["finalizers"]


def test_the_secret_of_a_paused_host_is_not_touched() -> None:
    _, _, world = play("17-assisted-detached-and-paused.yaml")
    secret = world.get(kinds.SECRET, Key("site-a", "worker-2-bmc"))
    assert secret is not None and "finalizers" not in secret["metadata"]
