"""The webhooks in the controller's process (``--webhooks``)."""

from __future__ import annotations

import http.client
import json
import ssl

import pytest
from capm3_controller import wiring
from capm3_controller.kube.reflector import Timing
from capm3_controller.runtime import diagnostics
from capm3_controller.settings import Settings, SettingsError
from capm3_controller.testing import toy
from capm3_controller.testing.tinyapi import TinyApi

FAST = Timing(first_pause=0.01, longest_pause=0.05)


def settings(folder, **changes):
    values = {
        "health_addr": "127.0.0.1:0",
        "diagnostics_address": "127.0.0.1:0",
        "insecure_diagnostics": True,
        "webhooks": True,
        "webhook_port": 0,
        "webhook_cert_dir": str(folder),
    }
    return Settings(**(values | changes))


@pytest.fixture
def certificates(tmp_path):
    certificate, key = diagnostics._self_signed()
    (tmp_path / "tls.crt").write_bytes(certificate)
    (tmp_path / "tls.key").write_bytes(key)
    return tmp_path


def build(api, chosen):
    table = {toy.DEFINITION.name: toy.DEFINITION}
    return wiring.build(chosen, api.kubeconfig(), environ={}, table=table, timing=FAST)


def post(port, path, body):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=10)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_conversion_is_served_and_readiness_waits_for_it(certificates):
    with TinyApi() as api:
        controller = build(api, settings(certificates))
        assert "webhook" in controller.parts.health.problems()
        controller.start()
        try:
            assert controller.wait_ready(20) == {}
            review = {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "ConversionReview",
                "request": {
                    "uid": "u1",
                    "desiredAPIVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
                    "objects": [
                        {
                            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
                            "kind": "Metal3Cluster",
                            "metadata": {"name": "c", "namespace": "ns"},
                            "spec": {"controlPlaneEndpoint": {"host": "192.0.2.1", "port": 6443}},
                        }
                    ],
                },
            }
            status, answer = post(controller.ports["webhook"], "/convert", review)
            assert status == 200
            assert answer["response"]["uid"] == "u1"
            assert answer["response"]["convertedObjects"][0]["apiVersion"].endswith("/v1beta2")
            connection = http.client.HTTPConnection("127.0.0.1", controller.ports["diagnostics"], timeout=5)
            connection.request("GET", "/metrics")
            assert "certwatcher_read_certificate_total" in connection.getresponse().read().decode()
        finally:
            assert controller.stop()


def test_missing_certificates_are_a_startup_error(tmp_path):
    with TinyApi() as api, pytest.raises(SettingsError, match=r"tls\.crt|cert"):
        build(api, settings(tmp_path))
