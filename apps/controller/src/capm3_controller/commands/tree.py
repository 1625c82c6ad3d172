"""``capm3 tree CLUSTER``: the objects of a cluster as a tree, each with its state and what it waits for.

Apart from `capm3_managers.overview.tree`, which builds it.
"""

from __future__ import annotations

import argparse
import json
import sys

from capm3_api import kinds
from capm3_api.meta import Key
from capm3_managers.overview import objects as looking
from capm3_managers.overview import tree
from capm3_managers.overview.objects import Reading
from capm3_managers.ports import Reader

from capm3_controller.commands import cluster
from capm3_controller.commands.cluster import Refused

HELP = "show the objects of a cluster as a tree, each with its state and what it waits for"

_EPILOG = """\
A ! marks what is not as it should be; 'capm3 explain KIND/NAME' tells why.

exit codes: 0 shown, 2 wrong usage, no such cluster, or the cluster can't be asked
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("cluster", metavar="CLUSTER", help="name of a Cluster")
    cluster.add_arguments(parser)
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="form of the output")


def run(arguments: argparse.Namespace) -> int:
    def work(reader: Reader, namespace: str) -> int:
        return show(reader, arguments.cluster, namespace, as_json=arguments.output == "json")

    return cluster.ask("tree", arguments, work)


def show(reader: Reader, name: str, namespace: str, *, as_json: bool = False) -> int:
    """Prints the tree.

    Raises:
        Refused: there is no such Cluster.
        ApiError: the cluster could not be asked.
    """
    objects = Reading(reader, namespace)
    found = tree.cluster(objects, Key(namespace, name.rpartition("/")[2]))
    if found is None:
        there = ", ".join(looking.name_of(obj) for obj in objects.all(kinds.CLUSTER))
        known = f"there is {there}" if there else "there is none"
        raise Refused(f"no Cluster {name} in namespace {namespace}; {known}. -n names another namespace")
    if as_json:
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in tree.lines(found))
    return 0
