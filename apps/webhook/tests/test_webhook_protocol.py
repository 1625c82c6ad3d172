"""Reviews of every shape get an answer in form, and the one the Go program was recorded to give."""

from __future__ import annotations

import base64
import json
import pathlib
import threading

import pytest
from capm3_api import conversion as api_conversion
from capm3_api import kinds
from capm3_api.validation import rules
from capm3_webhook import admission, app, jsonpatch, paths
from capm3_webhook.metrics import Metrics
from capm3_webhook.settings import Settings
from capm3_webhook.testing import client, vectors_protocol

DATA = pathlib.Path(__file__).parent / "data"
CLUSTER = paths.MUTATING[0].path
VALIDATE_MACHINE = next(hook.path for hook in paths.VALIDATING if hook.kind == kinds.METAL3_MACHINE)


@pytest.fixture
def made():
    application = app.build(Settings(body_limit=4096, conversion_body_limit=8192), Metrics())
    yield application
    application.state.handlers.close()


def review(obj, operation="CREATE", **request):
    body = {"uid": "u-1", "operation": operation, "object": obj, "namespace": "a", "name": "x", **request}
    return json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": body}).encode()


def machine(**spec):
    return kinds.METAL3_MACHINE.new("a", "x", spec=spec)


def conversion_review(objects, to="v1beta2"):
    request = {"uid": "u-2", "desiredAPIVersion": f"{kinds.INFRASTRUCTURE}/{to}", "objects": objects}
    return json.dumps(
        {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "request": request}
    ).encode()


def old_cluster(name):
    raw = kinds.METAL3_CLUSTER.at("v1beta1").new("a", name)
    return {**raw, "spec": {"controlPlaneEndpoint": {"host": f"{name}.example", "port": 6443}}}


@pytest.mark.parametrize("protocol", ["admission", "conversion"])
def test_the_recorded_protocol_is_kept_but_for_registered_differences(protocol):
    rows = vectors_protocol.compare(DATA, prefix=f"{protocol}-")
    assert [row for row in rows if row[1] == "differing"] == []
    assert sum(row[1] == "agreed" for row in rows) > len(rows) / 2 - 3


def test_there_is_a_path_for_every_webhook_of_the_registration():
    assert len(paths.VALIDATING) == 9
    assert sorted(hook.path for hook in paths.MUTATING) == [
        "/mutate-infrastructure-cluster-x-k8s-io-v1beta2-metal3cluster",
        "/mutate-infrastructure-cluster-x-k8s-io-v1beta2-metal3remediationtemplate",
    ]
    assert VALIDATE_MACHINE == "/validate-infrastructure-cluster-x-k8s-io-v1beta2-metal3machine"


def test_a_denial_names_every_field_as_a_cause(made):
    status, headers, body = client.call(made, VALIDATE_MACHINE, review(machine(userData={"namespace": "b"})))
    response = json.loads(body)["response"]
    assert (status, headers["content-type"], response["uid"]) == (200, "application/json", "u-1")
    assert response["allowed"] is False and response["status"]["code"] == 422
    assert [cause["field"] for cause in response["status"]["details"]["causes"]] == [
        "spec.image",
        "spec.userData.namespace",
    ]


def test_a_dry_run_reaches_the_rules(made):
    hook = next(hook for hook in paths.VALIDATING if hook.kind == kinds.METAL3_MACHINE_TEMPLATE)
    old, new = (
        kinds.METAL3_MACHINE_TEMPLATE.new("a", "x", spec={"template": {"spec": {"customDeploy": {"method": method}}}})
        for method in ("one", "two")
    )
    new["metadata"]["annotations"] = {"topology.cluster.x-k8s.io/dry-run": ""}
    for dry_run in (True, False):
        _, _, body = client.call(made, hook.path, review(new, "UPDATE", oldObject=old, dryRun=dry_run))
        assert json.loads(body)["response"]["allowed"] is dry_run


def test_a_mutating_webhook_answers_with_a_patch_that_makes_the_defaulted_object(made):
    sent = kinds.METAL3_CLUSTER.new("a", "x", spec={"controlPlaneEndpoint": {"host": "h"}})
    _, _, body = client.call(made, CLUSTER, review(sent))
    response = json.loads(body)["response"]
    assert response["patchType"] == "JSONPatch"
    assert json.loads(base64.b64decode(response["patch"])) == [
        {"op": "add", "path": "/spec/cloudProviderEnabled", "value": False},
        {"op": "add", "path": "/spec/controlPlaneEndpoint/port", "value": 6443},
    ]


def test_a_patch_escapes_its_pointers_and_removes_what_is_gone():
    assert jsonpatch.diff({"a/b": 1, "c~": 2, "l": [1]}, {"c~": 3, "l": [1, 2], "n": None}) == [
        {"op": "remove", "path": "/a~1b"},
        {"op": "replace", "path": "/c~0", "value": 3},
        {"op": "replace", "path": "/l", "value": [1, 2]},
        {"op": "add", "path": "/n", "value": None},
    ]


