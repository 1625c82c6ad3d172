"""Where the API server is found, and that nothing secret is ever said about it."""

from __future__ import annotations

import os

import pytest
import yaml
from capm3_controller.kube import endpoint
from capm3_controller.kube.endpoint import EndpointError


def config(user=None, **cluster):
    return {
        "current-context": "x",
        "clusters": [{"name": "x", "cluster": {"server": "https://10.0.0.1:6443/", **cluster}}],
        "users": [{"name": "x", "user": user or {"token": "hunter2"}}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x", "namespace": "mine"}}],
    }


def write(path, data):
    path.write_text(yaml.safe_dump(data))
    return str(path)


def test_a_file_gives_url_token_and_namespace(tmp_path):
    found = endpoint.load(write(tmp_path / "k", config()), {})
    assert (found.url, found.authorization(), found.namespace) == ("https://10.0.0.1:6443", "Bearer hunter2", "mine")
    assert found.ssl_context.check_hostname


def test_the_flag_wins_over_the_environment_and_that_over_the_home(tmp_path):
    (tmp_path / ".kube").mkdir()
    write(tmp_path / ".kube" / "config", config({"token": "home"}))
    environ = {"HOME": str(tmp_path)}
    assert endpoint.load(None, environ).authorization() == "Bearer home"
    environ["KUBECONFIG"] = write(tmp_path / "env", config({"token": "env"}))
    assert endpoint.load(None, environ).authorization() == "Bearer env"
    assert endpoint.load(write(tmp_path / "flag", config({"token": "flag"})), environ).authorization() == "Bearer flag"


def test_several_files_in_the_environment_are_merged(tmp_path):
    base = config()
    one = write(tmp_path / "one", {**base, "users": []})
    two = write(tmp_path / "two", {"users": base["users"]})
    assert endpoint.load(None, {"KUBECONFIG": os.pathsep.join((one, two))}).authorization() == "Bearer hunter2"


def test_a_password_is_basic_authentication(tmp_path):
    found = endpoint.load(write(tmp_path / "k", config({"username": "u", "password": "p"})), {})
    assert found.authorization() == "Basic dTpw"


def test_a_rewritten_file_is_read_again_by_renew(tmp_path):
    path = tmp_path / "k"
    found = endpoint.load(write(path, config()), {})
    write(path, config({"token": "new"}))
    assert found.renew().authorization() == "Bearer new"


def test_an_exec_plugin_of_a_file_is_run(tmp_path):
    script = tmp_path / "plugin"
    script.write_text(
        '#!/bin/sh\necho \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'
        '"status":{"token":"from-plugin"}}\'\n'
    )
    script.chmod(0o755)
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(script)}}
    assert endpoint.load(write(tmp_path / "k", config(user)), {}).authorization() == "Bearer from-plugin"


def test_verification_is_off_only_when_the_file_says_so(tmp_path):
    import ssl

    found = endpoint.load(write(tmp_path / "k", config(**{"insecure-skip-tls-verify": True})), {})
    assert found.ssl_context.verify_mode == ssl.CERT_NONE
    found = endpoint.load(write(tmp_path / "k", config()), {})
    assert found.ssl_context.verify_mode == ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("just text", "can't be used"),
        ({}, "can't be used"),
        ({**config(), "current-context": "missing"}, "missing"),
        ({**config(), "clusters": [{"name": "x", "cluster": {}}]}, "clusters[].cluster.server"),
        (config(**{"certificate-authority-data": "aHVudGVyMg=="}), "certificates"),
    ],
)
def test_a_broken_file_is_named_and_not_repeated(tmp_path, data, text):
    with pytest.raises(EndpointError) as caught:
        endpoint.load(write(tmp_path / "k", data), {})
    assert text in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_nothing_configured_says_what_to_give():
    with pytest.raises(EndpointError, match="--kubeconfig=FILE"):
        endpoint.load(None, {"HOME": "/nonexistent"})


def test_a_token_is_looked_for_again_after_a_short_time_and_not_for_every_request():
    tokens, now = iter(["one", "two"]), [0.0]
    current = endpoint.remembered(lambda: next(tokens), 10.0, lambda: now[0])
    assert [current(), current()] == ["one", "one"]
    now[0] = 10.0
    assert current() == "two"
