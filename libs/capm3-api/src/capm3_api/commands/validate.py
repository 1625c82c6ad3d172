"""``capm3 validate FILE...``: what an API server with our CRDs and webhooks would say, without one.

Apart from the rules: this puts together schema, defaulting, rules, checks across objects and hints, for files.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from capm3_api import kinds, schemas
from capm3_api.commands import crosscheck, documents, findings, hints
from capm3_api.commands.documents import Document
from capm3_api.commands.findings import ERROR, WARNING, Finding, Result
from capm3_api.model import Raw
from capm3_api.validation import errors, pipeline
from capm3_api.validation.errors import FieldError

HELP = "check manifests as the API server and the webhooks would, without a cluster"

_EPILOG = """\
Each line reads file:line: error|warning: Kind name: path: message; a hint below it says what to write instead.
A warning does not refuse an object. References to objects that are in none of the files are warnings, since they may be
in the cluster; with --complete they are errors.

exit codes: 0 every object would be accepted, 1 at least one would be refused, 2 wrong usage or an unreadable file
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("files", nargs="+", metavar="FILE", help="YAML or JSON, several documents allowed; - is stdin")
    parser.add_argument("-n", "--namespace", default="default", help="for objects that name none (default %(default)s)")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="form of the output")
    parser.add_argument(
        "--complete", action="store_true", help="the files are all there is: dangling references are errors"
    )
    parser.add_argument(
        "--strict", action="store_true", help="unknown fields are errors, as with kubectl --validate=strict"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="errors only, and no summary")


def run(arguments: argparse.Namespace) -> int:
    try:
        results = check(arguments.files, arguments.namespace, complete=arguments.complete, strict=arguments.strict)
    except documents.Unreadable as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    if arguments.output == "json":
        sys.stdout.write(findings.as_json(results))
    else:
        _print(results, quiet=arguments.quiet)
    return 1 if any(result.verdict == "refused" for result in results) else 0


def _print(results: Sequence[Result], *, quiet: bool) -> None:
    shown = [result for result in results if not quiet or result.verdict == "refused"]
    for line in findings.lines(shown):
        sys.stdout.write(f"{line}\n")
    if not quiet:
        counts = findings.summary(results)
        sys.stdout.write(", ".join(f"{count} {name}" for name, count in counts.items()) + "\n")


def check(
    files: Sequence[str], namespace: str = "default", *, complete: bool = False, strict: bool = False
) -> list[Result]:
    """The verdict on every document of the files, in order.

    Raises:
        documents.Unreadable: a file can't be read.
    """
    found = [_placed(document, namespace) for document in documents.read(files)]
    results = [judge(document, strict=strict) for document in found]
    across = crosscheck.check([document for document in found if not document.problem], complete=complete)
    return [
        result.with_findings(across.get((result.document.file, result.document.index, result.document.line), []))
        for result in results
    ]


def _placed(document: Document, namespace: str) -> Document:
    """The document with a namespace, as kubectl would send it."""
    raw = document.raw
    metadata = raw.get("metadata")
    if document.problem or not isinstance(metadata, dict) or metadata.get("namespace") not in (None, ""):
        return document
    placed: Raw = {**raw, "metadata": {**metadata, "namespace": namespace}}
    return Document(document.file, document.index, document.line, placed, document.lines, repeated=document.repeated)


def judge(document: Document, *, strict: bool = False) -> Result:
    """The verdict on one document by itself."""
    if document.problem:
        return Result(document, "refused", (Finding(ERROR, "", document.problem, line=document.line),))
    raw = document.raw
    missing = [name for name in ("apiVersion", "kind") if not isinstance(raw.get(name), str) or not raw[name]]
    if missing:
        problems = tuple(Finding(ERROR, name, "Required value", line=document.line) for name in missing)
        return Result(document, "refused", problems)
    if not _is_known(raw):
        return Result(document, "skipped", tuple(_quiet_ones(document)))
    answer = pipeline.admit(raw)
    found = [_of_error(document, error) for error in answer.errors]
    found += _warnings(document, answer, strict=strict)
    return Result(document, "accepted").with_findings(found)


def _is_known(raw: Raw) -> bool:
    group = pipeline.group(raw)
    return schemas.crd_of(raw["apiVersion"], raw["kind"]) is not None or group == kinds.INFRASTRUCTURE


def _of_error(document: Document, error: FieldError) -> Finding:
    hint = hints.for_error(document.raw, error)
    return Finding(ERROR, error.path, error.message, hint, _line(document, error.path))


def _line(document: Document, path: str) -> int:
    """The line of a path, also when the path is in the words of v1beta2 and the file in those of v1beta1."""
    for old, new in hints.RENAMED.items():
        if path not in document.lines and f".{new}" in path:
            renamed = path.replace(f".{new}", f".{old}")
            if renamed in document.lines:
                return document.line_of(renamed)
    return document.line_of(path)


def _warnings(document: Document, answer: pipeline.Admitted, *, strict: bool) -> list[Finding]:
    schema: Mapping[str, Any] = schemas.of(document.raw["apiVersion"], document.raw["kind"]) or {}
    found = []
    for path in answer.dropped:
        message = f"unknown field {errors.quote(path)}: it is dropped"
        hint = hints.for_lost(schema, document.raw, path)
        found.append(Finding(ERROR if strict else WARNING, path, message, hint, document.line_of(path)))
    for text in answer.warnings:
        deprecated = "is deprecated; use" in text
        path = "apiVersion" if deprecated else text.partition(" ")[0]
        hint = "capm3 convert --to v1beta2 rewrites the file" if deprecated else ""
        found.append(Finding(WARNING, path, text, hint, document.line_of(path)))
    return found + _quiet_ones(document)


def _quiet_ones(document: Document) -> list[Finding]:
    """What an API server would not say at all."""
    found = [
        Finding(WARNING, path, "this key stands twice; the last one counts", line=document.line_of(path))
        for path in document.repeated
    ]
    for path, message, hint in (*hints.for_accepted(document.raw), *hints.for_foreign(document.raw)):
        found.append(Finding(WARNING, path, message, hint, document.line_of(path)))
    return found