def test_warnings_reach_the_client(made):
    hook = next(hook for hook in paths.VALIDATING if hook.kind == kinds.METAL3_DATA_TEMPLATE)
    sent = kinds.METAL3_DATA_TEMPLATE.new("a", "x", spec={"clusterName": "c"})
    _, _, body = client.call(made, hook.path, review(sent))
    assert "clusterName is deprecated" in json.loads(body)["response"]["warnings"][0]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'"text"', 400),
        (b"\xff\xfe", 400),
        (b'{"request":1}', 400),
        (b'{"request":{"operation":{}}}', 400),
        (b"[" * 3000, 400),
        (b"x" * 5000, 413),
    ],
    ids=[
        "cut off",
        "list",
        "string",
        "no utf-8",
        "request of a wrong type",
        "operation of a wrong type",
        "deep",
        "large",
    ],
)
def test_a_body_that_is_no_review_is_denied_in_form(made, body, code):
    status, _, content = client.call(made, VALIDATE_MACHINE, body)
    answer = json.loads(content)
    assert (status, answer["kind"], answer["response"]["allowed"]) == (200, "AdmissionReview", False)
    assert answer["response"]["status"]["code"] == code


def test_a_large_body_in_parts_is_read_to_its_end_before_it_is_refused(made):
    _, _, content = client.call(made, VALIDATE_MACHINE, [b"x" * 1000] * 20)
    assert json.loads(content)["response"]["status"]["code"] == 413


def test_an_old_review_version_is_answered_in_that_version(made):
    body = review(machine(customDeploy={"method": "m"})).replace(b"admission.k8s.io/v1", b"admission.k8s.io/v1beta1")
    answer = json.loads(client.call(made, VALIDATE_MACHINE, body)[2])
    assert answer["apiVersion"] == "admission.k8s.io/v1beta1" and answer["response"]["allowed"] is True


def test_a_value_of_the_wrong_type_is_a_bad_request_with_its_path(made):
    answer = json.loads(client.call(made, VALIDATE_MACHINE, review(machine(image="secret-text")))[2])
    assert answer["response"]["status"]["code"] == 400
    assert "spec.image" in answer["response"]["status"]["message"]
    assert "secret-text" not in answer["response"]["status"]["message"]


def test_a_bug_in_a_rule_is_a_denial_that_names_the_object_and_is_counted(monkeypatch, caplog):
    metrics = Metrics()
    application = app.build(Settings(), metrics)

    def broken(_change):
        raise ZeroDivisionError("-".join(["a", "secret", "value"]))

    monkeypatch.setitem(rules.CHECKS, "Metal3Machine", broken)
    status, _, content = client.call(application, VALIDATE_MACHINE, review(machine()))
    response = json.loads(content)["response"]
    assert (status, response["allowed"], response["uid"]) == (200, False, "u-1")
    assert response["status"]["code"] == 500 and "Metal3Machine a/x" in response["status"]["message"]
    assert "a-secret-value" not in content.decode() + caplog.text
    assert metrics.registry.get_sample_value("controller_runtime_webhook_panics_total") == 1


def test_a_bug_in_a_conversion_is_a_failed_review_that_names_the_object(made, monkeypatch):
    def broken(_obj, to):
        raise KeyError(to)

    monkeypatch.setattr(api_conversion, "convert", broken)
    status, _, content = client.call(made, paths.CONVERT, conversion_review([old_cluster("one")]))
    result = json.loads(content)["response"]["result"]
    assert (status, result["status"]) == (200, "Failure") and "Metal3Cluster a/one" in result["message"]


def test_a_list_is_converted_in_order(made):
    names = [f"c{number}" for number in range(20)]
    _, _, content = client.call(made, paths.CONVERT, conversion_review([old_cluster(name) for name in names]))
    response = json.loads(content)["response"]
    assert response["result"]["status"] == "Success" and response["uid"] == "u-2"
    assert [obj["metadata"]["name"] for obj in response["convertedObjects"]] == names
    assert {obj["apiVersion"] for obj in response["convertedObjects"]} == {f"{kinds.INFRASTRUCTURE}/v1beta2"}


def test_one_bad_object_fails_the_review_with_its_name(made):
    bad = {**old_cluster("two"), "spec": {"controlPlaneEndpoint": "oops"}}
    _, _, content = client.call(made, paths.CONVERT, conversion_review([old_cluster("one"), bad, old_cluster("three")]))
    response = json.loads(content)["response"]
    assert response["result"]["status"] == "Failure" and "Metal3Cluster a/two" in response["result"]["message"]
    assert response["convertedObjects"] is None


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"request":[]}', b"x" * 9000], ids=["empty", "cut", "list", "no", "big"]
)
def test_a_body_that_is_no_conversion_review_gets_a_failed_one(made, body):
    status, _, content = client.call(made, paths.CONVERT, body)
    assert status in (400, 413)
    assert json.loads(content)["response"]["result"]["status"] == "Failure"


def test_a_review_that_takes_too_long_is_answered_at_its_deadline(monkeypatch):
    application = app.build(Settings(deadline_seconds=0.05), Metrics())
    release = threading.Event()
    monkeypatch.setattr(admission, "answer", lambda _hook, _review: release.wait(10) and {})
    try:
        _, _, content = client.call(application, VALIDATE_MACHINE, review(machine()))
    finally:
        release.set()
    response = json.loads(content)["response"]
    assert response["allowed"] is False and response["status"]["code"] == 504


def test_requests_and_latencies_are_counted_under_the_go_names():
    metrics = Metrics()
    application = app.build(Settings(), metrics)
    for _ in range(3):
        client.call(application, VALIDATE_MACHINE, review(machine()))
    labels = {"webhook": VALIDATE_MACHINE}
    sample = metrics.registry.get_sample_value
    assert sample("controller_runtime_webhook_requests_total", {**labels, "code": "200"}) == 3
    assert sample("controller_runtime_webhook_latency_seconds_count", labels) == 3
    assert sample("controller_runtime_webhook_requests_in_flight", labels) == 0
