"""The diagnostics port, log lines, and the BMC port's adapter."""

from __future__ import annotations

import http.client
import io
import json
import logging
import re
import socket
import ssl
import threading
import time

import pytest
from capm3_controller.bmc import Servers
from capm3_controller.kube.client import Client
from capm3_controller.kube.transport import Transport
from capm3_controller.runtime import logs
from capm3_controller.runtime.diagnostics import Diagnostics, Gate, server_context
from capm3_controller.runtime.metrics import Metrics
from capm3_controller.runtime.serving import AddressError, Server, address_of
from capm3_controller.testing.tinyapi import TinyApi
from capm3_hwdrivers import errors
from capm3_hwdrivers.model import Inventory, Media, PowerState, View
from capm3_managers.ports import BmcAccess, BmcError, BmcFailure


@pytest.fixture
def api():
    with TinyApi() as server:
        server.reviews = []

        def answer(seen):
            if seen.path.endswith("tokenreviews"):
                server.reviews.append(seen.body)
                known = seen.body["spec"]["token"] in ("reader", "nobody")
                user = {"username": seen.body["spec"]["token"], "groups": ["g"]}
                return 201, {"status": {"authenticated": known, "user": user}}
            if seen.path.endswith("subjectaccessreviews"):
                server.reviews.append(seen.body)
                return 201, {"status": {"allowed": seen.body["spec"]["user"] == "reader"}}
            return None

        server.intercept = answer
        yield server


@pytest.fixture
def secure(api):
    verbosity = logs.Verbosity(0, {})
    gate = Gate(Client(Transport(api.endpoint, user_agent="t")))
    handler = Diagnostics(Metrics(), gate, verbosity).handle
    server = Server("127.0.0.1:0", "--diagnostics-address", handler, server_context(ssl.TLSVersion.TLSv1_2))
    server.start()
    server.verbosity = verbosity
    yield server
    server.stop()


def ask(server, path="/metrics", token=None, method="GET", body=None):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=5)
    connection.request(method, path, body, {"Authorization": f"Bearer {token}"} if token else {})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


@pytest.mark.parametrize(("token", "status"), [(None, 401), ("stranger", 401), ("nobody", 403), ("reader", 200)])
def test_metrics_are_for_those_whom_the_api_server_allows(secure, token, status):
    assert ask(secure, token=token)[0] == status


def test_the_review_names_path_and_verb_and_is_remembered(secure, api):
    ask(secure, token="reader")
    ask(secure, token="reader")
    assert len(api.reviews) == 2
    assert api.reviews[1]["spec"]["nonResourceAttributes"] == {"path": "/metrics", "verb": "get"}


def test_an_api_server_that_is_down_lets_nobody_in(secure, api):
    api.intercept = lambda seen: (503, {})
    assert ask(secure, token="reader")[0] == 500


def test_the_verbosity_is_set_while_running(secure):
    assert ask(secure, "/debug/flags/v", "reader", "PUT", "4")[0] == 200
    assert secure.verbosity.level == 4
    assert ask(secure, "/debug/flags/v", "reader", "PUT", "lots")[0] == 400
    assert ask(secure, "/debug/flags/v", "reader")[0] == 405
    assert ask(secure, "/debug/flags/v", "nobody", "PUT", "9")[0] == 403


def test_the_stacks_of_all_threads_are_shown(secure):
    assert "serve_forever" in ask(secure, "/debug/stacks", "reader")[1]


def test_a_client_that_never_says_a_word_blocks_nobody(secure):
    with socket.create_connection(("127.0.0.1", secure.port)):
        begin = time.monotonic()
        assert ask(secure, token="reader")[0] == 200
        assert time.monotonic() - begin < 3


@pytest.mark.parametrize(
    ("text", "address"), [(":9440", ("", 9440)), ("1.2.3.4:1", ("1.2.3.4", 1)), ("[::1]:2", ("::1", 2))]
)
def test_gos_addresses_are_understood(text, address):
    assert address_of(text, "--x") == address


@pytest.mark.parametrize("text", ["9440", "host", "host:port", ":70000", ""])
def test_an_address_that_is_none_is_refused_with_its_flag(text):
    with pytest.raises(AddressError, match="--x"):
        address_of(text, "--x")


