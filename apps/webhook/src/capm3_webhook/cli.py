"""The program ``capm3-webhook``: flags with the Go program's names, logs, signals, exit codes.

Apart from the server, which other programs run without any of this.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import pathlib
import signal
import sys
from collections.abc import Sequence

from capm3_webhook import manifests, server
from capm3_webhook.settings import TLS_VERSIONS, Settings, SettingsError

_DEFAULTS = Settings()
_EPILOG = """\
examples:
  capm3-webhook --webhook-cert-dir /certs
  capm3-webhook --print-configurations capm3-system/capm3-webhook-service --ca-file /certs/ca.crt | kubectl apply -f -

exit codes: 0 stopped by a signal, 1 a setting or certificate can't be used, 2 wrong usage
"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="capm3-webhook",
        description="Admission and conversion webhooks of Cluster API Provider Metal3.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_flags(made)
    made.add_argument(
        "--health-addr", default=_DEFAULTS.health_address, metavar="HOST:PORT",
        help="plain HTTP address of /healthz, /readyz and /metrics (default %(default)s)",
    )  # fmt: skip
    made.add_argument(
        "--logging-format", choices=("text", "json"), default="text", help="form of the log lines (default text)"
    )
    made.add_argument("-v", "--v", type=int, default=0, metavar="LEVEL", help="1 and more also logs debug lines")
    made.add_argument(
        "--print-configurations", metavar="NAMESPACE/SERVICE",
        help="print the webhook configurations for that Service as a YAML stream, then exit",
    )  # fmt: skip
    made.add_argument("--ca-file", type=pathlib.Path, help="CA certificate to put into the printed configurations")
    return made


def add_flags(made: argparse.ArgumentParser) -> None:
    """The flags that the controller's program shares."""
    made.add_argument("--webhook-port", type=int, default=_DEFAULTS.port, help="HTTPS port (default %(default)s)")
    made.add_argument(
        "--webhook-cert-dir", type=pathlib.Path, default=_DEFAULTS.cert_dir, metavar="DIR",
        help="folder with tls.crt and tls.key, taken up again when they change (default %(default)s)",
    )  # fmt: skip
    made.add_argument(
        "--tls-min-version", default=_DEFAULTS.tls_min_version, metavar="VERSION",
        help=f"one of {', '.join(TLS_VERSIONS)} (default %(default)s)",
    )  # fmt: skip
    made.add_argument(
        "--tls-cipher-suites", default="", metavar="SUITE[,SUITE...]",
        help="cipher suites up to TLS 1.2 by Go's names (default: those of OpenSSL)",
    )  # fmt: skip


def settings_of(flags: argparse.Namespace) -> Settings:
    """The settings that the flags ask for.

    Raises:
        SettingsError: when a value can't be used.
    """
    return Settings(
        port=flags.webhook_port,
        cert_dir=flags.webhook_cert_dir,
        tls_min_version=flags.tls_min_version,
        tls_cipher_suites=tuple(name.strip() for name in flags.tls_cipher_suites.split(",") if name.strip()),
        health_address=flags.health_addr,
    )


def main(argv: Sequence[str] | None = None) -> int:
    flags = parser().parse_args(argv)
    _log_to_stderr(flags)
    try:
        if flags.print_configurations:
            sys.stdout.write(_configurations(flags.print_configurations, flags.ca_file))
            return 0
        return asyncio.run(_serve(settings_of(flags)))
    except SettingsError as problem:
        sys.stderr.write(f"capm3-webhook: {problem}\n")
        return 1


def _configurations(service: str, ca_file: pathlib.Path | None) -> str:
    namespace, slash, name = service.partition("/")
    if not slash or not namespace or not name:
        raise SettingsError(f"--print-configurations: {service!r} is not of the form namespace/service")
    try:
        bundle = ca_file.read_bytes() if ca_file else b""
    except OSError as problem:
        raise SettingsError(f"--ca-file {ca_file}: {problem.strerror}") from problem
    return manifests.to_yaml(manifests.configurations(manifests.Service(namespace, name, bundle)))


async def _serve(settings: Settings) -> int:
    made = server.Server(settings)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    logging.getLogger("capm3_webhook").info("serving webhooks on port %s", made.port)
    await made.run(stop)
    logging.getLogger("capm3_webhook").info("stopped")
    return 0


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"ts": self.formatTime(record), "level": record.levelname.lower(), "logger": record.name}
        return json.dumps({**line, "msg": record.getMessage()})


def _log_to_stderr(flags: argparse.Namespace) -> None:
    handler = logging.StreamHandler()
    text = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(_Json() if flags.logging_format == "json" else text)
    logging.basicConfig(level=logging.DEBUG if flags.v else logging.INFO, handlers=[handler], force=True)
    # uvicorn says each start and stop in four lines that add nothing to ours.
    logging.getLogger("uvicorn").setLevel(logging.DEBUG if flags.v else logging.WARNING)
    logging.getLogger("asyncio").setLevel(logging.WARNING)


if __name__ == "__main__":
    raise SystemExit(main())
