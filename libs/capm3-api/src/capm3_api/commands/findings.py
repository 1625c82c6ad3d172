"""What ``capm3 validate`` found, and how it is printed: lines for people and editors, or JSON for programs.

Apart from the checks, so that all of them report in one form.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from capm3_api import meta
from capm3_api.commands.documents import Document

ERROR = "error"
WARNING = "warning"


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing to tell about one document.

    Args:
        severity: `ERROR` refuses the object, `WARNING` does not.
        path: JSON path; ``""`` for the object itself.
        message: what is wrong.
        hint: what to write instead; ``""`` when there is nothing to say.
        line: line in the file.
    """

    severity: str
    path: str
    message: str
    hint: str = ""
    line: int = 0


@dataclasses.dataclass(frozen=True)
class Result:
    """The verdict on one document: ``accepted``, ``refused`` or ``skipped`` (a kind this program knows no schema of)."""

    document: Document
    verdict: str
    findings: tuple[Finding, ...] = ()

    def with_findings(self, more: Sequence[Finding]) -> Result:
        """The result with `more` findings; an error among them refuses the object."""
        found = (*self.findings, *more)
        refused = any(finding.severity == ERROR for finding in found)
        return dataclasses.replace(self, findings=found, verdict="refused" if refused else self.verdict)


def title(document: Document) -> str:
    """Kind and name, as messages call an object."""
    key = meta.key_of(document.raw)
    return f"{document.raw.get('kind') or 'document'} {key.name or '(without a name)'}"


def lines(results: Sequence[Result]) -> list[str]:
    """``file:line: error: Kind name: path: message``, one line a finding, each with its hint below it."""
    printed = []
    for result in results:
        for finding in sorted(result.findings, key=lambda found: found.line):
            where = f"{result.document.file}:{finding.line or result.document.line}"
            path = f"{finding.path}: " if finding.path else ""
            printed.append(f"{where}: {finding.severity}: {title(result.document)}: {path}{finding.message}")
            if finding.hint:
                printed.append(f"    hint: {finding.hint}")
    return printed


def summary(results: Sequence[Result]) -> dict[str, int]:
    """Counts of verdicts and findings."""
    counts = {verdict: sum(result.verdict == verdict for result in results) for verdict in _VERDICTS}
    for severity, name in ((ERROR, "errors"), (WARNING, "warnings")):
        counts[name] = sum(finding.severity == severity for result in results for finding in result.findings)
    return counts


_VERDICTS = ("accepted", "refused", "skipped")


def as_json(results: Sequence[Result]) -> str:
    """The same for programs."""
    return json.dumps({"results": [_json(result) for result in results], "summary": summary(results)}, indent=2) + "\n"


def _json(result: Result) -> dict[str, Any]:
    document = result.document
    key = meta.key_of(document.raw)
    return {
        "file": document.file,
        "document": document.index,
        "line": document.line,
        "apiVersion": document.raw.get("apiVersion"),
        "kind": document.raw.get("kind"),
        "namespace": key.namespace,
        "name": key.name,
        "verdict": result.verdict,
        "findings": [dataclasses.asdict(finding) for finding in result.findings],
    }
