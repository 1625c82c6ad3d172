"""Compares conversion with recorded answers of the Go program: agreed, registered or differing.

Apart from the tests, since the same comparison runs on any folder of recordings. A difference is registered when every
part of it is explained by a row of `RULES`; rows go by the rule, not by the case, so that they hold for recordings
nobody has looked at. Answers that are about HTTP only are compared by the tests of the webhook app.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from capm3_api import conversion, v1beta1, v1beta2
from capm3_api.conversion import hub, tidy
from capm3_api.model import Raw

Row = tuple[str, str, str]
"""Case, verdict (``agreed``, ``registered``, ``differing``) and detail."""

Path = tuple[str | int, ...]
ABSENT: Any = object()
_ANNOTATIONS: Path = ("metadata", "annotations")
_ZEROS = ("offset", "prefix", "controlPlane")
_EMPTY_ENUMS = ("checksumType", "format", "bondXmitHashPolicy")


@dataclasses.dataclass(frozen=True)
class Case:
    """One conversion and what came out of it."""

    source: Raw
    to: str
    ours: Raw

    @property
    def kind(self) -> str:
        return str(self.source.get("kind"))


@dataclasses.dataclass(frozen=True)
class Difference:
    path: Path
    theirs: Any
    ours: Any


Explains = Callable[[Case, Difference], bool]


def _empty_enum(case: Case, found: Difference) -> bool:
    left_out = found.ours is ABSENT and found.theirs == ""
    return case.to == hub.OLD and left_out and found.path[-1] in _EMPTY_ENUMS


def _empty_in_list(case: Case, found: Difference) -> bool:
    in_list = any(isinstance(part, int) for part in found.path)
    return case.to == hub.OLD and in_list and found.ours is ABSENT and _means_nothing(found.theirs)


def _means_nothing(value: Any) -> bool:
    return all(map(_means_nothing, value.values())) if isinstance(value, dict) else value in ("", False, None, [])


def _old_data(case: Case, found: Difference) -> bool:
    added = found.theirs is ABSENT and found.path == (*_ANNOTATIONS, hub.OLD_DATA)
    return case.to == hub.NEW and added and _comes_back(case)


def _new_data(case: Case, found: Difference) -> bool:
    added = found.theirs is ABSENT and found.path == (*_ANNOTATIONS, hub.DATA)
    return case.to == hub.OLD and added and not hub.SPOKES[case.kind].always and _comes_back(case)


def _restored(case: Case, found: Difference) -> bool:
    """Not what the source says by itself, which has to be there in any case."""
    text = at(case.source, (*_ANNOTATIONS, hub.DATA))
    if case.to != hub.NEW or found.theirs is not ABSENT or text is ABSENT:
        return False
    restored = at(_loaded(text), found.path) == found.ours
    return bool(restored and at(hub.plain(case.source, "up"), found.path) != found.ours)


def _loaded(text: Any) -> Any:
    """The JSON of an annotation; nothing when it is none."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


def _edited(case: Case, found: Difference) -> bool:
    checksum = found.path[-2:] == ("image", "checksum") and found.theirs is ABSENT
    kept = _loaded(at(case.source, (*_ANNOTATIONS, hub.DATA)))
    without = isinstance(kept, dict) and at(kept, found.path) in (ABSENT, None)
    return case.to == hub.NEW and checksum and without and at(case.source, found.path) == found.ours


def _explicit_zero(case: Case, found: Difference) -> bool:
    """Zero or false that the source writes; the two versions hold failure domains in different shapes."""
    if found.theirs is not ABSENT or found.ours not in (0, False) or found.path[-1] not in _ZEROS:
        return False
    if found.path[-1] != "controlPlane":
        return bool(at(case.source, found.path) == found.ours)
    *outer, entry, key = found.path
    name = at(case.ours, (*outer, entry, "name")) if case.to == hub.NEW else entry
    domains = at(case.source, tuple(outer))
    written = domains.get(name) if isinstance(domains, dict) else _named(domains, name)
    return isinstance(written, dict) and written.get(key) == found.ours


def _named(items: Any, name: Any) -> Any:
    found = items if isinstance(items, list) else []
    return next((item for item in found if isinstance(item, dict) and item.get("name") == name), None)


def _unknown(case: Case, found: Difference) -> bool:
    models = v1beta1.KINDS if case.to == hub.NEW else v1beta2.KINDS
    every, known = (tidy.tidy(models[case.kind], case.source, known_only=only) for only in (False, True))
    carried = found.theirs is ABSENT and at(case.source, found.path) == found.ours
    return carried and at(every, found.path) is not ABSENT and at(known, found.path) is ABSENT


RULES: Mapping[str, tuple[Explains, str]] = {
    "conversion-empty-enums": (_empty_enum, "v1beta1 has no empty texts that its own enums refuse"),
    "conversion-empty-in-lists": (_empty_in_list, "entries of v1beta1 lists have no empty values that nobody wrote"),
    "conversion-old-data": (_old_data, "what v1beta2 cannot hold is kept in an annotation and comes back"),
    "conversion-new-data": (_new_data, "what v1beta1 cannot hold is kept for all kinds and comes back"),
    "conversion-restored": (_restored, "all that the preserved data have comes back, not two fields only"),
    "conversion-edit-wins": (_edited, "a checksum that was set in v1beta1 wins over preserved data without one"),
    "conversion-explicit-zero": (
        _explicit_zero,
        "a zero or false that was written is written in the other version too",
    ),
    "conversion-unknown-fields": (_unknown, "fields that neither version knows survive"),
}
"""Why a difference is meant, by its id in the table of differences."""

