"""The generated configurations make an API server call every webhook as the Go program's do."""

from __future__ import annotations

import pytest
import yaml
from capm3_api import kinds
from capm3_webhook import manifests, paths

SERVICE = manifests.Service("capm3-system", "capm3-webhook-service", b"PEM")


def webhooks(client=SERVICE):
    return [hook for made in manifests.configurations(client) for hook in made["webhooks"]]


def test_every_webhook_is_registered_once_under_its_go_name():
    names = [hook["name"] for hook in webhooks()]
    assert len(names) == len(set(names)) == 11
    assert "default.metal3cluster.infrastructure.cluster.x-k8s.io" in names
    assert {f"validation.{kind.kind.lower()}.infrastructure.cluster.x-k8s.io" for kind in kinds.OURS} <= set(names)


@pytest.mark.parametrize("hook", webhooks(), ids=lambda hook: hook["name"])
def test_a_webhook_has_no_side_effects_fails_closed_and_sees_creates_and_updates_of_its_kind(hook):
    assert (hook["sideEffects"], hook["failurePolicy"], hook["matchPolicy"]) == ("None", "Fail", "Equivalent")
    assert hook["admissionReviewVersions"] == ["v1", "v1beta1"]
    (rule,) = hook["rules"]
    assert rule["operations"] == ["CREATE", "UPDATE"] and rule["apiVersions"] == ["v1beta2"]
    assert rule["apiGroups"] == [kinds.INFRASTRUCTURE]
    assert hook["name"].split(".")[1] in hook["clientConfig"]["service"]["path"]


def test_paths_of_the_configuration_are_paths_of_the_server():
    assert {hook["clientConfig"]["service"]["path"] for hook in webhooks()} == {hook.path for hook in paths.ALL}


def test_a_url_client_and_the_ca_are_put_in():
    for hook in webhooks(manifests.Url("https://127.0.0.1:9443/", b"PEM")):
        assert hook["clientConfig"]["url"].startswith("https://127.0.0.1:9443/")
        assert hook["clientConfig"]["caBundle"] == "UEVN"
    assert "caBundle" not in webhooks(manifests.Service("a", "b"))[0]["clientConfig"]


def test_the_conversion_stanza_calls_convert():
    made = manifests.conversion(SERVICE)
    assert made["strategy"] == "Webhook" and made["webhook"]["conversionReviewVersions"] == ["v1", "v1beta1"]
    assert made["webhook"]["clientConfig"]["service"]["path"] == "/convert"


def test_yaml_reads_back_as_the_objects():
    made = manifests.configurations(SERVICE, prefix="x-", annotations={"a": "b"})
    assert list(yaml.safe_load_all(manifests.to_yaml(made))) == made
    assert made[0]["metadata"] == {"name": "x-mutating-webhook-configuration", "annotations": {"a": "b"}}
