"""The BMC commands for people: probe, power, boot, media, inventory. They need no Kubernetes.

As ``capm3-bmc`` and ``python -m capm3_hwdrivers`` with this library alone, and as ``capm3 bmc`` in the common frame.
The password comes from the environment, a file or a prompt; never from the command line, which every user can read.
"""

from __future__ import annotations

import argparse
import getpass
import json
import logging
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from capm3_hwdrivers import address, errors, registry
from capm3_hwdrivers.capabilities import Driver
from capm3_hwdrivers.deadline import Limits
from capm3_hwdrivers.model import Access, PowerState

HELP = "look at a server's BMC and drive it: probe, power, boot, media, inventory"
DONE, FAILED, WRONG_USAGE, TRY_AGAIN = 0, 1, 2, 3

_EPILOG = """\
ADDRESS is what stands in BareMetalHost spec.bmc.address, for example
  redfish-virtualmedia://192.0.2.9/redfish/v1/Systems/1
  redfish+http://[2001:db8::9]:8000          (no path: the only system)

The user name is taken from --username or $CAPM3_BMC_USERNAME, the password from --password-file,
$CAPM3_BMC_PASSWORD or a prompt.

Exit codes: 0 done, 1 the BMC refused or can't, 2 wrong usage or address, 3 it may work later (busy, unreachable).
"""

Result = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="bmc_command", metavar="COMMAND", required=True)
    common = _common()

    def add(name: str, text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name, help=text, description=text, parents=[common], epilog=_EPILOG, formatter_class=parser.formatter_class
        )
        made.add_argument("address", metavar="ADDRESS", help="the BMC's address")
        return made

    add("probe", "say whether the BMC can be reached with these credentials, and what it can do")
    power = add("power", "show or change the power")
    power.add_argument("wish", choices=("status", "on", "off"), nargs="?", default="status")
    power.add_argument(
        "--soft", action="store_true", help="ask the operating system to shut down instead of cutting the power"
    )
    power.add_argument("--wait", action="store_true", help="wait until the power is as asked")
    boot = add("boot", "show the boot device, or set the one of the next start")
    boot.add_argument("wish", choices=("show", "cd", "disk", "pxe"), nargs="?", default="show")
    boot.add_argument(
        "--mode", choices=("UEFI", "legacy"), default="", help="firmware mode; default: leave it as it is"
    )
    media = add("media", "show, fill or empty the virtual CD")
    media.add_argument("wish", choices=("show", "insert", "eject"), nargs="?", default="show")
    media.add_argument("url", nargs="?", metavar="URL", help="of the image, for insert")
    add("inventory", "show the hardware, in the shape of BareMetalHost status.hardware")


def run(arguments: argparse.Namespace) -> int:
    """Does it, and returns the exit code."""
    # sushy's own warnings tell what the error below tells better.
    logging.getLogger("sushy").setLevel(logging.CRITICAL)
    try:
        access = _access(arguments)
        driver = registry.connect(access, Limits(total=arguments.timeout, read=min(20.0, arguments.timeout)))
    except (errors.DriverError, _UsageError) as error:
        return _failed(error, arguments)
    try:
        _print(_COMMANDS[arguments.bmc_command](driver, arguments), arguments.output)
    except (errors.DriverError, _UsageError) as error:
        return _failed(error, arguments)
    finally:
        driver.close()
    return DONE


class _UsageError(Exception):
    """Wrong use, in one sentence."""


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    group = common.add_argument_group("connection")
    group.add_argument("-u", "--username", default=os.environ.get("CAPM3_BMC_USERNAME", ""), metavar="NAME")
    group.add_argument(
        "--password-file", metavar="FILE", help="file whose first line is the password; - for standard input"
    )
    group.add_argument("--insecure", action="store_true", help="take any certificate (disableCertificateVerification)")
    group.add_argument("--ca-file", default="", metavar="FILE", help="PEM file with the authorities to trust")
    group.add_argument(
        "--timeout", type=_seconds, default=60.0, metavar="SECONDS", help="for the whole command (default 60)"
    )
    common.add_argument("-o", "--output", choices=("text", "json"), default="text")
    return common


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from 1 to 86400")
    return value


def _access(arguments: argparse.Namespace) -> Access:
    address.parse(arguments.address)
    if arguments.ca_file and not Path(arguments.ca_file).is_file():
        raise _UsageError(f"--ca-file {arguments.ca_file}: no such file")
    return Access(
        address=arguments.address,
        username=arguments.username,
        password=SecretStr(_password(arguments)),
        verify_certificate=not arguments.insecure,
        ca_file=arguments.ca_file,
    )


