"""Migration of stored versions: what is rewritten, cleaned, noted, skipped, and tried again."""

from __future__ import annotations

import threading

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_controller.crdmigrator import ANNOTATION, FIELDS, STORAGE, Migrator, clean_fields, definition_name
from capm3_controller.kube.client import Client
from capm3_controller.kube.fence import Fence
from capm3_controller.kube.transport import Transport
from capm3_controller.testing.tinyapi import TinyApi
from capm3_managers.ports import ApiError

KIND = kinds.METAL3_DATA
CRD_KEY = Key("", "metal3datas.infrastructure.cluster.x-k8s.io")


@pytest.fixture
def api():
    with TinyApi() as server:
        yield server


def definition(kind, stored=("v1beta1", "v1beta2"), generation=3):
    obj = kinds.CRD.new("", definition_name(kind))
    del obj["metadata"]["namespace"]
    obj["metadata"]["generation"] = generation
    versions = [{"name": name, "served": True, "storage": name == "v1beta2"} for name in ("v1beta1", "v1beta2")]
    obj["spec"] = {"group": kind.group, "versions": versions, "names": {"plural": kind.plural, "kind": kind.kind}}
    obj["status"] = {"storedVersions": list(stored)}
    return obj


def migrator(api, skip=(), **options):
    fence = Fence()
    fence.open()
    return Migrator(Client(Transport(api.endpoint, user_agent="t")), fence, skip, migrated=(KIND,), **options)


def fill(api, count=3):
    for number in range(count):
        api.world.put(KIND.new("ns", f"d{number}"))


def stored(api):
    return api.world.get(kinds.CRD, CRD_KEY)["status"]["storedVersions"]


def test_every_object_is_written_anew_and_the_definition_says_so(api):
    fill(api)
    api.world.put(definition(KIND))
    assert migrator(api).turn() == []
    rewritten = [seen for seen in api.writes() if "/metal3datas/" in seen.path]
    assert [seen.body["metadata"]["name"] for seen in rewritten] == ["d0", "d1", "d2"]
    for seen in rewritten:
        assert set(seen.body) == {"apiVersion", "kind", "metadata"}
        assert seen.body["apiVersion"] == "infrastructure.cluster.x-k8s.io/v1beta2"
        assert seen.body["metadata"]["resourceVersion"]
    assert stored(api) == ["v1beta2"]
    assert api.world.get(kinds.CRD, CRD_KEY)["metadata"]["annotations"][ANNOTATION] == "3"


def test_a_migrated_definition_costs_one_read(api):
    fill(api)
    api.world.put(definition(KIND))
    migrator(api).turn()
    count = len(api.seen)
    migrator(api).turn()
    assert len(api.seen) == count + 1


def test_a_new_generation_is_looked_at_again(api):
    api.world.put(definition(KIND))
    migrator(api).turn()
    obj = api.world.get(kinds.CRD, CRD_KEY)
    obj["metadata"]["generation"] = 4
    api.world.put(obj)
    migrator(api).turn()
    assert api.world.get(kinds.CRD, CRD_KEY)["metadata"]["annotations"][ANNOTATION] == "4"


@pytest.mark.parametrize("status", [404, 409])
def test_an_object_that_went_or_changed_meanwhile_needs_no_rewriting(api, status):
    fill(api)
    api.world.put(definition(KIND))
    api.intercept = lambda seen: (status, {}) if seen.method == "PATCH" and seen.path.endswith("/d1") else None
    assert migrator(api).turn() == []
    assert stored(api) == ["v1beta2"]


def test_a_failure_leaves_the_stored_versions_and_goes_on_where_it_was(api):
    fill(api)
    api.world.put(definition(KIND))
    one = migrator(api)
    api.intercept = lambda seen: (500, {}) if seen.method == "PATCH" and seen.path.endswith("/d2") else None
    assert one.turn() == [CRD_KEY.name]
    assert stored(api) == ["v1beta1", "v1beta2"]
    api.intercept = lambda seen: None
    count = len(api.writes())
    assert one.turn() == []
    assert next(seen.path.rpartition("/")[2] for seen in api.writes()[count:]) == "d2"
    assert stored(api) == ["v1beta2"]


