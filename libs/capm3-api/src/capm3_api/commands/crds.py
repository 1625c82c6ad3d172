"""``capm3 crds``: prints the CustomResourceDefinitions that ship with the package.

Apart from the shipped manifests, for people who only want the types: ``capm3 crds | kubectl apply --server-side -f -``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

import yaml

from capm3_api import kinds, schemas

HELP = "print the CRDs of this project, ready for kubectl apply"

_GROUPS = {"capm3": kinds.INFRASTRUCTURE, "bmo": kinds.METAL3, "ipam": kinds.METAL3_IPAM}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "exit codes: 0 printed, 2 no CRD of that name"
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="kinds, plurals or short names; none: all of the group"
    )
    parser.add_argument("--group", choices=(*_GROUPS, "all"), default="all", help="only this set (default %(default)s)")
    parser.add_argument("-o", "--output", choices=("yaml", "name"), default="yaml", help="whole objects or their names")


def run(arguments: argparse.Namespace) -> int:
    wanted = [str(name).lower() for name in arguments.names]
    shown = [crd for crd in schemas.crds().values() if _in_group(crd, arguments.group) and _is_named(crd, wanted)]
    unknown = [name for name in wanted if not any(name in _names(crd) for crd in shown)]
    if unknown:
        sys.stderr.write(f"capm3 crds: no CRD of the name {', '.join(unknown)}; 'capm3 crds -o name' lists them\n")
        return 2
    if arguments.output == "name":
        sys.stdout.writelines(f"{crd['metadata']['name']}\n" for crd in shown)
    else:
        yaml.safe_dump_all(shown, sys.stdout, sort_keys=False, explicit_start=True)
    return 0


def _in_group(crd: Mapping[str, Any], group: str) -> bool:
    return group == "all" or crd["spec"]["group"] == _GROUPS[group]


def _is_named(crd: Mapping[str, Any], wanted: list[str]) -> bool:
    return not wanted or any(name in _names(crd) for name in wanted)


def _names(crd: Mapping[str, Any]) -> set[str]:
    names = crd["spec"]["names"]
    short = [str(name) for name in names.get("shortNames", [])]
    return {names["kind"].lower(), names["plural"], names.get("singular", ""), crd["metadata"]["name"], *short}