def _password(arguments: argparse.Namespace) -> str:
    file = arguments.password_file
    if file == "-":
        return sys.stdin.readline().rstrip("\r\n")
    if file:
        try:
            return Path(file).read_text(encoding="utf-8").partition("\n")[0].rstrip("\r")
        except (OSError, UnicodeDecodeError) as error:
            raise _UsageError(f"--password-file {file}: {error}") from None
    if "CAPM3_BMC_PASSWORD" in os.environ:
        return os.environ["CAPM3_BMC_PASSWORD"]
    if not arguments.username:
        return ""
    if sys.stdin.isatty():
        return getpass.getpass(f"Password of {arguments.username} at {arguments.address}: ")
    raise _UsageError("no password: set $CAPM3_BMC_PASSWORD, give --password-file, or run it on a terminal")


def _probe(driver: Driver, arguments: argparse.Namespace) -> Result:
    result: Result = {"address": arguments.address, "power": str(driver.power_state())}
    boot = driver.boot_info()
    result["bootMode"] = boot.mode or "unknown"
    result["bootDevice"] = boot.device or "none set"
    media = driver.media()
    result["virtualMedia"] = "none" if media is None else f"{media.slot} ({media.image or 'empty'})"
    result["liveIso"] = media is not None
    return result


def _power(driver: Driver, arguments: argparse.Namespace) -> Result:
    if arguments.wish != "status":
        driver.set_power(arguments.wish, "soft" if arguments.soft else "hard")
        if arguments.wait:
            _wait(driver, PowerState(arguments.wish), arguments.timeout)
    return {"power": str(driver.power_state())}


def _wait(driver: Driver, wanted: PowerState, seconds: float) -> None:
    end = time.monotonic() + seconds
    while driver.power_state() != wanted:
        if time.monotonic() > end:
            raise errors.Timeout(
                f"the power is not {wanted} after {seconds:g} s; a system that ignores --soft needs a hard off"
            )
        time.sleep(min(1.0, seconds / 10))


def _boot(driver: Driver, arguments: argparse.Namespace) -> Result:
    if arguments.wish != "show":
        driver.boot_once(arguments.wish, arguments.mode)
    info = driver.boot_info()
    return {"device": info.device or "none set", "once": info.once, "mode": info.mode or "unknown"}


def _media(driver: Driver, arguments: argparse.Namespace) -> Result:
    if arguments.wish == "insert":
        if not arguments.url:
            raise _UsageError("media insert needs the URL of an image: capm3-bmc media ADDRESS insert URL")
        driver.insert_media(arguments.url)
    elif arguments.url:
        raise _UsageError(f"media {arguments.wish} takes no URL")
    elif arguments.wish == "eject":
        driver.eject_media()
    media = driver.media()
    if media is None:
        raise errors.NotSupported(
            f"{arguments.address}: the BMC shows no virtual CD; is its licence for virtual media there?"
        )
    return {"slot": media.slot, "image": media.image or "(empty)"}


def _inventory(driver: Driver, arguments: argparse.Namespace) -> Result:
    found = driver.inventory()
    return {"hardware": found.to_hardware(), "notes": list(found.notes)}


_COMMANDS: dict[str, Callable[[Driver, argparse.Namespace], Result]] = {
    "probe": _probe,
    "power": _power,
    "boot": _boot,
    "media": _media,
    "inventory": _inventory,
}


def _print(result: Result, output: str) -> None:
    if output == "json":
        sys.stdout.write(json.dumps(result, indent=2) + "\n")
        return
    for line in _lines(result, ""):
        sys.stdout.write(line + "\n")


def _lines(value: Any, indent: str) -> list[str]:
    lines: list[str] = []
    for key, item in value.items():
        if isinstance(item, dict):
            lines += [f"{indent}{key}:", *_lines(item, indent + "  ")]
        elif isinstance(item, list):
            lines.append(f"{indent}{key}:" if item else f"{indent}{key}: none")
            for one in item:
                inner = _lines(one, "") if isinstance(one, dict) else [str(one)]
                lines += [f"{indent}  {'- ' if not number else '  '}{text}" for number, text in enumerate(inner)]
        else:
            lines.append(f"{indent}{key}: {str(item).lower() if isinstance(item, bool) else item}")
    return lines


def _failed(error: errors.DriverError | _UsageError, arguments: argparse.Namespace) -> int:
    if isinstance(error, _UsageError):
        sys.stderr.write(f"{error}\n")
        return WRONG_USAGE
    if arguments.output == "json":
        shape = {"reason": error.reason, "message": error.message, "transient": error.transient}
        sys.stderr.write(json.dumps({"error": shape}) + "\n")
    else:
        sys.stderr.write(f"{error.reason}: {error.message}\n")
    if isinstance(error, errors.AddressInvalid):
        return WRONG_USAGE
    return TRY_AGAIN if error.transient else FAILED
