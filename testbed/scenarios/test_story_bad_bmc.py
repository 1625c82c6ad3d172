"""A BMC that refuses the password, hangs, or answers 503 gives a host a condition; the others go on."""

from __future__ import annotations

import base64

import pytest
from capm3_api import condition, kinds
from capm3_api.model import Raw
from capm3_testbed.capi.api import text
from capm3_testbed.testing.badbmc import BadBmc
from capm3_testbed.testing.story import Story

WRONG = "not-the-one"
pytestmark = pytest.mark.timeout(600)


def _bad_host(story: Story, name: str, address: str) -> None:
    data = {key: base64.b64encode(value.encode()).decode() for key, value in (("username", "u"), ("password", "p"))}
    host = kinds.BARE_METAL_HOST.new(
        story.namespace,
        name,
        spec={
            "online": True,
            "bootMACAddress": "52:54:00:00:01:01",
            "bmc": {"address": address, "credentialsName": name},
        },
    )
    story.stack.apply([kinds.SECRET.new(story.namespace, name, data=data), host])


def _failed(host: Raw) -> bool:
    return text(host, "status", "operationalStatus") == "error" and bool(text(host, "status", "errorMessage"))


def test_bad_bmcs_are_named_and_keep_nobody_from_going_on(small: Story) -> None:
    good, locked = small.servers[0], small.servers[1]
    with BadBmc.hanging() as hanging, BadBmc.busy() as busy:
        small.add_hosts([locked], password=WRONG)
        _bad_host(small, "hanging", hanging.address)
        _bad_host(small, "busy", busy.address)
        small.add_hosts([good])
        small.add_cluster(workers=0)
        small.wait("the cluster is ready", small.ready)
        bad = (locked.name, "hanging", "busy")
        small.wait(
            "the bad ones say so",
            lambda: all(_failed(small.get(kinds.BARE_METAL_HOST, name) or {}) for name in bad),
        )
        hosts = {name: small.get(kinds.BARE_METAL_HOST, name) or {} for name in bad}
        assert all(not condition.is_true(host, "Ready") for host in hosts.values())
        assert WRONG not in str([host["status"] for host in hosts.values()])
        assert text(small.host(good), "status", "provisioning", "state") == "provisioned"
        for name in ("hanging", "busy"):
            small.delete(kinds.BARE_METAL_HOST, name)
        small.wait("unreachable hosts can be deleted", lambda: len(small.all(kinds.BARE_METAL_HOST)) == 2)


def test_a_mended_password_lets_the_host_go_on(small: Story) -> None:
    server = small.servers[0]
    small.add_hosts([server], password=WRONG)
    small.wait("the password is refused", lambda: _failed(small.host(server)))
    before = len([request for request in small.requests(server) if request.status == 401])
    small.add_hosts([server])
    small.wait(
        "the host is available", lambda: text(small.host(server), "status", "provisioning", "state") == "available"
    )
    assert text(small.host(server), "status", "errorMessage") == ""
    assert before < 20  # backed off, not a hot loop
