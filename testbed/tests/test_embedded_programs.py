"""Our own programs against the embedded server: the controller's cache through all trouble, our webhooks and CRDs."""

from __future__ import annotations

import base64
import random
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from capm3_api import crdgen, kinds
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_controller.kube import endpoint
from capm3_controller.kube.cache import Cache
from capm3_controller.kube.client import Client
from capm3_controller.kube.reflector import Timing
from capm3_controller.kube.transport import Transport
from capm3_managers.ports import ALL_NAMESPACES, ApiError
from capm3_managers.testing.faults import Fault
from capm3_testbed import certs, net
from capm3_testbed.embedded import EmbeddedServer
from capm3_testbed.semantics.cases import WIDGET
from capm3_testbed.semantics.clients import HttpClient
from capm3_testbed.semantics.widget import crd
from capm3_webhook import manifests
from capm3_webhook.server import Running, Server
from capm3_webhook.settings import Settings

_AUTHORITY = certs.Authority()
_FAST = Timing(watch=5.0, first_pause=0.01, longest_pause=0.1, absent_pause=0.05, absent_grace=5.0, short=0.0)


def _equal(server: EmbeddedServer, cache: Cache) -> bool:
    world = server.world.list(WIDGET, ALL_NAMESPACES, version=server.world.version)
    return _versions(cache.list(WIDGET, ALL_NAMESPACES)) == _versions(world)


def _versions(objects: Any) -> dict[str, str]:
    return {obj["metadata"]["name"]: obj["metadata"]["resourceVersion"] for obj in objects}


def test_the_controllers_cache_equals_the_world_after_restarts_lost_history_and_faults() -> None:
    draw = random.Random(7)
    server = EmbeddedServer(crds=[crd()], authority=_AUTHORITY).start()
    client = Client(Transport(endpoint.from_secret(server.access().document()), user_agent="test"))
    cache = Cache(client, [WIDGET], timing=_FAST)
    cache.start()
    try:
        assert cache.wait_synced(threading.Event())
        for step in range(120):
            _write(server, draw, f"w{draw.randrange(12)}")
            if step % 30 == 10:
                server.stop()
                _write(server, draw, "while-down")
                server.start()
            if step % 30 == 20:
                server.stop()
                _write(server, draw, "before-forgetting")
                server.world.forget(WIDGET)
                server.start()
            if step % 10 == 5:
                server.world.inject(Fault(draw.choice(["watch", "list"]), "widgets", draw.choice([0, 429, 500, 503])))
            if step % 15 == 14:
                net.wait_until(f"the cache is current after step {step}", lambda: _equal(server, cache), 20)
    finally:
        cache.stop()
        server.stop()


def _write(server: EmbeddedServer, draw: random.Random, name: str) -> None:
    """Creates, changes or deletes a Widget."""
    key = Key("default", name)
    if server.world.get(WIDGET, key) is None:
        server.world.create({**WIDGET.new("default", name), "spec": {}})
    elif draw.random() < 0.3:
        server.world.delete(WIDGET, key)
    else:
        server.world.patch(WIDGET, key, {"metadata": {"labels": {"n": str(draw.randrange(1000))}}})


@pytest.fixture(scope="module")
def webhooks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("certificates")
    _AUTHORITY.server().write(folder, "tls")
    running = Running(Server(Settings(host="127.0.0.1", port=0, cert_dir=folder, health_address="")))
    assert running.wait_ready(20), running.not_ready()
    yield running
    running.stop()


@pytest.fixture
def server(webhooks: Running) -> Iterator[EmbeddedServer]:
    bundle = base64.b64encode(_AUTHORITY.certificate).decode()
    conversion = crdgen.Webhook(url=f"{webhooks.url}/convert", ca_bundle=bundle)
    with EmbeddedServer(crds=crdgen.all_crds(conversion), authority=_AUTHORITY) as running:
        for configuration in manifests.configurations(manifests.Url(webhooks.url, _AUTHORITY.certificate)):
            running.world.create(configuration)
        yield running


def _machine(version: str, **spec: Any) -> Raw:
    kind = kinds.METAL3_MACHINE.at(version)
    image = {"url": "http://server/image.qcow2", "checksum": "0" * 32, "checksumType": "md5", "format": "qcow2"}
    return {**kind.new("default", "m"), "spec": {"image": image, **spec}}


def test_an_old_object_is_converted_defaulted_and_stored_new(server: EmbeddedServer) -> None:
    old, new = kinds.METAL3_MACHINE.at("v1beta1"), kinds.METAL3_MACHINE
    client = HttpClient(server.access(), (old, new))
    made = client.create(_machine("v1beta1", hostSelector={"matchLabels": {"rack": "1"}}), validation="Strict")
    assert made["apiVersion"] == old.api_version
    stored = server.world.all()
    assert [obj["apiVersion"] for obj in stored if obj["kind"] == "Metal3Machine"] == [new.api_version]
    assert client.get(old, Key("default", "m")) == made
    seen = client.get(new, Key("default", "m"))
    assert seen and seen["spec"]["hostSelector"] == {"matchLabels": {"rack": "1"}}
    again = client.patch(old, Key("default", "m"), {"spec": {"hostSelector": {"matchLabels": {"rack": "1"}}}})
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_our_validation_refuses_by_field_over_https(server: EmbeddedServer) -> None:
    client = HttpClient(server.access(), (kinds.METAL3_CLUSTER,))
    bad = {**kinds.METAL3_CLUSTER.new("default", "c"), "spec": {"controlPlaneEndpoint": {"host": "", "port": 0}}}
    with pytest.raises(ApiError, match=r"spec\.controlPlaneEndpoint") as refused:
        client.create(bad)
    assert refused.value.status in (403, 422)