def test_a_definition_that_changed_meanwhile_is_not_declared_migrated(api):
    api.world.put(definition(KIND))
    one = migrator(api)

    def meddle(seen):
        if seen.path.endswith("/metal3datas"):
            api.intercept = lambda seen: None
            api.world.patch(kinds.CRD, CRD_KEY, {"metadata": {"labels": {"x": "y"}}})
        return

    api.intercept = meddle
    assert one.turn() == [CRD_KEY.name]
    assert stored(api) == ["v1beta1", "v1beta2"]


def test_a_missing_right_is_no_reason_to_try_again_soon(api):
    api.world.put(definition(KIND))
    api.intercept = lambda seen: (403, {"reason": "Forbidden"}) if seen.method == "PATCH" else None
    assert migrator(api).turn() == []
    assert stored(api) == ["v1beta1", "v1beta2"]


def test_phases_are_skipped(api):
    fill(api)
    api.world.put(definition(KIND))
    migrator(api, skip=[STORAGE]).turn()
    assert stored(api) == ["v1beta1", "v1beta2"]
    assert not [seen for seen in api.writes() if "/metal3datas/" in seen.path]
    count = len(api.seen)
    migrator(api, skip=[STORAGE, FIELDS]).job(1.0)(threading.Event())
    assert len(api.seen) == count


def test_a_lost_lease_stops_it(api):
    fill(api)
    api.world.put(definition(KIND))
    one = migrator(api)
    one._fence.close()
    assert one.turn() == [CRD_KEY.name]
    assert api.writes() == []


def test_a_definition_that_is_not_there_is_left_alone(api):
    assert migrator(api).turn() == []


def entry(version, manager="kubectl"):
    return {"manager": manager, "operation": "Update", "apiVersion": version, "fieldsType": "FieldsV1", "fieldsV1": {}}


V2, V1, ALPHA = (f"{KIND.group}/{version}" for version in ("v1beta2", "v1beta1", "v1alpha5"))


def with_fields(*entries):
    obj = KIND.new("ns", "d")
    obj["metadata"] |= {"resourceVersion": "7", "managedFields": list(entries)}
    return obj


def test_managed_fields_of_served_versions_stay():
    assert clean_fields(with_fields(entry(V2), entry(V1)), KIND, {V1, V2}, "now") == ()
    assert clean_fields(with_fields(), KIND, {V1, V2}, "now") == ()


def test_managed_fields_of_a_version_that_is_not_served_go():
    replace, guard = clean_fields(with_fields(entry(V2), entry(ALPHA)), KIND, {V1, V2}, "now")
    assert replace == {"op": "replace", "path": "/metadata/managedFields", "value": [entry(V2)]}
    assert guard == {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}


def test_an_object_that_would_have_none_left_gets_one_for_its_name():
    replace, _ = clean_fields(with_fields(entry(ALPHA)), KIND, {V2}, "now")
    (only,) = replace["value"]
    assert (only["manager"], only["apiVersion"], only["fieldsV1"]) == (
        "crdmigrator",
        V2,
        {"f:metadata": {"f:name": {}}},
    )


def test_all_nine_kinds_are_migrated_by_the_name_of_their_definition():
    names = {definition_name(kind) for kind in kinds.OURS}
    assert len(names) == 9
    assert CRD_KEY.name in names


def test_the_job_tries_again_after_a_failure_and_ends_when_stopped(api):
    api.intercept = lambda seen: (500, {})
    waits = []

    class Stop:
        def is_set(self):
            return False

        def wait(self, seconds):
            waits.append(seconds)
            if len(waits) == 2:
                api.intercept = lambda seen: None
            return len(waits) == 4

    migrator(api).job(600.0)(Stop())
    assert waits == [10.0, 20.0, 600.0, 600.0]


def test_an_error_is_counted(api):
    results = []
    api.intercept = lambda seen: (500, {})
    migrator(api, count=results.append).turn()
    assert results == ["error"]
    with pytest.raises(ApiError):
        migrator(api)._migrate(KIND, CRD_KEY.name)
