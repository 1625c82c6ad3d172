"""Cases about what stands in HTTP answers: Status bodies, tables, warnings, content types, discovery."""

from __future__ import annotations

from capm3_testbed.semantics.cases import WIDGET, Ask, Subject, case

_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
_MERGE = "application/merge-patch+json"


@case("a refusal is a Status that names what was asked for", "http")
def _status(subject: Subject) -> None:
    answer = subject.client.http(Ask("GET", subject.path("none")))
    assert answer.status == 404 and answer.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'{WIDGET.plural}.{WIDGET.group} "none" not found',
        "reason": "NotFound",
        "details": {"name": "none", "group": WIDGET.group, "kind": WIDGET.plural},
        "code": 404,
    }


@case("an invalid object's Status names its kind and every cause", "http")
def _invalid(subject: Subject) -> None:
    body = subject.widget(spec={"size": 99, "colour": "blue"})
    answer = subject.client.http(Ask("POST", subject.path(), body))
    details = answer.body["details"]
    assert (details["name"], details["group"], details["kind"]) == ("w", WIDGET.group, WIDGET.kind)
    assert {"reason", "message", "field"} == set(details["causes"][0])
    assert {cause["field"] for cause in details["causes"]} == {"spec.size", "spec.colour"}


@case("a delete answers the object while finalizers hold it, else a Status with its uid", "http")
def _delete(subject: Subject) -> None:
    held = subject.made(metadata={"finalizers": ["testbed.metal3.io/hold"]})
    answer = subject.client.http(Ask("DELETE", subject.path("w")))
    assert answer.status == 200 and answer.body["metadata"]["deletionTimestamp"]
    subject.patched({"metadata": {"finalizers": None}})
    free = subject.made("free")
    answer = subject.client.http(Ask("DELETE", subject.path("free")))
    assert answer.body["kind"] == "Status" and answer.body["status"] == "Success"
    assert answer.body["details"] == {
        "name": "free",
        "group": WIDGET.group,
        "kind": WIDGET.plural,
        "uid": free["metadata"]["uid"],
    }
    assert held["metadata"]["uid"] != free["metadata"]["uid"]


@case("a deleted collection follows the selector", "http")
def _collection(subject: Subject) -> None:
    subject.made("a", metadata={"labels": {"x": "1"}})
    subject.made("b")
    answer = subject.client.http(Ask("DELETE", f"{subject.path()}?labelSelector=x%3D1"))
    assert answer.status == 200 and answer.body["kind"] in ("WidgetList", "Status")
    assert [obj["metadata"]["name"] for obj in subject.client.list(WIDGET, subject.namespace).items] == ["b"]


