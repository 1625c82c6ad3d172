"""The embedded server as a server: many watches, clean stops, restarts, refusals, faults, tables, the Python client."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes
import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_managers.ports import ApiError
from capm3_managers.testing.faults import Fault
from capm3_testbed import certs, net
from capm3_testbed.embedded import EmbeddedServer
from capm3_testbed.kubeconfig import Access
from capm3_testbed.semantics.cases import WIDGET
from capm3_testbed.semantics.clients import HttpClient
from capm3_testbed.semantics.widget import crd

_AUTHORITY = certs.Authority()
_PATH = f"/apis/{WIDGET.group}/v1/namespaces/default/widgets"


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer(crds=[crd()], authority=_AUTHORITY) as running:
        yield running


def client(server: EmbeddedServer) -> HttpClient:
    return HttpClient(server.access(), (WIDGET, kinds.SECRET, kinds.CONFIG_MAP))


def widget(name: str = "w", **metadata: Any) -> dict[str, Any]:
    return {**WIDGET.new("default", name), "metadata": {"namespace": "default", "name": name, **metadata}, "spec": {}}


def ask(server: EmbeddedServer, path: str, **headers: str) -> tuple[int, dict[str, str], Any]:
    """One GET with the admin's token unless the headers say otherwise."""
    context = ssl.create_default_context(cadata=_AUTHORITY.certificate.decode())
    request = urllib.request.Request(server.url + path, headers={"Authorization": f"Bearer {server.token}", **headers})
    try:
        with urllib.request.urlopen(request, context=context, timeout=10) as answer:
            return answer.status, dict(answer.headers), json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), json.loads(error.read())


def test_fifty_watches_and_ten_writers_lose_nothing(server: EmbeddedServer) -> None:
    seen = [0] * 50
    writers = [threading.Thread(target=_write, args=(server, number)) for number in range(10)]
    watchers = [threading.Thread(target=_watch, args=(server, seen, number), daemon=True) for number in range(50)]
    for thread in watchers:
        thread.start()
    net.wait_until("all watch", lambda: len(server._api.watchers) == 50, 30)
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    net.wait_until("every watch saw every write", lambda: min(seen) == 100, 60)
    assert max(seen) == 100


def _write(server: EmbeddedServer, number: int) -> None:
    http = client(server)
    for index in range(10):
        http.create(widget(f"w-{number}-{index}"))


def _watch(server: EmbeddedServer, seen: list[int], number: int) -> None:
    for _ in client(server).watch(WIDGET, "default", str(server.world.version)):
        seen[number] += 1


def test_stop_ends_open_watches_within_a_second() -> None:
    server = EmbeddedServer(crds=[crd()], authority=_AUTHORITY).start()
    before = threading.active_count()
    watchers = [threading.Thread(target=_watch, args=(server, [0] * 20, number)) for number in range(20)]
    for thread in watchers:
        thread.start()
    net.wait_until("all watch", lambda: len(server._api.watchers) == 20, 30)
    begun = time.monotonic()
    server.stop()
    assert time.monotonic() - begun < 1.0
    for thread in watchers:
        thread.join(5)
    net.wait_until("no thread is left", lambda: threading.active_count() <= before, 5)


def test_a_watch_resumes_after_a_restart_on_the_same_port(server: EmbeddedServer) -> None:
    http = client(server)
    version = http.create(widget("before"))["metadata"]["resourceVersion"]
    url = server.url
    server.stop()
    server.world.create(widget("while-down"))
    server.start()
    assert server.url == url
    event = next(iter(client(server).watch(WIDGET, "default", version)))
    assert event["object"]["metadata"]["name"] == "while-down"


def test_a_watcher_that_goes_away_is_noticed(server: EmbeddedServer) -> None:
    http = client(server)
    http.create(widget())
    stream = http.watch(WIDGET, "default", "")
    next(stream)
    assert len(server._api.watchers) == 1
    stream.close()  # type: ignore[attr-defined]
    net.wait_until("the watch ends", lambda: not server._api.watchers, 10)


