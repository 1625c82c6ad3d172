"""Compares rendering with recorded runs of the Go programs: agreed, registered or differing.

Apart from the tests, since the same comparison runs on any folder of recordings. Compared are the texts of the rendered
Secrets, the error messages, and whether the data became ready. A difference is registered when a rule explains all of it;
rules go by what a case uses, not by its name, so that they hold for recordings nobody has looked at.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib

from capm3_api.model import Raw

from capm3_managers.testing import rendering_rules, rendering_run
from capm3_managers.testing.rendering_run import Result

Row = tuple[str, str, str]
"""``group/case``, verdict (``agreed``, ``registered``, ``differing``) and detail; see `identity`."""


def compare(folder: pathlib.Path) -> list[Row]:
    """Every case of a folder laid out like the recorded ``rendering``; a case that breaks ours is a difference."""
    rows: list[Row] = []
    for path in sorted(folder.glob("*.json")):
        try:
            rows.append(judge(json.loads(path.read_text(encoding="utf-8"))))
        except Exception as error:
            rows.append((identity(path.stem), "differing", f"failed: {error!r}"))
    return rows


def identity(name: str) -> str:
    """A case with its group, the first word of its name: ``meta/meta-strings``."""
    return f"{name.partition('-')[0]}/{name}"


def judge(raw: Raw) -> Row:
    """One case."""
    case = rendering_run.case_of(raw)
    ours, theirs = rendering_run.run(case), rendering_run.recorded(case)
    if ours == theirs:
        return identity(case.name), "agreed", theirs.outcome
    reasons = [reason for rule in rendering_rules.RULES if (reason := rule(case, ours, theirs))]
    if reasons:
        return identity(case.name), "registered", reasons[0]
    return identity(case.name), "differing", _difference(ours, theirs)


def _difference(ours: Result, theirs: Result) -> str:
    for field in dataclasses.fields(Result):
        one, other = getattr(ours, field.name), getattr(theirs, field.name)
        if field.compare and one != other:
            return f"{field.name}: ours {one!r}, theirs {other!r}"
    return ""
