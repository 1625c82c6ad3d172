"""The server over real sockets: TLS, certificates that rotate, readiness, limits, an orderly end."""

from __future__ import annotations

import concurrent.futures
import datetime
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest
import yaml
from capm3_api import kinds
from capm3_webhook import admission, certs, cli, paths, serve, server
from capm3_webhook.metrics import Metrics
from capm3_webhook.settings import Settings, SettingsError, split_address
from capm3_webhook.testing import client
from capm3_webhook.tls import Certificates

VALIDATE = next(hook.path for hook in paths.VALIDATING if hook.kind == kinds.METAL3_MACHINE)
NOW = datetime.datetime.now(datetime.UTC)
REVIEW = json.dumps(
    {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": "u",
            "operation": "CREATE",
            "object": kinds.METAL3_MACHINE.new("a", "x", spec={"customDeploy": {"method": "m"}}),
        },
    }
).encode()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with client.running(tmp_path_factory.mktemp("certs"), body_limit=100_000) as pair:
        yield pair


def get(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as problem:
        return problem.code, problem.read().decode()


def wait_for(condition, what, seconds=15):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not come true within {seconds} s"
        time.sleep(0.02)


def tls(port, context):
    raw = socket.create_connection(("127.0.0.1", port), timeout=5)
    return context.wrap_socket(raw, server_hostname="127.0.0.1")


def presented(port):
    """The certificate that the server shows, as DER."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=5) as raw, context.wrap_socket(raw) as wrapped:
        return wrapped.getpeercert(binary_form=True)


def test_a_review_over_verified_tls_is_answered(running):
    made, context = running
    status, _, body = client.post(made.port, context, VALIDATE, REVIEW)
    assert status == 200 and json.loads(body)["response"]["allowed"] is True


def test_other_paths_on_the_webhook_port_are_not_found(running):
    made, context = running
    for path in ("/healthz", "/metrics", "/validate-nothing", "/"):
        assert client.post(made.port, context, path, b"")[0] == 404


def test_health_checks_name_what_they_check(running):
    made, _ = running
    for path in ("/healthz", "/readyz"):
        assert get(made.server.health_port, path) == (200, "ok")
        assert "[+]webhook ok" in get(made.server.health_port, f"{path}?verbose")[1]


def test_metrics_have_the_go_names(running):
    made, context = running
    client.post(made.port, context, VALIDATE, REVIEW)
    _, text = get(made.server.health_port, "/metrics")
    for name in (
        "controller_runtime_webhook_latency_seconds_bucket",
        "controller_runtime_webhook_requests_total",
        "controller_runtime_webhook_requests_in_flight",
        "controller_runtime_webhook_panics_total",
        "controller_runtime_conversion_webhook_panics_total",
        "certwatcher_read_certificate_total",
        "certwatcher_read_certificate_errors_total",
    ):
        assert f"\n{name}" in text


def test_a_body_over_the_limit_is_answered_and_the_connection_is_not_cut(running):
    made, context = running
    status, _, body = client.post(made.port, context, VALIDATE, b"x" * 5_000_000)
    assert status == 200 and json.loads(body)["response"]["status"]["code"] == 413


def test_many_reviews_at_once_are_all_answered(running):
    made, context = running
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: client.post(made.port, context, VALIDATE, REVIEW)[0], range(64)))
    assert answers == [200] * 64


@pytest.mark.parametrize("raw", [b"", b"\x00" * 100, b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x00\x05hello"])
def test_noise_on_the_port_leaves_the_server_up(running, raw):
    made, context = running
    with socket.create_connection(("127.0.0.1", made.port), timeout=5) as connection:
        connection.sendall(raw)
    assert client.post(made.port, context, VALIDATE, REVIEW)[0] == 200


def test_a_request_that_ends_before_its_body_leaves_the_server_up(running):
    made, context = running
    head = f"POST {VALIDATE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n"
    with tls(made.port, context) as wrapped:
        wrapped.sendall(head.encode() + b'{"half')
    assert client.post(made.port, context, VALIDATE, REVIEW)[0] == 200


def test_a_rotated_certificate_is_taken_up_and_a_bad_pair_keeps_the_old_one(tmp_path):
    with client.running(tmp_path, reload_seconds=0.05) as (made, _):
        before = presented(made.port)
        certs.write_pair(certs.authority(NOW), tmp_path, ["127.0.0.1"], NOW)
        wait_for(lambda: presented(made.port) != before, "the new certificate")
        rotated = presented(made.port)
        good_key = (tmp_path / "tls.key").read_bytes()
        errors = made.server.metrics.registry.get_sample_value
        for broken in (b"no key at all", b""):
            count = errors("certwatcher_read_certificate_errors_total")
            (tmp_path / "tls.key").write_bytes(broken)
            wait_for(lambda seen=count: errors("certwatcher_read_certificate_errors_total") > seen, "a failed reload")
            assert presented(made.port) == rotated
        certs.write_pair(certs.authority(NOW), tmp_path / "other", ["127.0.0.1"], NOW)
        (tmp_path / "tls.key").write_bytes((tmp_path / "other" / "tls.key").read_bytes())
        count = errors("certwatcher_read_certificate_errors_total")
        wait_for(lambda: errors("certwatcher_read_certificate_errors_total") > count, "a pair that does not fit")
        assert presented(made.port) == rotated
        (tmp_path / "tls.key").write_bytes(good_key)
        assert made.not_ready() == ""


def test_a_mounted_secret_that_swaps_its_link_is_taken_up(tmp_path):
    for name in ("one", "two"):
        certs.write_pair(certs.authority(NOW), tmp_path / name, ["127.0.0.1"], NOW)
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    (mounted / "..data").symlink_to(tmp_path / "one")
    for file in ("tls.crt", "tls.key"):
        (mounted / file).symlink_to(pathlib.Path("..data") / file)
    made = Certificates(Settings(cert_dir=mounted), Metrics())
    seen = made._seen
    fresh = mounted / "..new"
    fresh.symlink_to(tmp_path / "two")
    fresh.replace(mounted / "..data")
    assert made.reload() == "" and made._seen != seen


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({}, "No such file"),
        ({"tls.crt": b"x", "tls.key": b"x"}, "not a usable pair"),
        ({"tls.crt": b""}, "No such file"),
    ],
)
def test_a_start_without_a_usable_pair_is_refused_with_the_flag(tmp_path, content, expected):
    for name, data in content.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(SettingsError, match=expected) as problem:
        serve(Settings(host="127.0.0.1", port=0, cert_dir=tmp_path, health_address=""))
    assert "--webhook-cert-dir" in str(problem.value)


def test_a_port_in_use_is_named_and_leaves_nothing_open(tmp_path):
    certs.write_pair(certs.authority(NOW), tmp_path, ["127.0.0.1"], NOW)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match="--webhook-port: cannot listen on"):
            serve(Settings(host="127.0.0.1", port=port, cert_dir=tmp_path, health_address=""))
        with pytest.raises(SettingsError, match="--health-addr: cannot listen"):
            serve(Settings(host="127.0.0.1", port=0, cert_dir=tmp_path, health_address=f"127.0.0.1:{port}"))


@pytest.mark.parametrize(
    ("minimum", "offered", "accepted"),
    [
        ("VersionTLS13", ssl.TLSVersion.TLSv1_2, False),
        ("VersionTLS13", ssl.TLSVersion.TLSv1_3, True),
        ("VersionTLS12", ssl.TLSVersion.TLSv1_2, True),
    ],
)
def test_the_minimum_tls_version_is_kept(tmp_path, minimum, offered, accepted):
    with client.running(tmp_path, tls_min_version=minimum) as (made, context):
        context.maximum_version = offered
        if accepted:
            assert client.post(made.port, context, VALIDATE, REVIEW)[0] == 200
        else:
            with pytest.raises(OSError):
                client.post(made.port, context, VALIDATE, REVIEW)


def test_only_the_named_cipher_suites_are_offered(tmp_path):
    suite = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
    with client.running(tmp_path, tls_cipher_suites=(suite, "TLS_AES_128_GCM_SHA256")) as (made, context):
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with tls(made.port, context) as wrapped:
            assert wrapped.cipher()[0] == "ECDHE-ECDSA-AES256-GCM-SHA384"
        context.set_ciphers("ECDHE-ECDSA-AES128-GCM-SHA256")
        with pytest.raises(OSError):
            client.post(made.port, context, VALIDATE, REVIEW)


@pytest.mark.parametrize(
    ("wrong", "flag"),
    [
        ({"tls_min_version": "VersionTLS09"}, "--tls-min-version"),
        ({"tls_cipher_suites": ("TLS_NONE",)}, "--tls-cipher-suites"),
        ({"port": 70000}, "--webhook-port"),
    ],
)
def test_an_unusable_setting_names_its_flag(wrong, flag):
    with pytest.raises(SettingsError, match=flag):
        Settings(**wrong)


def test_addresses_are_read_with_and_without_host():
    assert split_address(":9440", "--x") == ("", 9440)
    assert split_address("[::1]:1", "--x") == ("::1", 1)
    with pytest.raises(SettingsError, match="--x"):
        split_address("nonsense", "--x")


def test_a_review_under_way_is_answered_when_the_server_stops(tmp_path, monkeypatch):
    started, release = threading.Event(), threading.Event()
    real = admission.answer

    def slow(hook, review):
        if review["request"]["uid"] == "u":
            started.set()
            release.wait(10)
        return real(hook, review)

    monkeypatch.setattr(admission, "answer", slow)
    with client.running(tmp_path) as (made, context), concurrent.futures.ThreadPoolExecutor(2) as pool:
        answer = pool.submit(client.post, made.port, context, VALIDATE, REVIEW)
        assert started.wait(10)
        ending = pool.submit(made.stop)
        wait_for(lambda: made.server.not_ready() == "the webhook server is stopping", "readiness ends first")
        release.set()
        assert json.loads(answer.result(10)[2])["response"]["allowed"] is True
        ending.result(10)
    assert made.not_ready() == "the webhook server has ended"


def _program(folder, *flags):
    command = [sys.executable, "-m", "capm3_webhook", "--webhook-cert-dir", str(folder), *flags]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def test_the_program_becomes_ready_and_ends_cleanly_on_sigterm(tmp_path):
    certs.write_pair(certs.authority(NOW), tmp_path, ["127.0.0.1"], NOW)
    port, health = free_port(), free_port()
    program = _program(
        tmp_path, "--webhook-port", str(port), "--health-addr", f"127.0.0.1:{health}", "--logging-format=json"
    )
    try:

        def is_ready():
            try:
                return get(health, "/readyz")[0] == 200
            except OSError:
                assert program.poll() is None, program.stderr.read()
                return False

        wait_for(is_ready, "readiness", 30)
        os.kill(program.pid, signal.SIGTERM)
        out, err = program.communicate(timeout=15)
    finally:
        program.kill()
    assert program.returncode == 0 and out == ""
    messages = [json.loads(line)["msg"] for line in err.splitlines()]
    assert messages[-1] == "stopped" and "webhooks are ready" in messages


@pytest.mark.parametrize(
    ("flags", "code", "expected"),
    [
        ([], 1, "--webhook-cert-dir"),
        (["--tls-min-version", "SSL3"], 1, "--tls-min-version"),
        (["--nonsense"], 2, "usage:"),
    ],
)
def test_the_program_refuses_unusable_flags_in_one_line(tmp_path, flags, code, expected):
    program = _program(tmp_path, *flags)
    _, err = program.communicate(timeout=30)
    assert program.returncode == code and expected in err and "Traceback" not in err


def test_the_program_prints_configurations_for_a_service(capsys, tmp_path):
    ca_file = tmp_path / "ca.crt"
    ca_file.write_bytes(b"PEM")
    assert cli.main(["--print-configurations", "capm3-system/capm3-webhook-service", "--ca-file", str(ca_file)]) == 0
    mutating, validating = yaml.safe_load_all(capsys.readouterr().out)
    assert mutating["metadata"]["name"] == "capm3-mutating-webhook-configuration"
    assert validating["metadata"]["name"] == "capm3-validating-webhook-configuration"
    assert cli.main(["--print-configurations", "nonsense"]) == 1


def test_the_self_call_tells_what_is_wrong(tmp_path):
    certs.write_pair(certs.authority(NOW), tmp_path, ["127.0.0.1"], NOW)
    made = server.Server(Settings(host="127.0.0.1", port=0, cert_dir=tmp_path, health_address=""))
    assert made.not_ready() == "the webhook server has not started"
    for listener in made._sockets:
        listener.close()