def test_bookmarks_carry_the_newest_version_of_any_resource(server: EmbeddedServer) -> None:
    server.stop()
    server.bookmark_seconds = 0.2
    server.start()
    stream = client(server).watch(WIDGET, "default", "", {"allowWatchBookmarks": "true"})
    made = client(server).create(kinds.SECRET.new("default", "s"))
    for event in stream:
        assert event["type"] == "BOOKMARK" and event["object"]["kind"] == "Widget"
        if int(event["object"]["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"]):
            break


def test_nobody_without_a_token_gets_in(server: EmbeddedServer) -> None:
    status, _, body = ask(server, _PATH, Authorization="Bearer wrong")
    assert (status, body["reason"], body["kind"]) == (401, "Unauthorized", "Status")
    assert ask(server, "/version", Authorization="")[0] == 200
    other = server.add_user("somebody")
    assert ask(server, _PATH, Authorization=f"Bearer {other}")[0] == 200


def test_the_token_stands_in_no_repr(server: EmbeddedServer) -> None:
    assert server.token not in repr(server.access()) and server.token in server.kubeconfig()


def test_a_status_body_names_what_was_asked_for(server: EmbeddedServer) -> None:
    status, _, body = ask(server, f"{_PATH}/none")
    assert status == 404
    assert body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'widgets.{WIDGET.group} "none" not found',
        "reason": "NotFound",
        "details": {"name": "none", "group": WIDGET.group, "kind": "widgets"},
        "code": 404,
    }


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/apis/none/v1/things", 404),
        (f"{_PATH}/w/scale", 404),
        (f"/apis/{WIDGET.group}/v9/widgets", 404),
        (f"{_PATH}?labelSelector=a%20b%20c", 400),
        (f"{_PATH}?resourceVersion=word", 400),
        (f"{_PATH}?resourceVersion=99999999", 504),
        (f"{_PATH}?watch=1&resourceVersion=word", 400),
    ],
)
def test_requests_that_make_no_sense_get_a_status_body(server: EmbeddedServer, path: str, status: int) -> None:
    code, _, body = ask(server, path)
    assert code == status and body["kind"] == "Status" and body["code"] == status


def test_an_object_in_a_namespace_that_is_not_there_is_refused(server: EmbeddedServer) -> None:
    with pytest.raises(ApiError, match='namespaces "nowhere" not found'):
        client(server).create({**widget(), "metadata": {"namespace": "nowhere", "name": "w"}})


def test_a_warning_header_names_unknown_fields(server: EmbeddedServer) -> None:
    http = client(server)
    url = f"{server.url}{_PATH}"
    headers = {"Authorization": f"Bearer {server.token}"}
    answer = http._pool.request("POST", url, json={**widget(), "spec": {"sizes": 1}}, headers=headers)
    assert answer.status == 201
    assert answer.headers["Warning"] == '299 - "unknown field \\"spec.sizes\\""'


