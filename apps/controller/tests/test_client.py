"""The client against a server: verbs, content types, paging, errors (reports B35, B60)."""

from __future__ import annotations

import base64
import gzip
import json

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_controller.kube.client import Client
from capm3_controller.kube.endpoint import Endpoint
from capm3_controller.kube.ratelimit import TokenBucket
from capm3_controller.kube.transport import Timeouts, Transport
from capm3_controller.testing.rawserver import RawServer, reply
from capm3_controller.testing.tinyapi import Seen, TinyApi
from capm3_managers.ports import ALL_NAMESPACES, ApiError, ContractError

KEY = Key("ns", "one")


def client_of(api, **options):
    return Client(Transport(api.endpoint, user_agent="test/1", **options))


@pytest.fixture
def api():
    with TinyApi() as server:
        yield server


def machine(name="one", **rest):
    return kinds.METAL3_MACHINE.new("ns", name, **rest)


def test_an_object_that_is_not_there_is_none_and_not_an_error(api):
    assert client_of(api).get(kinds.METAL3_MACHINE, KEY) is None


@pytest.mark.parametrize("status", [401, 403, 409, 410, 429, 500, 503])
def test_every_other_refusal_raises_with_its_status(api, status):
    api.intercept = lambda seen: (status, {"kind": "Status", "reason": "Whatever", "message": "no"})
    with pytest.raises(ApiError) as caught:
        client_of(api).get(kinds.METAL3_MACHINE, KEY)
    assert (caught.value.status, caught.value.reason) == (status, "Whatever")
    assert "no" in caught.value.message


def test_an_answer_without_a_status_object_gets_the_reason_of_its_code(api):
    api.intercept = lambda seen: (409, {})
    with pytest.raises(ApiError) as caught:
        client_of(api).get(kinds.METAL3_MACHINE, KEY)
    assert caught.value.is_conflict


@pytest.mark.parametrize(
    ("method", "body", "content"),
    [
        ("merge", {"spec": {"a": None}}, "application/merge-patch+json"),
        ("json", [{"op": "remove", "path": "/spec/a"}], "application/json-patch+json"),
    ],
)
@pytest.mark.parametrize("subresource", ["", "status"])
def test_the_method_fixes_the_content_type_and_the_path(api, method, body, content, subresource):
    api.intercept = lambda seen: (200, {"metadata": {"resourceVersion": "9"}})
    getattr(client_of(api), method)(kinds.METAL3_MACHINE, KEY, body, subresource=subresource)
    seen = api.seen[-1]
    assert (seen.method, seen.headers["content-type"], seen.body) == ("PATCH", content, body)
    assert seen.path.endswith("/metal3machines/one" + (f"/{subresource}" if subresource else ""))
    assert seen.query == {"fieldManager": "cluster-api-provider-metal3-manager"}


def test_apply_carries_the_field_manager_and_force(api):
    api.intercept = lambda seen: (200, {})
    client_of(api).apply(kinds.METAL3_MACHINE, machine())
    seen = api.seen[-1]
    assert seen.headers["content-type"] == "application/apply-patch+yaml"
    assert seen.query == {"fieldManager": "cluster-api-provider-metal3-manager", "force": "true"}


def test_null_in_a_merge_patch_removes_a_key(api):
    client = client_of(api)
    client.create(kinds.METAL3_MACHINE, machine(spec={"a": 1, "b": 2}))
    assert client.merge(kinds.METAL3_MACHINE, KEY, {"spec": {"a": None}})["spec"] == {"b": 2}


def test_a_patch_with_an_old_version_conflicts(api):
    client = client_of(api)
    client.create(kinds.METAL3_MACHINE, machine(spec={"a": 1}))
    with pytest.raises(ApiError) as caught:
        client.merge(kinds.METAL3_MACHINE, KEY, {"metadata": {"resourceVersion": "1234"}, "spec": {"a": 2}})
    assert caught.value.is_conflict


def test_deletion_names_the_uid_that_was_meant(api):
    client = client_of(api)
    uid = client.create(kinds.METAL3_MACHINE, machine())["metadata"]["uid"]
    with pytest.raises(ApiError):
        client.delete(kinds.METAL3_MACHINE, KEY, uid="another")
    client.delete(kinds.METAL3_MACHINE, KEY, uid=uid)
    assert client.get(kinds.METAL3_MACHINE, KEY) is None


def fill(api, count):
    for number in range(count):
        api.world.put(kinds.METAL3_DATA_CLAIM.new("ns", f"claim-{number:04}"))


def test_a_list_follows_continue_to_the_end(api):
    fill(api, 203)
    items, version = client_of(api).list(kinds.METAL3_DATA_CLAIM, "ns", page_size=20)
    assert len(items) == 203
    assert len(api.seen) == 11
    assert int(version) >= 203


