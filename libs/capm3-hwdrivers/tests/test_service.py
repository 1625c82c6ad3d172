"""All servers behind two calls: drivers are kept, and let go when they failed or the credentials changed."""

from __future__ import annotations

import threading

import pytest
from capm3_hwdrivers import errors, fake
from capm3_hwdrivers.capabilities import Driver
from capm3_hwdrivers.model import Access, PowerState
from capm3_hwdrivers.service import OPERATIONS, Service
from pydantic import SecretStr


class Rack:
    """Counts connections to fake servers, one for each address."""

    def __init__(self) -> None:
        self.servers: dict[str, fake.FakeServer] = {}
        self.opened: list[str] = []
        self.closed: list[str] = []

    def connect(self, access: Access) -> Driver:
        rack = self
        self.opened.append(access.address)
        server = self.servers.setdefault(access.address, fake.FakeServer())

        class Counting(fake.FakeDriver):
            def close(self) -> None:
                rack.closed.append(access.address)

        return Counting(server, access)


def access(address: str = "a", password: str = "password") -> Access:
    return Access(address=address, username="admin", password=SecretStr(password))


def test_a_driver_is_kept_between_calls() -> None:
    rack = Rack()
    service = Service(rack.connect)
    for _ in range(3):
        service.observe(access())
    assert rack.opened == ["a"]
    service.close()
    assert rack.closed == ["a"]


def test_changed_credentials_open_another_one_and_close_the_old() -> None:
    rack = Rack()
    service = Service(rack.connect)
    service.observe(access())
    rack.servers["a"].password = "new"
    service.observe(access(password="new"))
    assert (rack.opened, rack.closed) == (["a", "a"], ["a"])


def test_a_driver_that_failed_is_not_used_again() -> None:
    rack = Rack()
    service = Service(rack.connect)
    service.observe(access())
    rack.servers["a"].faults.failures = [errors.Unreachable("gone")]
    with pytest.raises(errors.Unreachable):
        service.observe(access())
    assert rack.closed == ["a"]
    assert service.observe(access()).power == PowerState.OFF


def test_no_more_drivers_are_kept_than_asked_for() -> None:
    rack = Rack()
    service = Service(rack.connect, keep=2)
    for name in ("a", "b", "c"):
        service.observe(access(name))
    assert rack.closed == ["a"]


def test_only_what_is_asked_for_is_read() -> None:
    service = Service(Rack().connect)
    view = service.observe(access())
    assert (view.media, view.inventory) == (None, None)
    view = service.observe(access(), inventory=True, media=True)
    assert view.media is not None and view.inventory is not None


@pytest.mark.parametrize("op", OPERATIONS)
def test_every_operation_reaches_the_server(op: str) -> None:
    rack = Rack()
    service = Service(rack.connect)
    args = {"insert-media": {"url": "http://x.example.test/a.iso"}, "boot-once": {"device": "cd", "mode": "UEFI"}}
    service.observe(access())
    server = rack.servers["a"]
    server.power = PowerState.ON if op == "power-off" else PowerState.OFF
    server.image = "old" if op == "eject-media" else ""
    service.perform(access(), op, args.get(op, {}))
    seen = {
        "power-on": server.power == PowerState.ON,
        "power-off": server.resets == ["ForceOff"],
        "insert-media": server.image.endswith("a.iso"),
        "eject-media": server.image == "",
        "boot-once": (server.boot.device, server.boot.once) == ("cd", True),
    }
    assert seen[op]


def test_an_unknown_operation_is_refused() -> None:
    with pytest.raises(errors.NotSupported, match="self-destruct"):
        Service(Rack().connect).perform(access(), "self-destruct", {})


def test_many_threads_share_one_driver() -> None:
    rack = Rack()
    service = Service(rack.connect)
    threads = [threading.Thread(target=lambda: service.observe(access(), media=True)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rack.opened == ["a"]


def test_no_password_is_shown_by_the_objects_that_carry_it() -> None:
    shown = access(password="hunter2-secret")
    assert "hunter2-secret" not in f"{shown!r} {shown} {shown.model_dump()}"
