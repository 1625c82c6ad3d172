"""Admission and conversion webhooks are called over HTTPS, and their answers mean what they mean on a real server."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from capm3_api.meta import Key
from capm3_managers.ports import ApiError
from capm3_testbed import certs
from capm3_testbed.embedded import EmbeddedServer
from capm3_testbed.embedded.httpd import Listener
from capm3_testbed.embedded.messages import HttpRequest, HttpResponse, answer
from capm3_testbed.semantics.cases import WIDGET
from capm3_testbed.semantics.clients import HttpClient
from capm3_testbed.semantics.widget import crd

_AUTHORITY = certs.Authority()
_BUNDLE = base64.b64encode(_AUTHORITY.certificate).decode()
Respond = Callable[[dict[str, Any]], dict[str, Any]]


class Peer:
    """A webhook server whose answers a test sets.

    Attributes:
        asked: the requests of the reviews that came, in order.
    """

    def __init__(self, tmp_path: Path) -> None:
        self.respond: Respond = lambda request: {"allowed": True}
        self.status = 200
        self.asked: list[dict[str, Any]] = []
        certificate, key = _AUTHORITY.server(("127.0.0.1", "hook.system.svc")).write(tmp_path, "peer")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.listener = Listener(self._answer, context, "127.0.0.1", 0)
        self.listener.start()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.listener.port}/review"

    def _answer(self, http: HttpRequest) -> HttpResponse:
        review = http.object()
        self.asked.append(review["request"])
        response = {"uid": review["request"]["uid"], **self.respond(review["request"])}
        return answer({**review, "response": response}, self.status)


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    running = Peer(tmp_path)
    yield running
    running.listener.stop()


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer(crds=[crd()], authority=_AUTHORITY) as running:
        yield running


def install(server: EmbeddedServer, kind: str, config: dict[str, Any], **more: Any) -> None:
    rule = {"apiGroups": [WIDGET.group], "apiVersions": ["v1"], "resources": ["widgets"], "operations": ["*"]}
    webhook = {
        "name": "hook.test.metal3.io",
        "clientConfig": {"caBundle": _BUNDLE, **config},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 5,
        **more,
    }
    server.world.create(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": "hooks"},
            "webhooks": [webhook],
        }
    )


def client(server: EmbeddedServer) -> HttpClient:
    return HttpClient(server.access(), (WIDGET, WIDGET.at("v1beta1")))


def widget(name: str = "w", **spec: Any) -> dict[str, Any]:
    return {**WIDGET.new("default", name), "spec": spec}


def patch_of(*operations: dict[str, Any]) -> dict[str, Any]:
    text = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": text}


def test_a_mutating_webhook_changes_what_is_stored(server: EmbeddedServer, peer: Peer) -> None:
    install(server, "Mutating", {"url": peer.url})
    peer.respond = lambda request: patch_of({"op": "add", "path": "/spec/colour", "value": "red"})
    assert client(server).create(widget())["spec"] == {"size": 3, "colour": "red"}
    request = peer.asked[0]
    assert (
        request["operation"] == "CREATE" and request["object"]["spec"] == {"size": 3} and request["oldObject"] is None
    )
    assert request["kind"] == {"group": WIDGET.group, "version": "v1", "kind": "Widget"}
    assert request["resource"]["resource"] == "widgets" and request["userInfo"]["username"] == "admin"
    assert (request["name"], request["namespace"], request["dryRun"]) == ("w", "default", False)


def test_what_a_mutating_webhook_makes_is_defaulted_and_validated(server: EmbeddedServer, peer: Peer) -> None:
    install(server, "Mutating", {"url": peer.url})
    peer.respond = lambda request: patch_of({"op": "add", "path": "/spec/nested", "value": {"must": "a", "odd": 1}})
    assert client(server).create(widget())["spec"]["nested"] == {"must": "a", "mode": "auto"}
    peer.respond = lambda request: patch_of({"op": "replace", "path": "/spec/size", "value": 99})
    with pytest.raises(ApiError, match=r"spec\.size") as refused:
        client(server).create(widget("other"))
    assert refused.value.status == 422


def test_a_validating_webhook_refuses_with_its_own_status(server: EmbeddedServer, peer: Peer) -> None:
    install(server, "Validating", {"url": peer.url})
    cause = {"reason": "FieldValueInvalid", "field": "spec.size", "message": "Invalid value: 4: odd only"}
    status = {"code": 422, "reason": "Invalid", "message": "spec.size: odd only", "details": {"causes": [cause]}}
    peer.respond = lambda request: {"allowed": False, "status": status, "warnings": ["look out"]}
    with pytest.raises(ApiError, match=r"denied the request: spec\.size") as refused:
        client(server).create(widget(size=4))
    assert refused.value.status == 422 and [c.field for c in refused.value.causes] == ["spec.size"]  # type: ignore[attr-defined]
    peer.respond = lambda request: {"allowed": False}
    with pytest.raises(ApiError, match="without explanation") as plain:
        client(server).create(widget())
    assert (plain.value.status, plain.value.reason) == (403, "Forbidden")


def test_updates_and_deletes_show_the_old_object(server: EmbeddedServer, peer: Peer) -> None:
    install(server, "Validating", {"url": peer.url})
    http = client(server)
    http.create(widget())
    http.patch(WIDGET, Key("default", "w"), {"spec": {"size": 4}})
    http.patch(WIDGET, Key("default", "w"), {"status": {"ready": True}}, subresource="status")
    http.delete(WIDGET, Key("default", "w"))
    assert [request["operation"] for request in peer.asked] == ["CREATE", "UPDATE", "DELETE"]
    update, delete = peer.asked[1:]
    assert update["oldObject"]["spec"] == {"size": 3} and update["object"]["spec"] == {"size": 4}
    assert delete["object"] is None and delete["oldObject"]["spec"] == {"size": 4}


def test_a_dead_webhook_fails_the_request_or_is_ignored(server: EmbeddedServer, peer: Peer) -> None:
    install(server, "Validating", {"url": peer.url})
    peer.listener.stop()
    with pytest.raises(ApiError, match="failed calling webhook") as failed:
        client(server).create(widget())
    assert (failed.value.status, failed.value.reason) == (500, "InternalError")
    key = Key("", "hooks")
    kind = server._registry.find("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations")
    assert kind is not None
    ignore = [{"op": "add", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]
    server.world.json_patch(kind.kind, key, ignore)
    assert client(server).create(widget())


def test_a_certificate_of_another_authority_is_not_trusted(server: EmbeddedServer, peer: Peer) -> None:
    other = base64.b64encode(certs.Authority("other").certificate).decode()
    install(server, "Validating", {"url": peer.url, "caBundle": other})
    with pytest.raises(ApiError, match="certificate verify failed"):
        client(server).create(widget())
    assert peer.asked == []


def test_a_service_is_reached_where_the_server_was_told(server: EmbeddedServer, peer: Peer) -> None:
    service = {"namespace": "system", "name": "hook", "path": "/review"}
    install(server, "Validating", {"service": service})
    with pytest.raises(ApiError, match=r"use clientConfig\.url"):
        client(server).create(widget())
    server.services[("system", "hook")] = ("127.0.0.1", peer.listener.port)
    client(server).create(widget())
    assert len(peer.asked) == 1


def test_another_version_is_converted_for_the_webhook(server: EmbeddedServer, peer: Peer) -> None:
    install(server, "Mutating", {"url": peer.url})
    peer.respond = lambda request: patch_of({"op": "add", "path": "/spec/size", "value": 5})
    made = client(server).create({**widget(), "apiVersion": WIDGET.at("v1beta1").api_version})
    assert made["apiVersion"].endswith("v1beta1") and made["spec"]["size"] == 5
    assert peer.asked[0]["kind"]["version"] == "v1" and peer.asked[0]["requestKind"]["version"] == "v1beta1"
    assert peer.asked[0]["object"]["apiVersion"].endswith("/v1")


def test_selectors_and_rules_keep_other_objects_out(server: EmbeddedServer, peer: Peer) -> None:
    selector = {"matchExpressions": [{"key": "checked", "operator": "In", "values": ["yes"]}]}
    install(server, "Validating", {"url": peer.url}, objectSelector=selector)
    client(server).create(widget())
    assert peer.asked == []
    labelled = widget("l")
    labelled["metadata"]["labels"] = {"checked": "yes"}
    client(server).create(labelled)
    assert len(peer.asked) == 1


def test_a_dry_run_calls_only_webhooks_without_side_effects(server: EmbeddedServer, peer: Peer) -> None:
    install(server, "Validating", {"url": peer.url}, sideEffects="Some")
    with pytest.raises(ApiError, match="does not support dry run"):
        client(server).create(widget(), dry_run=True)
    assert peer.asked == []


def converting(peer: Peer) -> dict[str, Any]:
    """The CRD with its conversion handed to the peer."""
    body = crd()
    webhook = {"clientConfig": {"url": peer.url, "caBundle": _BUNDLE}, "conversionReviewVersions": ["v1"]}
    body["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return body


def convert(request: dict[str, Any]) -> dict[str, Any]:
    """v1beta1 counts sizes doubly."""
    done = []
    for obj in request["objects"]:
        factor = 2 if request["desiredAPIVersion"].endswith("v1beta1") else 0.5
        spec = {**obj["spec"], "size": int(obj["spec"]["size"] * factor)}
        done.append({**obj, "apiVersion": request["desiredAPIVersion"], "spec": spec})
    return {"result": {"status": "Success"}, "convertedObjects": done}


def test_objects_are_converted_by_the_webhook_in_one_batch(server: EmbeddedServer, peer: Peer) -> None:
    server.install(converting(peer))
    peer.respond = convert
    http, beta = client(server), WIDGET.at("v1beta1")
    for name in ("a", "b", "c"):
        http.create(widget(name, size=2))
    assert peer.asked == []
    assert [obj["spec"]["size"] for obj in http.list(beta, "default").items] == [4, 4, 4]
    assert len(peer.asked) == 1
    made = http.create({**widget("d", size=8), "apiVersion": beta.api_version})
    assert made["spec"]["size"] == 8 and (server.world.get(WIDGET, Key("default", "d")) or {})["spec"]["size"] == 4
    events = http.watch(beta, "default", "")
    assert next(events)["object"]["apiVersion"] == beta.api_version


def test_a_conversion_that_fails_or_meddles_is_an_error_of_the_request(server: EmbeddedServer, peer: Peer) -> None:
    server.install(converting(peer))
    http, beta = client(server), WIDGET.at("v1beta1")
    http.create(widget())
    peer.respond = lambda request: {"result": {"status": "Failure", "message": "no way"}}
    with pytest.raises(ApiError, match="conversion webhook for Widget failed: no way") as failed:
        http.get(beta, Key("default", "w"))
    assert failed.value.status == 500

    def rename(request: dict[str, Any]) -> dict[str, Any]:
        response = convert(request)
        response["convertedObjects"][0]["metadata"] = {"name": "other"}
        return response

    peer.respond = rename
    with pytest.raises(ApiError, match=r"changed metadata\.name"):
        http.get(beta, Key("default", "w"))
