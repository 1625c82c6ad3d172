"""``capm3 convert --to VERSION FILE...``: rewrites manifests in another API version.

Apart from `capm3_api.conversion`, which knows objects and not files: what is written here keeps comments, the order of
fields and the style of the text wherever the other version has the same field.
"""

from __future__ import annotations

import argparse
import io
import itertools
import sys
from collections.abc import Mapping
from typing import Any

import ruamel.yaml
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from capm3_api import conversion
from capm3_api.commands import documents, hints
from capm3_api.conversion import hub
from capm3_api.model import Raw
from capm3_api.validation import pipeline

HELP = "rewrite manifests in another API version, keeping comments and order"

VERSIONS = ("v1beta1", "v1beta2")
_NAMES = {**hints.RENAMED, **{new: old for old, new in hints.RENAMED.items()}}


class Refused(Exception):
    """An object that can't be converted; the text says where and why."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "Objects of other kinds are printed as they are. The conversion-data annotation of an object is used and\n"
        "written as the webhook does it; what v1beta2 can't hold (noCloudProvider, 90s for 90) is left out.\n\n"
        "exit codes: 0 converted, 1 an object can't be converted, 2 wrong usage or an unreadable file"
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="YAML, several documents allowed; - is stdin")
    parser.add_argument("--to", required=True, choices=VERSIONS, metavar="VERSION", help="v1beta1 or v1beta2")


def run(arguments: argparse.Namespace) -> int:
    try:
        for name in arguments.files:
            sys.stdout.write(convert_text(documents.text_of(name), arguments.to, name))
    except documents.Unreadable as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    except Refused as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


def convert_text(text: str, to: str, name: str = "-") -> str:
    """A YAML stream with every object of our kinds in the wanted version.

    Raises:
        documents.Unreadable: it is no YAML.
        Refused: an object can't be converted.
    """
    yaml = ruamel.yaml.YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    sequence, offset = _indent_of(text)
    yaml.indent(mapping=2, sequence=sequence, offset=offset)
    try:
        trees = list(yaml.load_all(text))
    except ruamel.yaml.error.YAMLError as problem:
        raise documents.Unreadable(f"{name}: is no valid YAML: {problem}") from problem
    plain = {document.index: document for document in documents.of_text(name, text)}
    for index, tree in enumerate(trees):
        document = plain.get(index)
        if document is not None and isinstance(tree, CommentedMap) and pipeline.is_ours(document.raw):
            _rewrite(tree, document, to)
    out = io.StringIO()
    yaml.explicit_start = len(trees) > 1 or text.lstrip().startswith("---")
    yaml.dump_all(trees, out)
    return out.getvalue()


def _indent_of(text: str) -> tuple[int, int]:
    """Whether lists stand under their key or two further in: (sequence, offset) as ruamel.yaml counts."""
    lines = text.split("\n")
    for before, line in itertools.pairwise(lines):
        if before.rstrip().endswith(":") and line.lstrip().startswith("- "):
            deeper = len(line) - len(line.lstrip()) - (len(before) - len(before.lstrip()))
            return (4, 2) if deeper >= 2 else (2, 0)
    return 2, 0


def _rewrite(tree: CommentedMap, document: documents.Document, to: str) -> None:
    raw = document.raw
    if str(raw.get("apiVersion")).rpartition("/")[2] == to:
        return
    try:
        converted = conversion.convert(raw, to=to)
    except conversion.ConversionError as problem:
        raise Refused(f"{document.file}:{document.line_of(problem.path)}: {problem}") from problem
    converted = without_old_data(converted)
    if "status" not in raw:
        converted = {key: value for key, value in converted.items() if key != "status"}
    _update(tree, raw, converted)


def without_old_data(obj: Raw) -> Raw:
    """Without what the webhook keeps for the way back: a person who rewrites a manifest does not go back."""
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    if hub.OLD_DATA not in annotations:
        return obj
    kept = {name: value for name, value in annotations.items() if name != hub.OLD_DATA}
    metadata = {name: value for name, value in obj["metadata"].items() if name != "annotations"}
    return {**obj, "metadata": {**metadata, **({"annotations": kept} if kept else {})}}


def _update(tree: Any, before: Any, after: Any) -> None:
    """Changes the tree of `before` so that it reads as `after`; what is equal is not touched."""
    if isinstance(tree, CommentedMap) and isinstance(before, Mapping) and isinstance(after, Mapping):
        _update_map(tree, before, after)
    elif isinstance(tree, CommentedSeq) and isinstance(before, list) and isinstance(after, list):
        for index in range(min(len(before), len(after))):
            if before[index] != after[index]:
                _replace(tree, index, before[index], after[index])
        del tree[len(after) :]
        tree.extend(after[len(before) :])


def _update_map(tree: CommentedMap, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    for key in list(tree):
        name = str(key)
        if name not in after:
            other = _NAMES.get(name)
            if other is not None and other in after and other not in before:
                _rename(tree, key, other)
                _replace(tree, other, before.get(name), after[other])
            else:
                del tree[key]
        elif before.get(name) != after[name]:
            _replace(tree, key, before.get(name), after[name])
    for name, value in after.items():
        if name not in tree:
            tree[name] = value


def _rename(tree: CommentedMap, old: Any, new: str) -> None:
    """The key under another name at the same place, with its comments."""
    place = list(tree).index(old)
    comment = tree.ca.items.pop(old, None)
    value = tree.pop(old)
    tree.insert(place, new, value)
    if comment is not None:
        tree.ca.items[new] = comment


def _replace(tree: Any, key: Any, before: Any, after: Any) -> None:
    child = tree[key]
    same_shape = (isinstance(child, CommentedMap) and isinstance(after, Mapping)) or (
        isinstance(child, CommentedSeq) and isinstance(after, list)
    )
    if same_shape:
        _update(child, before, after)
    elif before != after:
        tree[key] = after