@case("a table has the columns of the CRD, with nothing where nothing is found", "http")
def _table(subject: Subject) -> None:
    subject.made("a")
    subject.made("b", spec={"size": 7})
    ready = {"conditions": [{"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}]}
    subject.patched({"status": ready}, "b", subresource="status")
    answer = subject.client.http(Ask("GET", subject.path(), accept=_TABLE))
    assert answer.body["kind"] == "Table" and answer.body["apiVersion"] == "meta.k8s.io/v1"
    columns = [(item["name"], item["type"]) for item in answer.body["columnDefinitions"]]
    assert columns == [("Name", "string"), ("Size", "integer"), ("Ready", "string"), ("Age", "date")]
    assert [row["cells"][:3] for row in answer.body["rows"]] == [["a", 3, None], ["b", 7, "True"]]
    assert all(row["cells"][3].endswith("s") for row in answer.body["rows"])
    shown = answer.body["rows"][0]["object"]
    assert shown["kind"] == "PartialObjectMetadata" and shown["metadata"]["name"] == "a" and "spec" not in shown


@case("metadata alone can be asked for", "http")
def _partial(subject: Subject) -> None:
    made = subject.made()
    accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
    answer = subject.client.http(Ask("GET", subject.path("w"), accept=accept))
    assert answer.body["kind"] == "PartialObjectMetadata" and set(answer.body) == {"kind", "apiVersion", "metadata"}
    assert answer.body["metadata"]["uid"] == made["metadata"]["uid"]
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    answer = subject.client.http(Ask("GET", subject.path(), accept=accept))
    assert answer.body["kind"] == "PartialObjectMetadataList" and len(answer.body["items"]) == 1


@case("unknown fields are warned of unless the client says otherwise", "http")
def _warning(subject: Subject) -> None:
    answer = subject.client.http(Ask("POST", subject.path(), subject.widget(spec={"sizes": 1})))
    assert answer.status == 201 and answer.headers["warning"] == '299 - "unknown field \\"spec.sizes\\""'
    quiet = f"{subject.path()}?fieldValidation=Ignore"
    answer = subject.client.http(Ask("POST", quiet, subject.widget("other", spec={"sizes": 1})))
    assert answer.status == 201 and "warning" not in answer.headers


@case("a deprecated version warns and names the one to use", "http")
def _deprecated(subject: Subject) -> None:
    body = {**subject.widget(), "apiVersion": WIDGET.at("v1beta1").api_version}
    answer = subject.client.http(Ask("POST", subject.path(version="v1beta1"), body))
    wanted = f"{WIDGET.group}/v1beta1 Widget is deprecated; use {WIDGET.group}/v1 Widget"
    assert answer.status == 201 and answer.headers["warning"] == f'299 - "{wanted}"'
    assert wanted in subject.client.http(Ask("GET", subject.path("w", "v1beta1"))).headers["warning"]


@case("a strategic merge patch of a custom resource is refused as an unknown format", "http")
def _strategic(subject: Subject) -> None:
    subject.made()
    answer = subject.client.http(Ask("PATCH", subject.path("w"), {}, "application/strategic-merge-patch+json"))
    assert (answer.status, answer.body["reason"]) == (415, "UnsupportedMediaType")
    assert "application/merge-patch+json" in answer.body["message"]


@case("name and namespace of the body must be those of the path", "http")
def _mismatch(subject: Subject) -> None:
    made = subject.made()
    other = {**made, "metadata": {**made["metadata"], "name": "other"}}
    assert subject.client.http(Ask("PUT", subject.path("w"), other)).status == 400
    elsewhere = subject.widget("x", metadata={"namespace": "elsewhere"})
    assert subject.client.http(Ask("POST", subject.path(), elsewhere)).status == 400
    unnamed = subject.widget("y")
    del unnamed["metadata"]["namespace"]
    answer = subject.client.http(Ask("POST", subject.path(), unnamed))
    assert answer.status == 201 and answer.body["metadata"]["namespace"] == subject.namespace


@case("an object in a namespace that is not there is refused", "http")
def _no_namespace(subject: Subject) -> None:
    path = subject.path().replace(subject.namespace, "nowhere")
    answer = subject.client.http(Ask("POST", path, subject.widget(metadata={"namespace": "nowhere"})))
    assert answer.status == 404 and answer.body["message"] == 'namespaces "nowhere" not found'


@case("a subresource that is not there is not found", "http")
def _no_subresource(subject: Subject) -> None:
    subject.made()
    assert subject.client.http(Ask("GET", f"{subject.path('w')}/none")).status == 404


@case("the status can be read by itself", "http")
def _status_endpoint(subject: Subject) -> None:
    made = subject.made()
    answer = subject.client.http(Ask("GET", f"{subject.path('w')}/status"))
    assert answer.status == 200 and answer.body["metadata"]["uid"] == made["metadata"]["uid"]


@case("scale reads and writes the replicas of the object", "http")
def _scale(subject: Subject) -> None:
    subject.made(spec={"replicas": 2})
    path = f"{subject.path('w')}/scale"
    scale = subject.client.http(Ask("GET", path)).body
    assert (scale["kind"], scale["apiVersion"], scale["spec"]) == ("Scale", "autoscaling/v1", {"replicas": 2})
    answer = subject.client.http(Ask("PATCH", path, {"spec": {"replicas": 5}}, _MERGE))
    assert answer.status == 200 and answer.body["spec"] == {"replicas": 5}
    assert subject.read()["spec"]["replicas"] == 5 and subject.read()["metadata"]["generation"] == 2
    stale = subject.client.http(Ask("PUT", path, {**scale, "spec": {"replicas": 9}}))
    assert (stale.status, stale.body["reason"]) == (409, "Conflict")


@case("discovery lists the resource, its subresources and the preferred version", "http")
def _discovery(subject: Subject) -> None:
    group = subject.client.http(Ask("GET", f"/apis/{WIDGET.group}")).body
    assert group["preferredVersion"]["version"] == "v1"
    assert [item["version"] for item in group["versions"]] == ["v1", "v1beta1"]
    rows = subject.client.http(Ask("GET", f"/apis/{WIDGET.group}/v1")).body["resources"]
    assert {row["name"] for row in rows} == {"widgets", "widgets/status", "widgets/scale"}
    main = next(row for row in rows if row["name"] == "widgets")
    assert main["namespaced"] and main["shortNames"] == ["wd"] and main["singularName"] == "widget"
    assert {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"} == set(main["verbs"])


@case("aggregated discovery says the same", "http")
def _aggregated(subject: Subject) -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    answer = subject.client.http(Ask("GET", "/apis", accept=accept))
    assert answer.headers["content-type"] == accept
    group = next(item for item in answer.body["items"] if item["metadata"]["name"] == WIDGET.group)
    first = group["versions"][0]
    assert first["version"] == "v1" and first["resources"][0]["responseKind"]["kind"] == WIDGET.kind
    names = {item["subresource"]: item["responseKind"]["kind"] for item in first["resources"][0]["subresources"]}
    assert names == {"status": WIDGET.kind, "scale": "Scale"}


@case("a list in a version that has not happened yet is refused as a timeout", "http")
def _future(subject: Subject) -> None:
    answer = subject.client.http(Ask("GET", f"{subject.path()}?resourceVersion=999999999999"))
    assert (answer.status, answer.body["reason"]) == (504, "Timeout")
    assert "Too large resource version" in answer.body["message"]
