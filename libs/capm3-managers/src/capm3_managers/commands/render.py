"""``capm3 render FILE...``: what a Metal3DataTemplate gives a machine, and which hosts it does not fit; without a cluster.

Apart from `capm3_managers.data.preview`, which knows objects and not files: this finds out which objects belong together,
and prints.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from typing import Any

from capm3_api import kinds, meta, names
from capm3_api.commands import documents
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers import hosts, owners
from capm3_managers.commands import pooladdresses, site
from capm3_managers.commands.site import Site, WrongUsage
from capm3_managers.data import preview
from capm3_managers.data.objects import Objects
from capm3_managers.data.preview import Preview

HELP = "show what a data template renders for a machine or host, or check it against all hosts, without a cluster"

_EPILOG = """\
FILEs hold the Metal3DataTemplate, the BareMetalHosts and, if wanted, Machines, Metal3Machines, IPPools and HardwareData,
as written for or read from a cluster (kubectl get ... -o yaml), in any version.

Without --machine and --host every template is tried on every host of its namespace, a line each:
  h1: ok
  h2: HostInterfaceNotFound: the template asks for interface eth9; BareMetalHost h2 has eth0 (...)
With one of them metaData and networkData are printed for it. What is not in the files is stood in for: a Machine by one
without labels and annotations, an address by the one at place --index of the IPPool in the files.

exit codes: 0 rendered, or fits every host; 1 can't be rendered, or does not fit a host; 2 wrong usage or an unreadable file
"""


@dataclasses.dataclass(frozen=True)
class Case:
    """One template for one machine on one host."""

    template: Raw
    around: Objects

    @property
    def namespace(self) -> str:
        return meta.key_of(self.template).namespace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("files", nargs="+", metavar="FILE", help="YAML or JSON, several documents allowed; - is stdin")
    parser.add_argument("--machine", metavar="NAME", default="", help="render for this Machine or Metal3Machine")
    parser.add_argument("--host", metavar="NAME", default="", help="render for this BareMetalHost")
    parser.add_argument("--template", metavar="NAME", default="", help="use this Metal3DataTemplate of several")
    parser.add_argument("--index", type=int, default=0, metavar="N", help="index of the data (default %(default)s)")
    parser.add_argument(
        "--address", action="append", default=[], metavar=pooladdresses.FORM, help="the address from a pool; repeatable"
    )
    parser.add_argument("-n", "--namespace", default="default", help="for objects that name none (default %(default)s)")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="form of the output")


def run(arguments: argparse.Namespace) -> int:
    try:
        if arguments.index < 0:
            raise WrongUsage("--index: must not be negative")
        found = site.read(arguments.files, arguments.namespace)
        if arguments.machine or arguments.host:
            return _render(found, arguments)
        return _check(found, arguments)
    except (documents.Unreadable, WrongUsage) as problem:
        sys.stderr.write(f"capm3 render: {problem}\n")
        return 2


def _render(found: Site, arguments: argparse.Namespace) -> int:
    case = _case(found, arguments)
    given = pooladdresses.parse(arguments.address)
    wanted = pooladdresses.wanted(case.template, case.around)
    addresses = pooladdresses.known(found, wanted, case.namespace, arguments.index, given)
    missing = [pool.name for pool in wanted if pool.name not in addresses]
    if missing:
        form = pooladdresses.FORM.replace("POOL", missing[0])
        raise WrongUsage(
            f"no address of pool {', '.join(missing)} is known; give --address {form} or a file with the IPPool"
        )
    shown = preview.of(case.template, case.around, index=arguments.index, addresses=addresses)
    if arguments.output == "json":
        sys.stdout.write(json.dumps(_data(case, shown, arguments.index), indent=2, ensure_ascii=False) + "\n")
    elif not shown.error:
        _print(case, shown, arguments.index)
    if shown.report is not None:
        sys.stderr.write(f"{_name(case.around.host)}: {shown.report.reason}: {shown.report.message}\n")
    return 1 if shown.error else 0


def _print(case: Case, shown: Preview, index: int) -> None:
    """A YAML stream of the documents."""
    for number, (part, text) in enumerate(shown.texts.items()):
        machine, host = _name(case.around.machine), _name(case.around.host)
        head = f"# {part} of Machine {machine} on BareMetalHost {host}, index {index}\n"
        sys.stdout.write(("---\n" if number else "") + head + text.rstrip("\n") + "\n")
    if not shown.texts:
        sys.stderr.write(f"Metal3DataTemplate {_name(case.template)} has neither spec.metaData nor spec.networkData\n")


def _data(case: Case, shown: Preview, index: int) -> Raw:
    return {
        "template": str(meta.key_of(case.template)),
        "machine": _name(case.around.machine),
        "host": _name(case.around.host),
        "index": index,
        "error": dataclasses.asdict(shown.report) if shown.report is not None else None,
        **shown.texts,
    }


def _case(found: Site, arguments: argparse.Namespace) -> Case:
    """Which objects belong together.

    Raises:
        WrongUsage: it can't be said from these files.
    """
    if not arguments.machine:
        host = found.only(kinds.BARE_METAL_HOST, arguments.host, "--host")
        around = _on(found, host)
    else:
        machine, metal3machine = _machines(found, arguments.machine)
        if not (machine or metal3machine or arguments.host):
            raise WrongUsage(
                f"--machine: no Machine or Metal3Machine {arguments.machine} in the files; add --host NAME to render for a "
                "machine of that name without labels and annotations"
            )
        host = _host(found, metal3machine or {}, arguments)
        around = _around(found, machine, metal3machine, host, arguments.machine)
    return Case(_template(found, around, arguments.template), around)


def _machines(found: Site, name: str) -> tuple[Raw | None, Raw | None]:
    """Machine and Metal3Machine; the name is that of either."""
    machine, metal3machine = found.named(kinds.MACHINE, name), found.named(kinds.METAL3_MACHINE, name)
    if machine is not None:
        target = hosts.text(machine, "spec", "infrastructureRef", "name")
        metal3machine = found.get(kinds.METAL3_MACHINE, Key(meta.key_of(machine).namespace, target)) or metal3machine
    elif metal3machine is not None:
        key = owners.owner_key(metal3machine, kinds.MACHINE)
        machine = found.get(kinds.MACHINE, key) if key else None
    return machine, metal3machine


def _host(found: Site, metal3machine: Raw, arguments: argparse.Namespace) -> Raw:
    if arguments.host:
        return found.only(kinds.BARE_METAL_HOST, arguments.host, "--host")
    key = meta.key_of(metal3machine)
    marked = str(hosts.marks(metal3machine).get(names.HOST_ANNOTATION) or "").rpartition("/")[2]
    held = found.get(kinds.BARE_METAL_HOST, Key(key.namespace, marked))
    held = held or next(
        (host for host in found.all(kinds.BARE_METAL_HOST) if hosts.is_consumed_by(host, metal3machine)), None
    )
    if held is None:
        raise WrongUsage(
            f"--machine: no host of {arguments.machine} in the files; add --host NAME "
            f"({site.listed(kinds.BARE_METAL_HOST, found.hosts())})"
        )
    return held


def _on(found: Site, host: Raw) -> Objects:
    """A host with the machine that holds it, else with a stand-in of the host's name."""
    held = next((item for item in found.all(kinds.METAL3_MACHINE) if hosts.is_consumed_by(host, item)), None)
    machine, _ = _machines(found, meta.key_of(held).name) if held is not None else (None, None)
    return _around(found, machine, held, host, _name(host))


