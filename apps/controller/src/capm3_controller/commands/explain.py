"""``capm3 explain KIND/NAME``: why it waits, followed to the root cause, and what to do about it.

Apart from `capm3_managers.overview.chain`, which finds the chain: this finds the object, and prints.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.overview import chain
from capm3_managers.overview import objects as looking
from capm3_managers.overview.chain import Link
from capm3_managers.overview.objects import Reading
from capm3_managers.ports import Reader

from capm3_controller.commands import cluster
from capm3_controller.commands.cluster import Refused

HELP = "say why a machine, cluster, host or data waits, and what to do about it"

WORDS: dict[str, Kind] = {
    "ma": kinds.MACHINE,
    "m3m": kinds.METAL3_MACHINE,
    "cl": kinds.CLUSTER,
    "m3c": kinds.METAL3_CLUSTER,
    "bmh": kinds.BARE_METAL_HOST,
    "host": kinds.BARE_METAL_HOST,
    "data": kinds.METAL3_DATA,
    "m3d": kinds.METAL3_DATA,
    "m3dc": kinds.METAL3_DATA_CLAIM,
    "md": kinds.MACHINE_DEPLOYMENT,
    "ms": kinds.MACHINE_SET,
    "kcp": kinds.KUBEADM_CONTROL_PLANE,
    "ipc": kinds.IP_CLAIM,
}
"""Short words for kinds, besides their names and plurals; in this order a NAME alone is looked for."""

_EPILOG = f"""\
NAME alone is looked for as Machine, Metal3Machine, Cluster, Metal3Cluster, BareMetalHost, Metal3Data and so on.
KIND is a kind's name in any case, its plural, or one of {", ".join(WORDS)}.

The answer goes from the object to the root cause; below it stands what to do:
  Machine/m1: InfrastructureReady is False: ...
  └─ Metal3Machine/m1: AssociateBareMetalHost is False (AssociateBareMetalHostFailed): no available host found ...
  what to do: ...

exit codes: 0 it waits for nothing, 1 it waits, 2 wrong usage, no such object, or the cluster can't be asked
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("object", metavar="KIND/NAME", help="or NAME")
    cluster.add_arguments(parser)
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="form of the output")


def run(arguments: argparse.Namespace) -> int:
    def work(reader: Reader, namespace: str) -> int:
        return explain(reader, arguments.object, namespace, as_json=arguments.output == "json")

    return cluster.ask("explain", arguments, work)


def explain(reader: Reader, asked: str, namespace: str, *, as_json: bool = False) -> int:
    """Prints the answer; returns 1 when the object waits, else 0.

    Raises:
        Refused: there is no such object or kind.
        ApiError: the cluster could not be asked.
    """
    objects = Reading(reader, namespace)
    kind, obj = _find(objects, asked, namespace)
    found = chain.explain(objects, kind, obj)
    if as_json:
        links = [link.data() for link in found]
        sys.stdout.write(json.dumps({"waits": bool(found), "chain": links}, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(found))
        if not found:
            sys.stdout.write(f"{kind.kind}/{looking.name_of(obj)} waits for nothing\n")
    return 1 if found else 0


def _find(objects: Reading, asked: str, namespace: str) -> tuple[Kind, Raw]:
    word, slash, name = asked.rpartition("/")
    if not name or (slash and not word):
        raise Refused(f"{asked!r} is not of the form KIND/NAME or NAME")
    candidates = [_kind(word)] if word else list(dict.fromkeys(WORDS.values()))
    for kind in candidates:
        obj = objects.get(kind, Key(namespace, name))
        if obj is not None:
            return kind, obj
    if not word:
        raise Refused(f"nothing in namespace {namespace} has the name {name}; -n names another namespace")
    there = [meta.key_of(obj).name for obj in objects.all(candidates[0])]
    known = f"there are {', '.join(there[:10])}" if there else "there is none"
    raise Refused(f"no {candidates[0].kind} {name} in namespace {namespace}; {known}. -n names another namespace")


def _kind(word: str) -> Kind:
    plain = word.lower().partition(".")[0]
    for short, kind in WORDS.items():
        if plain in (short, kind.kind.lower(), kind.plural):
            return kind
    raise Refused(
        f"kind {word} can't be explained; those that can are {', '.join(sorted({k.kind for k in WORDS.values()}))}"
    )


def _lines(found: Sequence[Link]) -> Iterator[str]:
    for depth, link in enumerate(found):
        last = depth == len(found) - 1
        text = link.finding.message if last else looking.line(link.finding.message)
        since = f" [since {link.finding.since}]" if link.finding.since else ""
        head = f"{'   ' * (depth - 1)}└─ " if depth else ""
        told = f"{link.finding.what}: {text}" if text else link.finding.what
        yield f"{head}{link.kind.kind}/{link.key.name}: {told}{since}"
    remedy = next((link.finding.remedy for link in reversed(found) if link.finding.remedy), "")
    if remedy:
        yield f"what to do: {remedy}"
