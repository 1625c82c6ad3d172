"""The command line: Go's flag syntax, the Go program's names, and ours, as one table.

Own code instead of argparse, because deployments hold Go's forms (``-v=2``, ``--leader-elect``, ``--sync-period=10m0s``,
``-kubeconfig FILE``) and expect its exit codes.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

from capm3_controller.settings import Settings


class FlagError(Exception):
    """A command line that can't be read; exit code 2."""


@dataclasses.dataclass(frozen=True)
class Flag:
    """Args:
    kind: a key of `_READERS`; ``bool`` needs no value, ``array`` adds up over repetitions.
    """

    name: str
    kind: str
    text: str

    @property
    def field(self) -> str:
        return self.name.replace("-", "_")


GROUPS: tuple[tuple[str, tuple[Flag, ...]], ...] = (
    (
        "Leader election",
        (
            Flag("leader-elect", "bool", "run only while holding the lease controller-leader-election-capm3"),
            Flag("leader-elect-lease-duration", "duration", "how long other candidates wait"),
            Flag("leader-elect-renew-deadline", "duration", "how long the leader goes on without a renewal"),
            Flag("leader-elect-retry-period", "duration", "time between tries"),
        ),
    ),
    (
        "What is managed",
        (
            Flag("namespace", "string", "the only namespace to watch; empty: all"),
            Flag("watch-filter", "string", "only objects whose label cluster.x-k8s.io/watch-filter has this value"),
            Flag("sync-period", "duration", "every object is looked at again after this time"),
            Flag("enable-bmh-name-based-preallocation", "bool", "IPClaims are named after the host"),
            Flag("metal3machine-concurrency", "int", "Metal3Machines worked on at once"),
            Flag("metal3cluster-concurrency", "int", "Metal3Clusters worked on at once"),
            Flag("metal3datatemplate-concurrency", "int", "Metal3DataTemplates worked on at once"),
            Flag("metal3data-concurrency", "int", "Metal3Datas worked on at once"),
            Flag("metal3labelsync-concurrency", "int", "BareMetalHosts whose labels are synced at once"),
            Flag("metal3machinetemplate-concurrency", "int", "Metal3MachineTemplates worked on at once"),
            Flag("metal3remediation-concurrency", "int", "Metal3Remediations worked on at once"),
            Flag("skip-crd-migration-phases", "array", "StorageVersionMigration or CleanupManagedFields; repeatable"),
        ),
    ),
    (
        "Connections",
        (
            Flag("kubeconfig", "string", "kubeconfig file of the management cluster; empty: KUBECONFIG, pod, ~/.kube"),
            Flag("kube-api-qps", "float", "requests a second to the management cluster; 0: no limit"),
            Flag("kube-api-burst", "int", "requests at once to the management cluster"),
            Flag("clustercache-client-qps", "float", "requests a second to each workload cluster; 0: no limit"),
            Flag("clustercache-client-burst", "int", "requests at once to each workload cluster"),
        ),
    ),
    (
        "Ports and TLS",
        (
            Flag("health-addr", "string", "address of /healthz and /readyz"),
            Flag("diagnostics-address", "string", "address of /metrics; 0: none"),
            Flag("insecure-diagnostics", "bool", "serve /metrics in the clear and to everyone"),
            Flag("webhook-port", "int", "port of the webhooks (with --webhooks)"),
            Flag("webhook-cert-dir", "string", "folder with tls.crt and tls.key (with --webhooks)"),
            Flag("tls-min-version", "string", "VersionTLS10 to VersionTLS13"),
            Flag("tls-cipher-suites", "list", "names of cipher suites; empty: the usual ones"),
            Flag("tls-curve-preferences", "list", "accepted for compatibility; the system's choice is used"),
        ),
    ),
    (
        "Logs",
        (
            Flag("logging-format", "string", "text or json"),
            Flag("v", "int", "verbosity; 4: debug, 5: trace"),
            Flag("vmodule", "list", "pattern=N,... : verbosity by file name (text format only)"),
            Flag("log-flush-frequency", "duration", "accepted for compatibility; lines are never held back"),
            Flag("log-text-split-stream", "bool", "alpha of the Go program, can't be enabled"),
            Flag("log-text-info-buffer-size", "string", "alpha of the Go program, can't be enabled"),
            Flag("log-json-split-stream", "bool", "alpha of the Go program, can't be enabled"),
            Flag("log-json-info-buffer-size", "string", "alpha of the Go program, can't be enabled"),
        ),
    ),
    (
        "Not in the Go program",
        (
            Flag("controllers", "list", "which controllers run: *, names, or -name to leave one out of *"),
            Flag("host-manager", "bool", "manage BareMetalHosts here, in place of the Baremetal Operator"),
            Flag("ip-pools", "bool", "serve IPPools here, in place of ip-address-manager"),
            Flag("baremetalhost-concurrency", "int", "BareMetalHosts worked on at once (with --host-manager)"),
            Flag("ippool-concurrency", "int", "IPPools worked on at once (with --ip-pools)"),
            Flag("webhooks", "bool", "serve admission and conversion in this process"),
            Flag("leader-elect-namespace", "string", "namespace of the lease; empty: the pod's, or the kubeconfig's"),
            Flag("failure-domain-policy", "string", "preferred: any domain if the asked one is full; required: wait"),
            Flag("host-power-poll", "duration", "how often a settled host's power is looked at (with --host-manager)"),
            Flag(
                "host-error-backoff",
                "duration",
                "first pause after a BMC error, doubled with each (with --host-manager)",
            ),
            Flag(
                "requeue-after", "duration", "when things are looked at again that no watch reports, Nodes for example"
            ),
            Flag("stop-grace", "duration", "how long passes in work may take after a stop signal"),
        ),
    ),
)
FLAGS = {flag.name: flag for _, flags in GROUPS for flag in flags}
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse(args: Sequence[str]) -> Settings:
    """Reads a command line.

    Raises:
        FlagError: unknown flag, missing or unreadable value, or an argument that is no flag.
    """
    values: dict[str, Any] = {}
    rest = list(args)
    while rest:
        flag, text = _next(rest)
        try:
            value = _READERS[flag.kind](text)
        except ValueError as error:
            raise FlagError(f"invalid value {text!r} for --{flag.name}: {error}") from None
        values[flag.field] = (*values.get(flag.field, ()), *value) if flag.kind == "array" else value
    return Settings(**values)