def test_tables_are_made_for_lists_and_watches(server: EmbeddedServer) -> None:
    client(server).create(widget())
    _, _, body = ask(server, _PATH, Accept="application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
    assert body["kind"] == "Table" and [column["name"] for column in body["columnDefinitions"]] == [
        "Name",
        "Size",
        "Ready",
        "Age",
    ]
    row = body["rows"][0]
    assert row["cells"][:3] == ["w", 3, None] and row["object"]["kind"] == "PartialObjectMetadata"
    _, _, body = ask(server, _PATH, Accept="application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
    assert body["kind"] == "PartialObjectMetadataList" and "spec" not in body["items"][0]


def test_discovery_has_both_forms(server: EmbeddedServer) -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    _, headers, body = ask(server, "/apis", Accept=accept)
    assert headers["Content-Type"] == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    group = next(item for item in body["items"] if item["metadata"]["name"] == WIDGET.group)
    assert [version["version"] for version in group["versions"]] == ["v1", "v1beta1"]
    assert group["versions"][0]["resources"][0]["subresources"][0]["subresource"] == "status"
    _, _, body = ask(server, f"/apis/{WIDGET.group}/v1")
    assert [row["name"] for row in body["resources"]] == ["widgets", "widgets/status", "widgets/scale"]
    _, _, body = ask(server, "/api/v1")
    assert {"secrets", "configmaps", "namespaces", "nodes", "events"} <= {row["name"] for row in body["resources"]}


def test_an_injected_fault_reaches_the_client_over_http(server: EmbeddedServer) -> None:
    http = client(server)
    server.world.inject(Fault("create", "widgets", 503))
    with pytest.raises(ApiError) as refused:
        http.create(widget())
    assert (refused.value.status, refused.value.reason) == (503, "ServiceUnavailable")
    server.world.inject(Fault("create", "widgets", 0, after=True))
    with pytest.raises(Exception, match=r"Connection aborted|EOF|closed"):
        http.create(widget())
    assert server.world.get(WIDGET, Key("default", "w"))
    server.world.inject(Fault("list", "widgets", 429))
    with pytest.raises(ApiError) as limited:
        http.list(WIDGET, "default")
    assert limited.value.status == 429


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"Content-Length: many\r\n", b"400"),
        (b"Content-Length: -4\r\n", b"400"),
        (b"Content-Length: 99999999999\r\n", b"413"),
        (b"Transfer-Encoding: chunked\r\n", b"400"),
    ],
)
def test_a_request_that_can_not_be_read_ends_its_connection_only(
    server: EmbeddedServer, head: bytes, status: bytes
) -> None:
    context = ssl.create_default_context(cadata=_AUTHORITY.certificate.decode())
    port = int(server.url.rpartition(":")[2])
    with (
        socket.create_connection(("127.0.0.1", port), timeout=5) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as secured,
    ):
        secured.sendall(b"POST /api HTTP/1.1\r\n" + head + b"\r\nzz\r\n")
        answer = secured.recv(4096)
        assert answer.split()[1] == status
        while secured.recv(4096):
            pass
    assert ask(server, "/version")[0] == 200


def test_a_client_without_tls_or_with_a_stuck_handshake_stops_nobody(server: EmbeddedServer) -> None:
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port)) as plain:
        plain.sendall(b"GET /version HTTP/1.1\r\n\r\n")
        assert ask(server, "/version")[0] == 200


def test_two_servers_in_one_process_share_nothing_but_the_authority(server: EmbeddedServer) -> None:
    begun = time.monotonic()
    with EmbeddedServer(authority=_AUTHORITY, name="workload") as other:
        assert time.monotonic() - begun < 1.0
        other.world.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        assert server.world.get(kinds.NODE, Key("", "n")) is None
        wrong = Access(other.url, _AUTHORITY.certificate, server.token)
        with pytest.raises(ApiError, match="Unauthorized"):
            HttpClient(wrong, ()).list(kinds.NODE, "")


def test_delete_of_a_collection_follows_the_selector(server: EmbeddedServer) -> None:
    http = client(server)
    http.create(widget("a", labels={"x": "1"}))
    http.create(widget("b"))
    http._ask("DELETE", _PATH, {"labelSelector": "x=1"})
    assert [obj["metadata"]["name"] for obj in server.world.list(WIDGET, "default")] == ["b"]


def test_the_official_python_client_works(server: EmbeddedServer, tmp_path: Path) -> None:
    config = kubernetes.config.new_client_from_config(str(server.write_kubeconfig(tmp_path / "kubeconfig")))
    core = kubernetes.client.CoreV1Api(config)
    core.create_namespaced_secret("default", {"metadata": {"name": "s"}, "stringData": {"a": "b"}})
    assert core.read_namespaced_secret("s", "default").data == {"a": "Yg=="}
    custom = kubernetes.client.CustomObjectsApi(config)
    custom.create_namespaced_custom_object(WIDGET.group, "v1", "default", "widgets", widget())
    stream = kubernetes.watch.Watch().stream(
        custom.list_namespaced_custom_object, WIDGET.group, "v1", "default", "widgets", timeout_seconds=5
    )
    assert next(iter(stream))["object"]["metadata"]["name"] == "w"
    custom.patch_namespaced_custom_object_status(
        WIDGET.group, "v1", "default", "widgets", "w", {"status": {"ready": True}}
    )
    assert server.world.get(WIDGET, Key("default", "w"))["status"] == {"ready": True}  # type: ignore[index]
    lease = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}}
    kubernetes.client.CoordinationV1Api(config).create_namespaced_lease("default", lease)
    assert kubernetes.client.VersionApi(config).get_code().minor == "36"