_SAME_VERSION = "the library gives a copy; the server refuses it as the Go program does"


def compare(folder: pathlib.Path) -> Iterator[Row]:
    """Compares every recording of a folder."""
    for path in sorted(folder.glob("*.json")):
        for case in json.loads(path.read_text()):
            name = f"{path.stem}/{case['name']}"
            if "request" in case:
                yield from _review(name, case)
            else:
                yield (name, *judge(case["input"], case["to"], case.get("output")))


def judge(source: Raw, to: str, expected: Raw | None) -> tuple[str, str]:
    """Verdict and detail of one conversion; `expected` is ``None`` when the Go program failed."""
    try:
        ours = conversion.convert(source, to)
    except conversion.ConversionError as error:
        return ("agreed", "") if expected is None else ("differing", f"refused: {error}")
    if expected is None:
        return "differing", "converted, although the Go program fails"
    case = Case(source, to.rpartition("/")[2], ours)
    used: dict[str, None] = {}
    for found in differences(_with_annotations(expected), _with_annotations(ours)):
        rule = next((name for name, (explains, _) in RULES.items() if explains(case, found)), None)
        if rule is None:
            where = ".".join(str(part) for part in found.path)
            return "differing", f"{where}: recorded {_shown(found.theirs)}, ours {_shown(found.ours)}"
        used[rule] = None
    return ("registered", ", ".join(used)) if used else ("agreed", "")


def _review(name: str, case: Mapping[str, Any]) -> Iterator[Row]:
    """The objects of one recorded ConversionReview; one that is no review of objects is a matter of the protocol."""
    body = case["response"]["body"]
    asked = case["request"].get("request") if isinstance(case["request"], dict) else None
    if case["response"]["httpStatus"] != 200 or not isinstance(asked, dict) or not isinstance(body, dict):
        return
    objects, wanted = asked.get("objects") or [], str(asked.get("desiredAPIVersion") or "")
    if not isinstance(objects, list) or not all(isinstance(obj, dict) for obj in objects):
        return
    if any(obj.get("apiVersion") == wanted for obj in objects):
        yield name, "registered", _SAME_VERSION
        return
    expected = (body.get("response") or {}).get("convertedObjects")
    if expected is None and objects:
        failed = any(judge(obj, wanted, None)[0] == "agreed" for obj in objects)
        yield name, "agreed" if failed else "differing", "" if failed else "converted, although the Go program fails"
        return
    verdicts = [judge(obj, wanted, output) for obj, output in zip(objects, expected or [], strict=True)]
    worst = max(verdicts, key=lambda item: ("agreed", "registered", "differing").index(item[0]), default=("agreed", ""))
    yield (name, *worst)


def differences(theirs: Any, ours: Any, path: Path = ()) -> Iterator[Difference]:
    """Every place in which two documents differ, as deep as possible, also where only one of them has an object."""
    theirs, ours = _level(theirs, ours), _level(ours, theirs)
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted(theirs.keys() | ours.keys()):
            yield from differences(theirs.get(key, ABSENT), ours.get(key, ABSENT), (*path, key))
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, pair in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(*pair, (*path, index))
    elif theirs != ours or isinstance(theirs, bool) != isinstance(ours, bool):
        yield Difference(path, theirs, ours)


def _level(side: Any, other: Any) -> Any:
    return {} if side is ABSENT and isinstance(other, dict) and other else side


def at(document: Any, path: Path) -> Any:
    """The value at a path, or `ABSENT`."""
    for part in path:
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif isinstance(document, list) and isinstance(part, int) and part < len(document):
            document = document[part]
        else:
            return ABSENT
    return document


def _comes_back(case: Case) -> bool:
    """Whether converting back gives what went in: the reason why there is an annotation at all."""
    other = hub.NEW if case.to == hub.OLD else hub.OLD
    try:
        back = conversion.convert(case.ours, other)
    except conversion.ConversionError:
        return False
    models, soft = (v1beta1.KINDS, True) if other == hub.OLD else (v1beta2.KINDS, False)
    sides = []
    for obj in (back, case.source):
        body = {key: value for key, value in obj.items() if key != "metadata"}
        sides.append(tidy.tidy(models[case.kind], body, soft=soft))
    return sides[0] == sides[1]


def _with_annotations(obj: Raw) -> Raw:
    """So that an annotation which only one side has is a difference of its own."""
    metadata = obj.get("metadata") or {}
    return {**obj, "metadata": {**metadata, "annotations": metadata.get("annotations") or {}}}


def _shown(value: Any) -> str:
    text = "absent" if value is ABSENT else json.dumps(value)
    return text if len(text) <= 200 else text[:197] + "..."
