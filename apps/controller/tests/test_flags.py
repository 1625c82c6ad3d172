"""Command lines: Go's syntax, the Go program's names and defaults, exit codes and messages."""

from __future__ import annotations

import pytest
from capm3_controller import cli, flags, settings
from capm3_controller.settings import Settings, SettingsError

GO_DEFAULTS = {
    "leader-elect": "false",
    "leader-elect-lease-duration": "15s",
    "leader-elect-renew-deadline": "10s",
    "leader-elect-retry-period": "2s",
    "namespace": "",
    "watch-filter": "",
    "sync-period": "10m0s",
    "enable-bmh-name-based-preallocation": "false",
    "clustercache-client-qps": "20",
    "clustercache-client-burst": "30",
    "kube-api-qps": "20",
    "kube-api-burst": "30",
    "webhook-port": "9443",
    "webhook-cert-dir": "/tmp/k8s-webhook-server/serving-certs/",
    "health-addr": ":9440",
    "metal3machine-concurrency": "10",
    "metal3cluster-concurrency": "10",
    "metal3datatemplate-concurrency": "10",
    "metal3data-concurrency": "10",
    "metal3labelsync-concurrency": "10",
    "metal3machinetemplate-concurrency": "10",
    "metal3remediation-concurrency": "10",
    "tls-min-version": "VersionTLS12",
    "tls-cipher-suites": "",
    "diagnostics-address": ":8443",
    "insecure-diagnostics": "false",
    "logging-format": "text",
    "v": "0",
    "vmodule": "",
    "log-flush-frequency": "5s",
    "log-text-split-stream": "false",
    "log-text-info-buffer-size": "0",
    "log-json-split-stream": "false",
    "log-json-info-buffer-size": "0",
    "kubeconfig": "",
}


def test_every_default_is_the_go_programs():
    assert flags.parse([f"--{name}={value}" for name, value in GO_DEFAULTS.items()]) == Settings()


@pytest.mark.parametrize("name", GO_DEFAULTS)
def test_every_flag_of_the_go_program_is_in_the_help(name):
    assert f"-{name}" in flags.usage("x")


def test_every_flag_sets_a_setting():
    assert {flag.field for flag in flags.FLAGS.values()} == set(Settings.__dataclass_fields__)


@pytest.mark.parametrize(
    ("args", "field", "value"),
    [
        (["--leader-elect"], "leader_elect", True),
        (["-leader-elect"], "leader_elect", True),
        (["--leader-elect=false"], "leader_elect", False),
        (["--leader-elect=T"], "leader_elect", True),
        (["-v=4"], "v", 4),
        (["-v", "4"], "v", 4),
        (["-v4"], "v", 4),
        (["--v=5"], "v", 5),
        (["--sync-period", "1h2m3.5s"], "sync_period", 3723.5),
        (["--sync-period=0"], "sync_period", 0.0),
        (["--sync-period=90s"], "sync_period", 90.0),
        (["--sync-period=1500ms"], "sync_period", 1.5),
        (["-kubeconfig", "/a=b"], "kubeconfig", "/a=b"),
        (["--kubeconfig=/a=b"], "kubeconfig", "/a=b"),
        (["--watch_filter=x"], "watch_filter", "x"),
        (["--tls-cipher-suites=A, B"], "tls_cipher_suites", ("A", "B")),
        (
            ["--skip-crd-migration-phases=A,B", "--skip-crd-migration-phases=C"],
            "skip_crd_migration_phases",
            ("A,B", "C"),
        ),
        (["--kube-api-qps=0.5"], "kube_api_qps", 0.5),
        (["--namespace=a", "--namespace=b"], "namespace", "b"),
    ],
)
def test_gos_forms_are_read(args, field, value):
    assert getattr(flags.parse(args), field) == value


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--nonsense"], "unknown flag: --nonsense"),
        (["--kubeconfig"], "needs an argument"),
        (["--kube-api-burst=x"], "invalid value 'x' for --kube-api-burst"),
        (["--sync-period=10"], "not a duration like 10m0s"),
        (["--sync-period=10m-3s"], "not a duration"),
        (["--leader-elect=maybe"], "not true or false"),
        (["run"], "unexpected argument 'run'"),
        (["--"], "unexpected argument"),
    ],
)
def test_an_unreadable_command_line_ends_with_2_the_help_and_the_reason(args, text, capsys):
    assert cli.main(args) == 2
    error = capsys.readouterr().err
    assert "Usage of capm3-controller" in error
    assert text in error.splitlines()[-1]


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--tls-min-version=TLS12"], "--tls-min-version"),
        (["--logging-format=xml"], "--logging-format"),
        (["--skip-crd-migration-phases=Nonsense"], "--skip-crd-migration-phases"),
        (["--metal3data-concurrency=0"], "--metal3data-concurrency"),
        (["--log-json-split-stream"], "--log-json-split-stream"),
        (["--leader-elect-renew-deadline=20s"], "--leader-elect-lease-duration"),
        (["--vmodule=loop=9", "--logging-format=json"], "--vmodule"),
        (["--vmodule=loop"], "--vmodule"),
        (["--kubeconfig=/does/not/exist"], "/does/not/exist"),
        (["--failure-domain-policy=maybe"], "--failure-domain-policy"),
    ],
)
def test_a_setting_that_can_not_work_ends_with_1_and_names_the_flag(args, text, capsys):
    assert cli.main(args) == 1
    error = capsys.readouterr().err
    assert error.startswith("capm3-controller: can't start: ")
    assert text in error
    assert "Traceback" not in error


def test_help_and_version_end_with_0(capsys):
    assert cli.main(["--help"]) == 0
    assert "(default 10m0s)" in capsys.readouterr().out
    assert cli.main(["--version"]) == 0


def test_all_problems_of_the_settings_are_told_at_once():
    with pytest.raises(SettingsError) as caught:
        settings.check(Settings(tls_min_version="x", logging_format="y", kube_api_burst=0))
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("go", "openssl"),
    [
        ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
        ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
        ("TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"),
        ("TLS_AES_128_GCM_SHA256", ""),
    ],
)
def test_cipher_suites_are_named_as_openssl_knows_them(go, openssl):
    assert Settings(tls_cipher_suites=(go,)).openssl_ciphers == openssl
