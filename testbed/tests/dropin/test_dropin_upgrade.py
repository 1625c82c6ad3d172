"""Objects of an old release survive the swap: re-applied, read in both versions, moved to the new stored version.

The tests tell one story, in their order, on one API server: an old release with its objects, then ours over it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from capm3_api import kinds
from capm3_api.model import Raw
from capm3_controller.crdmigrator import ANNOTATION, FIELDS, STORAGE, Migrator, definition_name
from capm3_controller.kube.fence import Fence
from capm3_testbed import net, rbac
from capm3_testbed.apiserver.process import CONTROLLER_NAMESPACE
from capm3_testbed.controller import ControllerProcess
from capm3_testbed.dropin import templates, upgrade
from capm3_testbed.dropin.lost import lost
from capm3_testbed.dropin.site import Site

pytestmark = [pytest.mark.apiserver, pytest.mark.timeout(240)]
DATA = Path(__file__).parents[1] / "data" / "dropin"
COUNT = 50
BOTH = ["v1beta1", "v1beta2"]


@dataclasses.dataclass(frozen=True)
class Upgraded:
    """The site after the swap.

    Args:
        applied: of GitOps: what is applied again and again, and the file it lies in.
        before: the applied objects as they were read before the swap.
    """

    site: Site
    old: upgrade.Old
    applied: list[Raw]
    file: str
    before: list[Raw]


@pytest.fixture(scope="module")
def upgraded(bare_site: Site) -> Iterator[Upgraded]:
    upgrade.install_old(bare_site)
    samples = templates.objects(DATA / "every-kind-v1beta1.yaml", "", {})
    old = upgrade.fill(bare_site, samples, COUNT)
    applied = templates.objects(DATA / "every-kind-v1beta1.yaml", bare_site.namespace("gitops"), {})
    file = bare_site.kubectl.file(applied, "gitops.yaml")
    bare_site.kubectl.run("apply", "-f", file)
    before = [bare_site.calls.read(obj).body for obj in applied]
    bare_site.start_webhooks()
    upgrade.swap(bare_site)
    yield Upgraded(bare_site, old, applied, file, before)


def migrator(site: Site, skip: tuple[str, ...] = ()) -> Migrator:
    fence = Fence()
    fence.open()
    return Migrator(site.api.client, fence, skip)


def test_the_old_release_stored_its_own_version(upgraded: Upgraded) -> None:
    assert upgrade.stored_versions(upgraded.site) == {kind.kind: BOTH for kind in kinds.OURS}
    for kind in kinds.OURS:
        found = upgrade.lying(upgraded.site, kind, upgraded.old.namespace)
        assert [obj["apiVersion"] for obj in found] == [kind.at("v1beta1").api_version] * COUNT


def test_b18_every_old_object_is_readable_in_both_versions(upgraded: Upgraded) -> None:
    calls, namespace = upgraded.site.calls, upgraded.old.namespace
    for kind in kinds.OURS:
        for version in BOTH:
            listed = calls.list(kind.at(version), namespace)
            assert listed.code == 200, listed.message
            assert len(listed.body["items"]) == COUNT
            assert {item["apiVersion"] for item in listed.body["items"]} == {kind.at(version).api_version}


def test_b15_applying_the_old_manifest_again_is_allowed_and_changes_no_spec(upgraded: Upgraded) -> None:
    """The stored pool references have no apiGroup and kind, the new definitions put them in on both sides."""
    (template,) = [obj for obj in upgraded.before if obj["kind"] == "Metal3DataTemplate"]
    assert template["spec"]["metaData"]["ipAddressesFromIPPool"] == [{"key": "address", "name": "site-v4"}]
    upgraded.site.kubectl.run("apply", "--validate=strict", "-f", upgraded.file)
    for obj, before in zip(upgraded.applied, upgraded.before, strict=True):
        assert upgraded.site.calls.read(obj).body["metadata"]["generation"] == before["metadata"]["generation"]
        answer = upgraded.site.calls.apply(obj, "kubectl-client-side-apply", force="true", fieldValidation="Strict")
        assert answer.accepted, answer.message
        assert answer.body["metadata"]["generation"] == before["metadata"]["generation"]


def test_b15_an_old_object_takes_labels_and_refuses_a_new_spec(upgraded: Upgraded) -> None:
    (template,) = [obj for obj in upgraded.applied if obj["kind"] == "Metal3DataTemplate"]
    calls = upgraded.site.calls
    for version in BOTH:
        obj = {**template, "apiVersion": f"infrastructure.cluster.x-k8s.io/{version}"}
        assert calls.merge(obj, {"metadata": {"labels": {version: "seen"}}}).accepted
        assert not calls.merge(obj, {"spec": {"metaData": {"strings": [{"key": "a", "value": "b"}]}}}).accepted


def test_without_the_conversion_webhook_a_migration_loses_nothing_and_claims_nothing(upgraded: Upgraded) -> None:
    site = upgraded.site
    before = {kind.kind: upgrade.lying(site, kind, upgraded.old.namespace) for kind in kinds.OURS}
    site.stop_webhooks()
    try:
        failed = migrator(site).turn()
        assert sorted(failed) == sorted(definition_name(kind) for kind in kinds.OURS)
        assert upgrade.stored_versions(site) == {kind.kind: BOTH for kind in kinds.OURS}
        assert {kind.kind: upgrade.lying(site, kind, upgraded.old.namespace) for kind in kinds.OURS} == before
    finally:
        site.start_webhooks()


def test_a_skipped_phase_is_not_run(upgraded: Upgraded) -> None:
    site = upgraded.site
    assert migrator(site, (STORAGE,)).turn() == []
    assert upgrade.stored_versions(site) == {kind.kind: BOTH for kind in kinds.OURS}
    for kind in kinds.OURS:
        definition = {**kinds.CRD.new("", definition_name(kind))}
        answer = site.calls.merge(definition, {"metadata": {"annotations": {ANNOTATION: None}}})
        assert answer.accepted, answer.message


def test_b18_the_controller_moves_all_objects_and_then_says_so(upgraded: Upgraded) -> None:
    """The shipped program, as the shipped service account."""
    site, namespace = upgraded.site, upgraded.old.namespace
    sent = {(obj["kind"], obj["metadata"]["name"]): obj for objects in upgraded.old.objects.values() for obj in objects}
    site.namespace(CONTROLLER_NAMESPACE)
    for obj in rbac.objects():
        site.api.ensure(obj)
    flags = ("--leader-elect=false", "--controllers=crdmigrator", f"--skip-crd-migration-phases={FIELDS}")
    process = ControllerProcess(site.plane.access(site.plane.controller), site.folder, flags)
    process.launch()
    try:
        wanted = {kind.kind: ["v1beta2"] for kind in kinds.OURS}
        net.wait_until("all are migrated", lambda: upgrade.stored_versions(site) == wanted, 200.0)
    finally:
        process.stop()
    for kind in kinds.OURS:
        found = upgrade.lying(site, kind, namespace)
        assert [obj["apiVersion"] for obj in found] == [kind.api_version] * COUNT
        for version in BOTH:
            items = site.calls.list(kind.at(version), namespace).body["items"]
            assert len(items) == COUNT
        old = {item["metadata"]["name"]: item for item in site.calls.list(kind.at("v1beta1"), namespace).body["items"]}
        for name, item in old.items():
            assert lost(sent[kind.kind, name]["spec"], item["spec"]) == []


def test_after_the_migration_the_old_version_may_leave_the_definition(upgraded: Upgraded) -> None:
    """What storedVersions is for: the API server lets v1beta1 go, and all objects are still there."""
    site = upgraded.site
    (kind,) = [kind for kind in kinds.OURS if kind.kind == "Metal3DataClaim"]
    found = site.calls.read(kinds.CRD.new("", definition_name(kind))).body
    found["spec"]["versions"] = [entry for entry in found["spec"]["versions"] if entry["name"] == "v1beta2"]
    answer = site.calls.put(found, dryRun="All")
    assert answer.accepted, answer.message