def test_an_error_on_one_page_fails_the_whole_list(api):
    fill(api, 120)
    api.intercept = lambda seen: (500, {}) if seen.query.get("continue") == "60" else None
    with pytest.raises(ApiError) as caught:
        client_of(api).list(kinds.METAL3_DATA_CLAIM, "ns", page_size=20)
    assert caught.value.status == 500


def test_an_expired_page_starts_the_list_again(api):
    fill(api, 120)
    hits = []

    def once(seen: Seen):
        if seen.query.get("continue") == "60" and not hits:
            hits.append(seen)
            return 410, {"kind": "Status", "reason": "Expired", "code": 410}
        return None

    api.intercept = once
    items, _ = client_of(api).list(kinds.METAL3_DATA_CLAIM, "ns", page_size=20)
    assert [item["metadata"]["name"] for item in items] == [f"claim-{number:04}" for number in range(120)]


def test_pages_that_always_expire_end_in_an_error(api):
    fill(api, 50)
    api.intercept = lambda seen: (410, {"reason": "Expired"}) if "continue" in seen.query else None
    with pytest.raises(ApiError) as caught:
        client_of(api).list(kinds.METAL3_DATA_CLAIM, "ns", page_size=20)
    assert caught.value.status == 410


def test_items_of_builtin_kinds_get_their_kind_back(api):
    api.intercept = lambda seen: (200, {"metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "s"}}]})
    items, version = client_of(api).list(kinds.SECRET, "ns")
    assert items == [{"metadata": {"name": "s"}, "apiVersion": "v1", "kind": "Secret"}]
    assert version == "7"


def test_labels_are_selected_by_the_server(api):
    api.intercept = lambda seen: (200, {"items": []})
    client_of(api).list(kinds.SECRET, ALL_NAMESPACES, labels={"b": "2", "a": "1"})
    assert api.seen[-1].query["labelSelector"] == "a=1,b=2"
    assert api.seen[-1].path == "/api/v1/secrets"


def test_a_namespaced_object_without_a_namespace_is_a_bug_and_not_a_request(api):
    with pytest.raises(ContractError):
        client_of(api).get(kinds.METAL3_MACHINE, Key("", "one"))
    assert not api.seen


def test_a_server_that_does_not_answer_is_a_timeout_with_status_0():
    with RawServer(lambda connection, head: None) as server:
        client = Client(Transport(Endpoint(server.url), user_agent="t", timeouts=Timeouts(0.2, 0.2)))
        with pytest.raises(ApiError) as caught:
            client.get(kinds.METAL3_MACHINE, KEY)
    assert (caught.value.status, caught.value.reason) == (0, "Timeout")
    assert caught.value.is_transient


def test_nobody_listening_is_an_error_and_never_an_absence():
    with RawServer(lambda connection, head: None) as server:
        url = server.url
    client = Client(Transport(Endpoint(url), user_agent="t"))
    with pytest.raises(ApiError) as caught:
        client.get(kinds.METAL3_MACHINE, KEY)
    assert (caught.value.status, caught.value.reason) == (0, "ConnectionFailed")
    assert "0x" not in caught.value.message


def test_a_get_on_a_connection_that_the_server_closed_is_tried_once_more():
    answers = []

    def script(connection, head):
        answers.append(head)
        if len(answers) == 2:
            connection.shutdown(2)
            connection.close()
        else:
            connection.sendall(reply(b"{}"))

    with RawServer(script) as server:
        client = Client(Transport(Endpoint(server.url), user_agent="t"))
        assert client.get(kinds.METAL3_MACHINE, KEY) == {}
        assert client.get(kinds.METAL3_MACHINE, KEY) == {}
    assert len(answers) == 3


def test_a_patch_on_a_broken_connection_is_not_repeated():
    def script(connection, head):
        connection.shutdown(2)
        connection.close()

    with RawServer(script) as server:
        client = Client(Transport(Endpoint(server.url), user_agent="t"))
        with pytest.raises(ApiError):
            client.merge(kinds.METAL3_MACHINE, KEY, {})
        assert len(server.requests) == 1


def test_a_compressed_answer_is_unpacked():
    body = gzip.compress(json.dumps({"items": [], "metadata": {"resourceVersion": "5"}}).encode())
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    with RawServer(lambda connection, _: connection.sendall(head + body)) as server:
        client = Client(Transport(Endpoint(server.url), user_agent="t"))
        assert client.list(kinds.SECRET, "ns") == ([], "5")


def test_an_answer_that_is_no_json_is_an_error():
    with RawServer(lambda connection, _: connection.sendall(reply(b"<html>"))) as server:
        client = Client(Transport(Endpoint(server.url), user_agent="t"))
        with pytest.raises(ApiError, match="not JSON"):
            client.get(kinds.METAL3_MACHINE, KEY)


def test_credentials_are_loaded_again_after_a_401_once(api):
    api.intercept = lambda seen: (401, {}) if seen.headers.get("authorization") != "Bearer new" else (200, {"a": 1})
    loads = []

    def renew():
        loads.append(1)
        return Endpoint(api.url, lambda: "Bearer new", renew=renew)

    client = Client(Transport(Endpoint(api.url, lambda: "Bearer old", renew=renew), user_agent="t"))
    assert client.get(kinds.METAL3_MACHINE, KEY) == {"a": 1}
    assert loads == [1]


def test_credentials_that_stay_refused_are_not_loaded_in_a_loop(api):
    api.intercept = lambda seen: (401, {})
    loads = []

    def renew():
        loads.append(1)
        return Endpoint(api.url, lambda: "Bearer old", renew=renew)

    client = Client(Transport(Endpoint(api.url, renew=renew), user_agent="t"))
    for _ in range(5):
        with pytest.raises(ApiError):
            client.get(kinds.METAL3_MACHINE, KEY)
    assert loads == [1]


def test_every_request_takes_a_turn_of_the_limit(api):
    waits = []
    bucket = TokenBucket(10, 2, clock=lambda: 0.0, sleep=waits.append)
    client = client_of(api, limiter=bucket)
    for _ in range(4):
        client.get(kinds.METAL3_MACHINE, KEY)
    assert waits == pytest.approx([0.1, 0.2])


def test_the_user_agent_is_ours_and_requests_are_counted(api):
    counted = []

    class Observer:
        def request(self, code, method, host):
            counted.append((code, method, host))

    client_of(api, observer=Observer()).get(kinds.METAL3_MACHINE, KEY)
    assert api.seen[-1].headers["user-agent"] == "test/1"
    assert counted == [("404", "GET", api.url.removeprefix("http://"))]


def test_an_endpoint_never_shows_its_credentials():
    secret = base64.b64encode(b"hunter2").decode()
    assert secret not in repr(Endpoint("https://x", lambda: f"Bearer {secret}"))


def test_a_busy_server_is_given_the_time_it_asks_for_when_reading(api):
    answers = [b"", b"", b"{}"]
    slept = []

    def script(connection, head):
        body = answers.pop(0)
        status = "200 OK" if body else "429 Too Many Requests\r\nRetry-After: 1"
        connection.sendall(reply(body, status))

    with RawServer(script) as server:
        timeouts = Timeouts(busy=2.0)
        client = Client(Transport(Endpoint(server.url), user_agent="t", timeouts=timeouts, sleep=slept.append))
        assert client.get(kinds.METAL3_MACHINE, KEY) == {}
        assert slept == [1.0, 1.0]


@pytest.mark.parametrize(("method", "pause"), [("merge", 1), ("get", 60)])
def test_a_write_or_a_long_pause_is_left_to_the_queue(method, pause):
    slept = []
    answer = reply(b"{}", f"429 Too Many Requests\r\nRetry-After: {pause}")
    with RawServer(lambda connection, head: connection.sendall(answer)) as server:
        timeouts = Timeouts(busy=2.0)
        client = Client(Transport(Endpoint(server.url), user_agent="t", timeouts=timeouts, sleep=slept.append))
        with pytest.raises(ApiError) as caught:
            getattr(client, method)(kinds.METAL3_MACHINE, KEY, *([{}] if method == "merge" else []))
        assert (caught.value.status, slept, len(server.requests)) == (429, [], 1)


def test_a_path_in_the_servers_url_stays_in_front():
    with RawServer(lambda connection, _: connection.sendall(reply(b"{}"))) as server:
        client = Client(Transport(Endpoint(f"{server.url}/k8s/clusters/c-1"), user_agent="t"))
        client.get(kinds.SECRET, KEY)
        assert server.requests[0].startswith(b"GET /k8s/clusters/c-1/api/v1/namespaces/ns/secrets/one HTTP/1.1")


def test_a_proxy_is_used_when_there_is_one():
    with RawServer(lambda connection, _: connection.sendall(reply(b"{}"))) as proxy:
        client = Client(Transport(Endpoint("http://api.example:8080", proxy=proxy.url), user_agent="t"))
        client.get(kinds.SECRET, KEY)
        client.close()
        assert proxy.requests[0].startswith(b"GET http://api.example:8080/api/v1/namespaces/ns/secrets/one HTTP/1.1")
