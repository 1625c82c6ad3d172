"""A real kube-apiserver and etcd start, restart, forget history and end without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from capm3_api import kinds
from capm3_api.meta import Key
from capm3_managers.ports import ALL_NAMESPACES, ApiError
from capm3_testbed import install, net
from capm3_testbed.apiserver import binaries
from capm3_testbed.apiserver.collector import Collector
from capm3_testbed.apiserver.process import ControlPlane
from capm3_testbed.kubeapi import KubeApi

pytestmark = pytest.mark.apiserver


@pytest.fixture(scope="module")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    found = binaries.look()
    if found is None:
        pytest.skip("etcd and kube-apiserver are not here: capm3-testbed binaries")
    folder = tmp_path_factory.mktemp("control-plane")
    plane = ControlPlane(found, folder)
    with plane:
        yield plane


@pytest.fixture
def api(control_plane: ControlPlane) -> Iterator[KubeApi]:
    client = KubeApi(control_plane.access())
    yield client
    client.close()


def test_the_definitions_install_and_are_served(api: KubeApi) -> None:
    install.install(api)
    assert api.list(kinds.METAL3_MACHINE, ALL_NAMESPACES) == []
    assert api.list(kinds.CLUSTER, ALL_NAMESPACES) == []


def test_the_service_account_may_nothing_before_it_has_a_role(control_plane: ControlPlane) -> None:
    client = KubeApi(control_plane.access(control_plane.controller))
    with pytest.raises(ApiError) as caught:
        client.list(kinds.SECRET, "default")
    assert caught.value.status == 403
    client.close()


def test_objects_survive_a_restart(control_plane: ControlPlane, api: KubeApi) -> None:
    api.create(kinds.CONFIG_MAP.new("default", "kept", data={"a": "1"}))
    control_plane.restart()
    kept = api.get(kinds.CONFIG_MAP, Key("default", "kept"))
    assert kept is not None
    assert kept["data"] == {"a": "1"}


def test_a_watch_from_before_a_compaction_gets_a_410(control_plane: ControlPlane, api: KubeApi) -> None:
    old = api.client.list(kinds.CONFIG_MAP, "default")[1]
    for number in range(3):
        api.create(kinds.CONFIG_MAP.new("default", f"later-{number}"))
    control_plane.compact()
    with pytest.raises(ApiError) as caught:
        for _ in api.client.watch(kinds.CONFIG_MAP, "default", old, timeout=10, silence=20):
            pass
    assert caught.value.status == 410


def test_orphans_are_collected_and_others_stay(api: KubeApi) -> None:
    install.install(api)
    pool = api.create(kinds.IP_POOL.new("default", "pool", spec={"namePrefix": "x", "pools": []}))
    ref = {"apiVersion": pool["apiVersion"], "kind": "IPPool", "name": "pool", "uid": pool["metadata"]["uid"]}
    for name, owners in (("owned", [ref]), ("free", [])):
        secret = kinds.SECRET.new("default", name)
        secret["metadata"]["ownerReferences"] = owners
        api.create(secret)
    collector = Collector(api)
    collector.start()
    try:
        api.delete(kinds.IP_POOL, Key("default", "pool"))
        net.wait_until("the orphan is gone", lambda: api.get(kinds.SECRET, Key("default", "owned")) is None, 10)
        assert api.get(kinds.SECRET, Key("default", "free")) is not None
    finally:
        collector.stop()


def test_stopping_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    found = binaries.look()
    if found is None:
        pytest.skip("etcd and kube-apiserver are not here: capm3-testbed binaries")
    with ControlPlane(found, tmp_path / "plane") as plane:
        pids = plane.pids()
        assert len(pids) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not (tmp_path / "plane").exists()
