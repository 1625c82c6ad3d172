"""The settings of the program: one field a flag, with the flag's default.

Apart from `flags`, which reads a command line into them, so that the testbed builds them without one; apart from
`capm3_managers.settings`, the few that decisions may know.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from capm3_managers.settings import Settings as ManagerSettings


@dataclasses.dataclass(frozen=True)
class Settings:
    """Names and defaults are those of the Go program (behaviour facts on CAPM3, section 7.1) up to `kubeconfig`.

    Times are seconds. Addresses are Go's ``:PORT`` or ``HOST:PORT``; port 0 takes a free one, ``"0"`` none at all.
    """

    leader_elect: bool = False
    leader_elect_lease_duration: float = 15.0
    leader_elect_renew_deadline: float = 10.0
    leader_elect_retry_period: float = 2.0
    namespace: str = ""
    watch_filter: str = ""
    sync_period: float = 600.0
    enable_bmh_name_based_preallocation: bool = False
    clustercache_client_qps: float = 20.0
    clustercache_client_burst: int = 30
    kube_api_qps: float = 20.0
    kube_api_burst: int = 30
    webhook_port: int = 9443
    webhook_cert_dir: str = "/tmp/k8s-webhook-server/serving-certs/"
    health_addr: str = ":9440"
    metal3machine_concurrency: int = 10
    metal3cluster_concurrency: int = 10
    metal3datatemplate_concurrency: int = 10
    metal3data_concurrency: int = 10
    metal3labelsync_concurrency: int = 10
    metal3machinetemplate_concurrency: int = 10
    metal3remediation_concurrency: int = 10
    skip_crd_migration_phases: tuple[str, ...] = ()
    tls_min_version: str = "VersionTLS12"
    tls_cipher_suites: tuple[str, ...] = ()
    tls_curve_preferences: tuple[str, ...] = ()
    diagnostics_address: str = ":8443"
    insecure_diagnostics: bool = False
    logging_format: str = "text"
    v: int = 0
    vmodule: tuple[str, ...] = ()
    log_flush_frequency: float = 5.0
    log_text_split_stream: bool = False
    log_text_info_buffer_size: str = "0"
    log_json_split_stream: bool = False
    log_json_info_buffer_size: str = "0"
    kubeconfig: str = ""

    controllers: tuple[str, ...] = ("*",)
    host_manager: bool = False
    ip_pools: bool = False
    baremetalhost_concurrency: int = 10
    ippool_concurrency: int = 10
    webhooks: bool = False
    leader_elect_namespace: str = ""
    failure_domain_policy: str = "preferred"
    host_power_poll: float = 60.0
    host_error_backoff: float = 5.0
    requeue_after: float = 30.0
    stop_grace: float = 30.0

    def manager(self, environ: Mapping[str, str]) -> ManagerSettings:
        """What decisions may know."""
        return ManagerSettings(
            bmh_name_based_preallocation=self.enable_bmh_name_based_preallocation,
            fast_track=environ.get("CAPM3_FAST_TRACK") == "true",
            required_failure_domain=self.failure_domain_policy == "required",
            host_power_poll_seconds=self.host_power_poll,
            host_error_backoff_seconds=self.host_error_backoff,
            requeue_seconds=self.requeue_after,
        )

    @property
    def openssl_ciphers(self) -> str:
        """The cipher suites up to TLS 1.2 as OpenSSL writes them; ``""`` for the library's own choice."""
        return ":".join(filter(None, map(_openssl, self.tls_cipher_suites)))


def _openssl(suite: str) -> str:
    """``TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`` -> ``ECDHE-RSA-AES128-GCM-SHA256``; those of TLS 1.3 have no choice."""
    exchange, found, cipher = suite.removeprefix("TLS_").partition("_WITH_")
    if not found:
        return ""
    for old, new in (("AES_", "AES"), ("_CBC_SHA", "-SHA"), ("POLY1305_SHA256", "POLY1305"), ("_", "-")):
        cipher = cipher.replace(old, new)
    return cipher if exchange == "RSA" else f"{exchange.replace('_', '-')}-{cipher}"


class SettingsError(Exception):
    """A setting that can't be used; the message names the flag and the mend."""


PHASES = ("StorageVersionMigration", "CleanupManagedFields")
TLS_VERSIONS = ("VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13")
_POSITIVE = (
    "metal3machine_concurrency",
    "metal3cluster_concurrency",
    "metal3datatemplate_concurrency",
    "metal3data_concurrency",
    "metal3labelsync_concurrency",
    "metal3machinetemplate_concurrency",
    "metal3remediation_concurrency",
    "baremetalhost_concurrency",
    "ippool_concurrency",
    "kube_api_burst",
    "clustercache_client_burst",
)
_ALPHA = (
    "log_text_split_stream",
    "log_text_info_buffer_size",
    "log_json_split_stream",
    "log_json_info_buffer_size",
)


def check(settings: Settings) -> None:
    """Refuses values that no part of the program could work with.

    Raises:
        SettingsError: with one line a problem.
    """
    problems = [
        *_choice("tls-min-version", settings.tls_min_version, TLS_VERSIONS),
        *_choice("logging-format", settings.logging_format, ("text", "json")),
        *_choice("failure-domain-policy", settings.failure_domain_policy, ("preferred", "required")),
        *(problem for phase in settings.skip_crd_migration_phases
          for problem in _choice("skip-crd-migration-phases", phase, PHASES)),
    ]  # fmt: skip
    for name in _POSITIVE:
        if getattr(settings, name) < 1:
            problems.append(f"--{_flag(name)}: must be at least 1")
    for name in _ALPHA:
        if getattr(settings, name) != getattr(Settings(), name):
            problems.append(f"--{_flag(name)}: is an alpha feature that can't be enabled; leave it out")
    if settings.vmodule and settings.logging_format == "json":
        problems.append("--vmodule: works with --logging-format=text only; leave one of them out")
    lease, renew = settings.leader_elect_lease_duration, settings.leader_elect_renew_deadline
    if not lease > renew > settings.leader_elect_retry_period > 0:
        problems.append(
            "--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline, "
            "that longer than --leader-elect-retry-period, and that more than 0"
        )
    if problems:
        raise SettingsError("\n".join(problems))


def _choice(flag: str, value: str, allowed: tuple[str, ...]) -> list[str]:
    return [] if value in allowed else [f"--{flag}: {value!r} is not one of {', '.join(allowed)}"]


def _flag(name: str) -> str:
    return name.replace("_", "-")
