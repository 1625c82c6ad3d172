"""The life of a host, world in and world out: from the first look to its deletion, over servers in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from capm3_api import condition, kinds, names, schema, schemas
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_api.testing import builders
from capm3_managers import host as host_manager
from capm3_managers.host import credentials
from capm3_managers.ports import BmcFailure
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.servers import Server, Servers
from capm3_managers.testing.world import World

KEY = Key("default", "h1")
ISO = {"url": "http://images.example.com/live.iso", "format": "live-iso"}
ADDRESS = "redfish-virtualmedia+http://bmc.example.com/redfish/v1/Systems/h1"


def new_host(**spec: Any) -> Raw:
    """A host as a person writes it: no status."""
    raw = builders.host("h1", KEY.namespace)
    raw.pop("status")
    raw["spec"].update(spec)
    return raw


class Bench:
    """One host, its Secret and its server."""

    def __init__(self, *, server: Server | None = None, seed: int = 0, secret: bool = True, **spec: Any) -> None:
        self.world = World()
        self.server = server or Server(delay=1)
        self.servers = Servers({ADDRESS: self.server})
        if secret:
            self.world.create(builders.bmc_secret("h1", KEY.namespace))
        self.world.create(new_host(**spec))
        self.scenario = Scenario(self.world, [host_manager.MANAGER], bmc=self.servers, seed=seed)

    def settle(self) -> Bench:
        self.scenario.until_settled()
        return self

    def settle_gone(self) -> Bench:
        """For a host that ends with this."""
        self.scenario.until_settled()
        assert self.world.get(kinds.BARE_METAL_HOST, KEY) is None
        return self

    def until(self, done: Callable[[], bool]) -> Bench:
        """Lets time pass; a wait that changes nothing counts as settled, so it takes several rounds."""
        for _ in range(400):
            if done():
                return self
            self.scenario.until_settled(silent=False)
        raise AssertionError("it never came")

    def patch(self, patch: Raw) -> Bench:
        self.world.patch(kinds.BARE_METAL_HOST, KEY, patch)
        return self

    def deploy(self) -> Bench:
        return self.patch({"spec": {"image": ISO}}).settle()

    @property
    def host(self) -> Raw:
        found = self.world.get(kinds.BARE_METAL_HOST, KEY)
        assert found is not None
        return found

    @property
    def status(self) -> Raw:
        return self.host["status"]

    @property
    def state(self) -> str:
        return self.status["provisioning"]["state"]

    def reason(self, type_: str) -> str:
        return (condition.get(self.host, type_) or {}).get("reason", "")


def test_a_new_host_becomes_available_and_is_powered_on() -> None:
    bench = Bench().settle()
    assert bench.state == "available"
    assert bench.server.power == "on"
    assert bench.status["poweredOn"] is True
    assert bench.status["hardware"] == bench.server.inventory
    assert bench.status["operationalStatus"] == "OK"
    assert bench.reason("Ready") == "NotProvisioned"
    assert bench.reason("AvailableForProvisioning") == "Available"
    assert bench.status["provisioning"]["rootDeviceHints"] == {"deviceName": "/dev/sda"}
    assert bench.status["goodCredentials"]["credentials"]["name"] == "h1-bmc"
    data = bench.world.get(kinds.HARDWARE_DATA, KEY)
    assert data is not None and data["spec"]["hardware"] == bench.server.inventory


def test_the_history_has_a_start_and_an_end_for_what_was_done() -> None:
    history = Bench().settle().deploy().status["operationHistory"]
    assert set(history["register"]) == {"start", "end"} == set(history["inspect"]) == set(history["provision"])
    assert history["deprovision"] == {}


def test_a_live_iso_is_booted_from_the_virtual_cd_after_a_full_power_cycle() -> None:
    bench = Bench().settle()
    starts = bench.server.starts
    bench.deploy()
    assert bench.state == "provisioned"
    assert bench.server.booted_from == ISO["url"]
    assert bench.server.starts == starts + 1
    assert bench.status["provisioning"]["image"] == ISO
    assert bench.reason("Ready") == "Provisioned"
    tail = [op for op, _ in bench.server.actions][-4:]
    assert tail == ["power-off", "insert-media", "boot-once", "power-on"]


def test_taking_the_image_away_ejects_it_and_makes_the_host_available_again() -> None:
    bench = Bench().settle().deploy()
    bench.patch({"spec": {"image": None, "online": False}}).settle()
    assert bench.state == "available"
    assert bench.server.media == ""
    assert bench.server.power == "off"
    assert bench.status["provisioning"]["image"] == {"url": ""}
    assert bench.status["poweredOn"] is False


def test_another_image_url_deprovisions_and_provisions_again() -> None:
    bench = Bench().settle().deploy()
    other = {"url": "http://images.example.com/other.iso", "format": "live-iso"}
    bench.patch({"spec": {"image": other}}).settle()
    assert (bench.state, bench.server.booted_from) == ("provisioned", other["url"])


def test_nothing_starts_while_the_host_should_be_off() -> None:
    bench = Bench(online=False).settle().deploy()
    assert (bench.state, bench.server.power) == ("available", "off")
    bench.patch({"spec": {"online": True}}).settle()
    assert bench.state == "provisioned"


def test_an_image_left_in_the_cd_is_never_taken_for_a_finished_deployment() -> None:
    server = Server(power="on", media=ISO["url"])
    bench = Bench(server=server).settle()
    starts = server.starts
    bench.deploy()
    assert server.starts == starts + 1
    assert ("eject-media", "") in server.actions
    assert server.booted_from == ISO["url"]


@pytest.mark.parametrize(
    ("spec", "missing"),
    [
        ({"image": {"url": "http://x.example.com/a.qcow2", "checksum": "http://x/sums"}}, "Ironic driver"),
        ({"image": {"url": "http://x.example.com/a.qcow2", "format": "qcow2", "checksum": "abc"}}, "qcow2"),
        ({"customDeploy": {"method": "install_coreos"}}, "spec.customDeploy"),
        ({"image": {"url": "oci://x.example.com/a", "format": "live-iso"}}, "http"),
        ({"image": ISO, "bootMode": "UEFISecureBoot"}, "UEFISecureBoot"),
    ],
)
def test_what_can_not_be_deployed_here_is_refused_with_what_is_missing(spec: Raw, missing: str) -> None:
    bench = Bench().settle()
    bench.patch({"spec": spec}).settle()
    assert bench.state == "available"
    assert bench.status["errorType"] == "provisioning error"
    assert missing in bench.status["errorMessage"]
    assert bench.status["errorCount"] == 1
    assert bench.reason("Ready") == "Error"
    bench.patch({"spec": {"image": ISO, "customDeploy": None, "bootMode": "UEFI"}}).settle()
    assert bench.state == "provisioned"
    assert "errorType" not in bench.status


def test_a_server_without_a_virtual_cd_is_refused() -> None:
    bench = Bench(server=Server(media=None)).settle().deploy()
    assert bench.state == "available"
    assert "no virtual CD" in bench.status["errorMessage"]


def test_raid_is_refused_before_the_host_becomes_available() -> None:
    bench = Bench(raid={"hardwareRAIDVolumes": [{"level": "1"}]}).settle()
    assert bench.state == "preparing"
    assert bench.status["errorType"] == "preparation error"
    bench.patch({"spec": {"raid": None}}).settle()
    assert bench.state == "available"


def test_the_power_of_a_provisioned_host_follows_online_and_each_start_is_from_the_image() -> None:
    bench = Bench().settle().deploy()
    bench.patch({"spec": {"online": False}}).settle()
    assert (bench.server.power, bench.status["poweredOn"]) == ("off", False)
    assert bench.server.actions[-1] == ("power-off", "soft")
    bench.patch({"spec": {"online": True}}).settle()
    assert bench.server.booted_from == ISO["url"]


def test_a_server_that_lost_its_power_is_started_again() -> None:
    bench = Bench().settle().deploy()
    bench.server.switch("off")
    bench.settle()
    assert bench.server.booted_from == ISO["url"]
    assert bench.state == "provisioned"


def test_an_operating_system_that_never_shuts_down_is_cut_off() -> None:
    bench = Bench(server=Server(ignores_soft=True)).settle().deploy()
    bench.patch({"spec": {"online": False}}).until(lambda: bench.server.power == "off")
    assert bench.server.actions[-2:] == [("power-off", "soft"), ("power-off", "hard")]


def test_an_unknown_power_state_is_never_taken_for_off() -> None:
    bench = Bench().settle().deploy()
    bench.server.power = "unknown"
    before = list(bench.server.actions)
    for _ in range(3):
        bench.scenario.run("baremetalhost", KEY)
    assert bench.status["poweredOn"] is True
    assert bench.server.actions == before


def test_a_reboot_annotation_is_done_once_and_removed() -> None:
    bench = Bench().settle().deploy()
    starts = bench.server.starts
    bench.patch({"metadata": {"annotations": {"reboot.metal3.io": json.dumps({"mode": "hard"})}}}).settle()
    assert bench.server.starts == starts + 1
    assert "reboot.metal3.io" not in bench.host["metadata"].get("annotations", {})
    assert ("power-off", "hard") in bench.server.actions


def test_a_phased_reboot_keeps_the_host_off_until_its_owner_removes_it() -> None:
    bench = Bench().settle().deploy()
    bench.patch({"metadata": {"annotations": {"reboot.metal3.io/me": ""}}}).settle()
    assert bench.server.power == "off"
    assert "reboot.metal3.io/me" in bench.host["metadata"]["annotations"]
    bench.patch({"metadata": {"annotations": {"reboot.metal3.io/me": None}}}).settle()
    assert bench.server.power == "on"


def test_a_host_without_bmc_is_unmanaged_until_it_gets_one() -> None:
    bench = Bench()
    bmc = bench.host["spec"]["bmc"]
    bench.patch({"spec": {"bmc": {"address": "", "credentialsName": ""}}}).settle()
    assert (bench.state, bench.status["operationalStatus"]) == ("unmanaged", "discovered")
    bench.patch({"spec": {"bmc": bmc}}).settle()
    assert bench.state == "available"


def test_an_externally_provisioned_host_is_only_powered() -> None:
    bench = Bench(externallyProvisioned=True, image=ISO).settle()
    assert bench.state == "externally provisioned"
    assert bench.server.power == "on"
    assert {op for op, _ in bench.server.actions} == {"power-on"}


def test_a_paused_host_is_not_looked_at() -> None:
    bench = Bench()
    bench.patch({"metadata": {"annotations": {names.HOST_PAUSED_ANNOTATION: ""}}}).settle()
    assert "status" not in bench.host
    assert bench.server.looks == 0
    bench.patch({"metadata": {"annotations": {names.HOST_PAUSED_ANNOTATION: None}}}).settle()
    assert bench.state == "available"


def test_a_detached_host_keeps_its_state_and_is_not_touched() -> None:
    bench = Bench().settle().deploy()
    bench.patch({"metadata": {"annotations": {names.HOST_DETACHED_ANNOTATION: "x"}}}).settle()
    looks = bench.server.looks
    bench.patch({"spec": {"online": False}}).settle()
    assert (bench.state, bench.status["operationalStatus"]) == ("provisioned", "detached")
    assert bench.server.looks == looks
    assert bench.reason("Ready") == "Detached"
    bench.patch({"metadata": {"annotations": {names.HOST_DETACHED_ANNOTATION: None}}}).settle()
    assert (bench.status["operationalStatus"], bench.server.power) == ("OK", "off")


def test_a_moved_host_takes_its_status_from_the_annotation() -> None:
    moved = Bench().settle().deploy()
    text = json.dumps(moved.status)
    bench = Bench(server=moved.server, image=ISO)
    actions = len(moved.server.actions)
    bench.patch({"metadata": {"annotations": {names.HOST_STATUS_ANNOTATION: text}}}).settle()
    assert bench.state == "provisioned"
    assert names.HOST_STATUS_ANNOTATION not in bench.host["metadata"].get("annotations", {})
    assert len(bench.server.actions) == actions


def test_given_hardware_is_taken_when_inspection_is_disabled() -> None:
    bench = Bench(inspectionMode="disabled")
    details = {"cpu": {"arch": "aarch64"}, "hostname": "given"}
    bench.patch({"metadata": {"annotations": {"inspect.metal3.io/hardwaredetails": json.dumps(details)}}}).settle()
    assert bench.state == "available"
    assert bench.status["hardware"] == details
    assert "inspect.metal3.io/hardwaredetails" not in bench.host["metadata"].get("annotations", {})


def test_inspection_is_repeated_when_asked_for() -> None:
    bench = Bench().settle()
    bench.server.inventory = {**bench.server.inventory, "ramMebibytes": 1024}
    bench.patch({"metadata": {"annotations": {"inspect.metal3.io": ""}}}).settle()
    assert bench.state == "available"
    assert bench.status["hardware"]["ramMebibytes"] == 1024
    data = bench.world.get(kinds.HARDWARE_DATA, KEY)
    assert data is not None and data["spec"]["hardware"]["ramMebibytes"] == 1024
    assert "inspect.metal3.io" not in bench.host["metadata"].get("annotations", {})


def test_the_secret_is_tied_to_the_host() -> None:
    bench = Bench().settle()
    secret = bench.world.get(kinds.SECRET, Key(KEY.namespace, "h1-bmc"))
    assert secret is not None
    assert secret["metadata"]["labels"][credentials.LABEL] == "baremetal"
    assert secret["metadata"]["finalizers"] == [credentials.FINALIZER]
    assert secret["metadata"]["ownerReferences"][0]["name"] == "h1"


@pytest.mark.parametrize("stage", ["new", "available", "provisioned"])
def test_deleting_leaves_nothing_behind_and_the_server_off_and_empty(stage: str) -> None:
    bench = Bench()
    if stage != "new":
        bench.settle()
    if stage == "provisioned":
        bench.deploy()
    bench.world.delete(kinds.BARE_METAL_HOST, KEY)
    bench.world.delete(kinds.SECRET, Key(KEY.namespace, "h1-bmc"))
    bench.scenario.until_settled()
    assert bench.world.all() == []
    assert (bench.server.power, bench.server.media) == ("off", "")


def test_a_host_whose_server_is_dead_can_still_be_deleted() -> None:
    bench = Bench().settle().deploy()
    bench.servers.servers.clear()
    bench.world.delete(kinds.BARE_METAL_HOST, KEY)
    bench.scenario.until_settled()
    assert bench.world.get(kinds.BARE_METAL_HOST, KEY) is None


def test_a_host_whose_secret_is_gone_can_still_be_deleted() -> None:
    bench = Bench().settle()
    secret = Key(KEY.namespace, "h1-bmc")
    bench.world.patch(kinds.SECRET, secret, {"metadata": {"finalizers": None}})
    bench.world.delete(kinds.SECRET, secret)
    bench.world.delete(kinds.BARE_METAL_HOST, KEY)
    bench.scenario.until_settled()
    assert bench.world.get(kinds.BARE_METAL_HOST, KEY) is None


def test_fields_that_nobody_here_knows_survive() -> None:
    bench = Bench(futureField={"a": [1]})
    bench.settle().deploy()
    assert bench.host["spec"]["futureField"] == {"a": [1]}


def test_a_detached_host_is_let_go_without_touching_its_server() -> None:
    bench = Bench().settle().deploy()
    bench.patch({"metadata": {"annotations": {names.HOST_DETACHED_ANNOTATION: ""}}}).settle()
    actions = list(bench.server.actions)
    bench.world.delete(kinds.BARE_METAL_HOST, KEY)
    bench.scenario.until_settled()
    assert bench.world.get(kinds.BARE_METAL_HOST, KEY) is None
    assert bench.server.actions == actions
    assert bench.server.power == "on"


def test_a_detached_host_that_asks_for_it_waits_with_its_deletion() -> None:
    bench = Bench().settle()
    value = json.dumps({"deleteAction": "delay"})
    bench.patch({"metadata": {"annotations": {names.HOST_DETACHED_ANNOTATION: value}}}).settle()
    bench.world.delete(kinds.BARE_METAL_HOST, KEY)
    bench.scenario.until_settled()
    assert bench.world.get(kinds.BARE_METAL_HOST, KEY) is not None
    bench.patch({"metadata": {"annotations": {names.HOST_DETACHED_ANNOTATION: None}}}).settle_gone()
    assert bench.server.power == "off"


def test_a_host_that_clusterctl_moves_away_is_not_touched() -> None:
    bench = Bench().settle().deploy()
    actions = list(bench.server.actions)
    bench.patch({"metadata": {"annotations": {credentials.DELETE_FOR_MOVE: ""}}})
    bench.world.delete(kinds.BARE_METAL_HOST, KEY)
    bench.scenario.until_settled()
    assert bench.server.actions == actions
    assert bench.host["metadata"]["finalizers"] == [names.HOST_FINALIZER]


def test_a_server_that_may_not_be_powered_off_is_not_and_says_why() -> None:
    bench = Bench(disablePowerOff=True, server=Server(power="on")).settle().deploy()
    assert "spec.disablePowerOff" in bench.status["errorMessage"]
    assert bench.server.actions == []
    bench.world.delete(kinds.BARE_METAL_HOST, KEY)
    bench.scenario.until_settled()
    assert bench.world.get(kinds.BARE_METAL_HOST, KEY) is None
    assert bench.server.power == "on"


def test_a_settled_host_is_looked_at_and_nothing_is_written() -> None:
    bench = Bench().settle().deploy()
    version, looks = bench.host["metadata"]["resourceVersion"], bench.server.looks
    for _ in range(3):
        bench.scenario.run("baremetalhost", KEY)
    assert bench.host["metadata"]["resourceVersion"] == version
    assert bench.server.looks == looks + 3


@pytest.mark.parametrize("delay", range(6))
@pytest.mark.parametrize("passes", range(8))
def test_a_start_from_the_disk_that_comes_late_is_not_taken_for_one_from_the_image(delay: int, passes: int) -> None:
    """The image is asked for while the server is still starting, after any number of passes of its power management."""
    bench = Bench(server=Server(delay=1), online=False).settle()
    bench.server.delay = delay
    bench.patch({"spec": {"online": True}})
    for _ in range(passes):
        bench.scenario.run(host_manager.MANAGER.name, KEY)
    bench.patch({"spec": {"image": ISO}})
    bench.until(lambda: bench.state == "provisioned")
    assert (bench.server.power, bench.server.booted_from) == ("on", ISO["url"])


def test_a_start_whose_memory_was_lost_is_not_taken_for_one_from_the_image() -> None:
    bench = Bench(server=Server(delay=1), online=False).settle()
    bench.server.delay = 6
    bench.server.ask("on")
    bench.patch({"spec": {"online": True, "image": ISO}})
    bench.until(lambda: bench.state == "provisioned")
    assert (bench.server.power, bench.server.booted_from) == ("on", ISO["url"])


def test_every_host_and_hardware_data_ever_written_is_valid_by_its_schema_and_loses_nothing_by_pruning() -> None:
    bench = Bench(server=Server(delay=1, failing=[BmcFailure("Unreachable", "x")]), image=ISO)
    bench.server.inventory = HARDWARE
    seen: list[Raw] = []
    bench.world.listen(lambda event: seen.append(event.obj))
    bench.settle()
    bench.patch({"spec": {"image": {**ISO, "format": "qcow2", "url": "http://x/y"}}}).settle()
    bench.world.delete(kinds.BARE_METAL_HOST, KEY)
    bench.scenario.until_settled()
    checked = 0
    for obj in seen:
        found = schemas.of(obj["apiVersion"], obj["kind"])
        if found is None:
            continue
        checked += 1
        assert schema.validate(found, obj) == []
        assert schema.prune(found, obj)[1] == []
    assert checked > 20


HARDWARE: Raw = {
    "systemVendor": {"manufacturer": "Example", "productName": "P", "serialNumber": "S"},
    "firmware": {"bios": {"version": "1", "date": "2026-01-01"}},
    "ramMebibytes": 32768,
    "hostname": "h1",
    "cpu": {"arch": "x86_64", "model": "M", "count": 16, "clockMegahertz": 3600.0},
    "nics": [{"name": "1", "mac": "02:00:00:00:00:01", "ip": "192.0.2.5", "speedGbps": 25, "pxe": True, "model": "N"}],
    "storage": [
        {"name": "0", "type": "NVME", "sizeBytes": 960197124096, "vendor": "V", "model": "M", "serialNumber": "S"}
        | {"wwn": "0x1", "rotational": False}
    ],
}
"""Everything that the Redfish driver may report."""
