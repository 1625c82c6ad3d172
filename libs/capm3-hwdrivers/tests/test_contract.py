"""One suite for every peer: the fake, sushy-tools, and the test server as several vendors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from capm3_hwdrivers import errors, fake, registry
from capm3_hwdrivers.capabilities import Boot, Driver, Inspect, Power, VirtualMedia
from capm3_hwdrivers.deadline import Limits
from capm3_hwdrivers.model import Access, PowerState
from capm3_hwdrivers.testing import redfish_profiles
from capm3_hwdrivers.testing.emulator import Emulator
from capm3_hwdrivers.testing.redfish_server import RedfishServer
from pydantic import SecretStr

IMAGE = "http://images.example.test/live.iso"
OTHER = "http://images.example.test/other.iso"
LIMITS = Limits(connect=2, read=5, total=20)
Connect = Callable[[str], Driver]
"""Password -> a driver for one and the same server."""

PEERS = ["fake", "sushy-tools", *(profile.name for profile in redfish_profiles.MEDIA)]


@pytest.fixture(scope="session")
def emulator() -> Iterator[Emulator]:
    with Emulator(
        "node-0", "11111111-0000-4000-8000-000000000001", "02:00:00:00:00:01", "admin", "password", power_seconds=0.1
    ) as running:
        yield running


@pytest.fixture(params=PEERS)
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    if request.param == "fake":
        server = fake.FakeServer(looks=1)
        yield lambda password: fake.FakeDriver(
            server, Access(address="fake", username="admin", password=SecretStr(password))
        )
        return
    if request.param == "sushy-tools":
        yield from _at(request.getfixturevalue("emulator").address)
        return
    profile = next(one for one in redfish_profiles.MEDIA if one.name == request.param)
    with RedfishServer(profile) as peer:
        yield from _at(peer.address)


def _at(address: str) -> Iterator[Connect]:
    opened: list[Driver] = []

    def connect(password: str) -> Driver:
        access = Access(address=address, username="admin", password=SecretStr(password))
        opened.append(registry.connect(access, LIMITS))
        return opened[-1]

    yield connect
    for driver in opened:
        driver.close()


@pytest.fixture
def driver(connect: Connect) -> Driver:
    """A server that is off and has nothing in its CD."""
    found = connect("password")
    found.set_power("off", "hard")
    _reaches(found, PowerState.OFF)
    found.eject_media()
    return found


def _reaches(driver: Driver, wanted: PowerState) -> None:
    end = time.monotonic() + 10
    while driver.power_state() != wanted:
        assert time.monotonic() < end, f"never {wanted}"
        time.sleep(0.02)


def test_a_driver_has_every_capability(driver: Driver) -> None:
    assert isinstance(driver, Power) and isinstance(driver, Boot)
    assert isinstance(driver, VirtualMedia) and isinstance(driver, Inspect)


def test_power_goes_on_and_off_again(driver: Driver) -> None:
    driver.set_power("on")
    _reaches(driver, PowerState.ON)
    driver.set_power("off", "soft")
    _reaches(driver, PowerState.OFF)


def test_asking_for_the_power_that_is_there_changes_nothing(driver: Driver) -> None:
    driver.set_power("off", "hard")
    driver.set_power("off", "soft")
    assert driver.power_state() == PowerState.OFF
    driver.set_power("on")
    _reaches(driver, PowerState.ON)
    driver.set_power("on")
    assert driver.power_state() == PowerState.ON


def test_the_next_boot_device_is_reported_as_set(driver: Driver) -> None:
    driver.boot_once("cd", "UEFI")
    info = driver.boot_info()
    assert (info.device, info.mode) == ("cd", "UEFI")


def test_a_boot_device_that_does_not_exist_is_not_supported(driver: Driver) -> None:
    with pytest.raises(errors.NotSupported, match="floppy"):
        driver.boot_once("floppy")


def test_an_image_is_inserted_replaced_and_ejected(driver: Driver) -> None:
    empty = driver.media()
    assert empty is not None and empty.image == ""
    driver.insert_media(IMAGE)
    driver.insert_media(IMAGE)
    inserted = driver.media()
    assert inserted is not None and inserted.image == IMAGE
    driver.insert_media(OTHER)
    other = driver.media()
    assert other is not None and other.image == OTHER
    driver.eject_media()
    driver.eject_media()
    gone = driver.media()
    assert gone is not None and gone.image == ""


def test_the_inventory_is_in_the_shape_of_a_hosts_hardware(driver: Driver) -> None:
    found = driver.inventory()
    hardware = found.to_hardware()
    assert hardware["nics"][0]["mac"] == "02:00:00:00:00:01"
    assert hardware["ramMebibytes"] > 0
    assert {"systemVendor", "firmware", "cpu"} <= set(hardware)
    assert set(hardware) <= {"systemVendor", "firmware", "cpu", "ramMebibytes", "hostname", "nics", "storage"}


def test_a_wrong_password_is_refused_without_showing_it(connect: Connect) -> None:
    wrong = connect("not-the-password")
    with pytest.raises(errors.CredentialsRefused) as caught:
        wrong.power_state()
    assert "not-the-password" not in f"{caught.value!r} {caught.value}"
    assert not caught.value.transient


def test_closing_twice_is_fine_and_the_driver_connects_again(driver: Driver) -> None:
    driver.close()
    driver.close()
    assert driver.power_state() == PowerState.OFF