def _around(found: Site, machine: Raw | None, metal3machine: Raw | None, host: Raw, name: str) -> Objects:
    namespace = meta.key_of(host).namespace
    return Objects(
        machine or kinds.MACHINE.new(namespace, name),
        metal3machine or kinds.METAL3_MACHINE.new(namespace, name),
        found.with_hardware(host),
    )


def _template(found: Site, around: Objects, name: str) -> Raw:
    """The template that was named, that the machine names, or the only one."""
    if name:
        return found.only(kinds.METAL3_DATA_TEMPLATE, name, "--template")
    named = hosts.text(around.metal3machine, "spec", "dataTemplate", "name")
    if named:
        return found.only(kinds.METAL3_DATA_TEMPLATE, named, "spec.dataTemplate.name")
    candidates = found.all(kinds.METAL3_DATA_TEMPLATE, meta.key_of(around.host).namespace)
    if len(candidates) != 1:
        there = site.listed(kinds.METAL3_DATA_TEMPLATE, candidates)
        raise WrongUsage(f"which Metal3DataTemplate is not clear; give --template NAME ({there})")
    return candidates[0]


def _check(found: Site, arguments: argparse.Namespace) -> int:
    templates = found.all(kinds.METAL3_DATA_TEMPLATE)
    if arguments.template:
        templates = [found.only(kinds.METAL3_DATA_TEMPLATE, arguments.template, "--template")]
    cases = [Case(item, _on(found, host)) for item in templates for host in found.hosts(meta.key_of(item).namespace)]
    if not cases:
        wrong = (
            "no Metal3DataTemplate" if not templates else "no BareMetalHost in the namespace of a Metal3DataTemplate"
        )
        raise WrongUsage(f"{wrong} in the files; -n gives a namespace to objects that name none")
    given = pooladdresses.parse(arguments.address)
    rows = [
        _row(case, {**pooladdresses.made_up(case.template, case.around), **given}, arguments.index) for case in cases
    ]
    if arguments.output == "json":
        sys.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    else:
        _print_rows(rows)
    return 0 if all(row["ok"] for row in rows) else 1


def _row(case: Case, addresses: dict[str, Any], index: int) -> Raw:
    shown = preview.of(case.template, case.around, index=index, addresses=addresses)
    first = [shown.report.message] if shown.report is not None else []
    messages = list(dict.fromkeys([*first, *preview.check(case.template, case.around.host)]))
    return {
        "template": str(meta.key_of(case.template)),
        "host": _name(case.around.host),
        "ok": not messages,
        "reason": shown.report.reason if shown.report is not None else "",
        "messages": messages,
    }


def _print_rows(rows: Sequence[Raw]) -> None:
    for template in dict.fromkeys(str(row["template"]) for row in rows):
        sys.stdout.write(f"Metal3DataTemplate {template}\n")
        for row in rows:
            if row["template"] == template:
                told = "ok" if row["ok"] else f"{row['reason']}: {'; '.join(row['messages'])}"
                sys.stdout.write(f"  {row['host']}: {told}\n")
    good = sum(1 for row in rows if row["ok"])
    sys.stdout.write(f"{good} ok, {len(rows) - good} not\n")


def _name(obj: Raw) -> str:
    return meta.key_of(obj).name