def usage(program: str) -> str:
    """The help text, flags by group with their defaults."""
    lines = [f"Usage of {program}:"]
    defaults = Settings()
    for title, flags in GROUPS:
        lines += ["", f"{title}:"]
        for flag in flags:
            dashes = "-" if len(flag.name) == 1 else "--"
            kind = "" if flag.kind == "bool" else f" {'strings' if flag.kind in ('list', 'array') else flag.kind}"
            shown = _shown(flag, getattr(defaults, flag.field))
            lines.append(f"  {dashes + flag.name + kind:<48} {flag.text}{shown}")
    return "\n".join(lines) + "\n"


def duration(text: str) -> float:
    """Seconds of Go's ``1h2m3.5s``; ``0`` needs no unit."""
    number, sign = (text[1:], -1.0) if text[:1] == "-" else (text, 1.0)
    if number == "0":
        return 0.0
    parts = re.findall(r"(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)", number)
    if not parts or "".join(a + b for a, b in parts) != number:
        raise ValueError("not a duration like 10m0s")
    return sign * sum(float(value) * _UNITS[unit] for value, unit in parts)


def _next(rest: list[str]) -> tuple[Flag, str]:
    """Takes one flag and its value from the front."""
    argument = rest.pop(0)
    match = re.fullmatch(r"--?([A-Za-z][^=]*)(?:=(.*))?", argument, re.DOTALL)
    if match is None:
        raise FlagError(f"unexpected argument {argument!r}; this program takes flags only")
    name, text = match[1].replace("_", "-"), match[2]
    short = re.fullmatch(r"-v(\d+)", argument)
    if short is not None:
        name, text = "v", short[1]
    flag = FLAGS.get(name)
    if flag is None:
        raise FlagError(f"unknown flag: {argument.partition('=')[0]}")
    if text is not None:
        return flag, text
    if flag.kind == "bool":
        return flag, "true"
    if not rest:
        raise FlagError(f"flag needs an argument: --{name}")
    return flag, rest.pop(0)


def _bool(text: str) -> bool:
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise ValueError("not true or false")


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


_READERS: dict[str, Callable[[str], Any]] = {
    "bool": _bool,
    "int": int,
    "float": float,
    "string": str,
    "duration": duration,
    "list": _list,
    "array": lambda text: (text,),
}


def _shown(flag: Flag, value: Any) -> str:
    if not value and flag.kind != "int":
        return ""
    if flag.kind == "duration":
        return f" (default {_go_duration(value)})"
    text = ",".join(value) if isinstance(value, tuple) else value
    return f" (default {text:g})" if isinstance(text, float) else f" (default {text})"


def _go_duration(seconds: float) -> str:
    hours, rest = divmod(seconds, 3600)
    minutes, rest = divmod(rest, 60)
    text = f"{rest:g}s"
    if hours:
        return f"{hours:g}h{minutes:g}m{text}"
    return f"{minutes:g}m{text}" if minutes else text