@pytest.fixture
def out():
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield io.StringIO()
    root.handlers[:], _ = before
    root.setLevel(before[1])


def test_a_text_line_has_klogs_form(out):
    logs.setup("text", 0, stream=out)
    facts = {"name": 'a"b', "n": 3, "yes": True, "s": 0.25, "multi": "a\nb"}
    logging.getLogger("x").info("Reconciled it", extra={"facts": facts})
    line = out.getvalue()
    pattern = r'I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ test_diagnostics\.py:\d+\] "Reconciled it" (.*)\n'
    assert re.fullmatch(pattern, line)[1] == r'name="a\"b" n=3 yes=true s=0.25 multi="a\nb"'


def test_a_json_line_has_the_fields_of_component_base(out):
    logs.setup("json", 4, stream=out)
    logging.getLogger("x").info("hello", extra={"facts": {"name": "a"}, "v": 2})
    logging.getLogger("x").error("bad")
    info, error = (json.loads(line) for line in out.getvalue().splitlines())
    assert info["msg"] == "hello"
    assert info["v"] == 2
    assert info["name"] == "a"
    assert isinstance(info["ts"], float)
    assert error["level"] == "error"


def test_lines_above_the_verbosity_are_left_out_but_for_the_modules_named(out):
    verbosity = logs.setup("text", 1, {"test_diag*": 5}, stream=out)
    logging.getLogger("x").info("seen", extra={"v": 5})
    logging.getLogger("x").info("unseen", extra={"v": 6})
    verbosity._vmodule.clear()
    logging.getLogger("x").debug("unseen too")
    verbosity.level = 4
    logging.getLogger("x").debug("seen too")
    assert [line.rsplit('"', 2)[1] for line in out.getvalue().splitlines()] == ["seen", "seen too"]


ACCESS = BmcAccess("redfish://bmc1", "u", "hunter2")


class FakeService:
    def __init__(self, error=None):
        self.error, self.seen = error, []
        self.gate = threading.Event()
        self.gate.set()

    def observe(self, access, *, inventory=False, media=False):
        self.seen.append(access)
        self.gate.wait(5)
        if self.error:
            raise self.error
        found = Inventory(ram_mib=1024) if inventory else None
        return View(power=PowerState.ON, media=Media(image="http://x") if media else None, inventory=found)

    def perform(self, access, op, args):
        self.seen.append((op, dict(args)))
        if self.error:
            raise self.error


def test_a_view_is_translated():
    view = Servers(FakeService()).observe(ACCESS, inventory=True, media=True)
    assert (view.power, view.media, view.inventory["ramMebibytes"]) == ("on", "http://x", 1024)
    assert Servers(FakeService()).observe(ACCESS).inventory is None


def test_what_a_bmc_does_wrong_is_a_value_when_reading_and_an_error_when_acting():
    servers = Servers(FakeService(errors.CredentialsRefused("the BMC refused the password")))
    expected = BmcFailure("CredentialsRefused", "the BMC refused the password", False)
    assert servers.observe(ACCESS) == expected
    with pytest.raises(BmcError) as caught:
        servers.perform(ACCESS, "power-on", {})
    assert caught.value.failure == expected
    assert "hunter2" not in str(caught.value)


def test_a_bmc_gets_one_call_at_a_time_and_another_bmc_is_not_held_up():
    service = FakeService()
    service.gate.clear()
    servers = Servers(service, turn=0.05)
    thread = threading.Thread(target=servers.observe, args=(ACCESS,))
    thread.start()
    while not service.seen:
        time.sleep(0.001)
    busy = servers.observe(ACCESS)
    assert (busy.reason, busy.transient) == ("Busy", True)
    other = threading.Thread(target=servers.observe, args=(BmcAccess("redfish://bmc2", "u", "p"),))
    other.start()
    while len(service.seen) < 2:
        time.sleep(0.001)
    service.gate.set()
    thread.join(5)
    other.join(5)
    assert servers.observe(ACCESS).power == "on"
    assert servers._locks == {}
