"""Manifests of real people get the verdict of their index from the real API server, and `capm3 validate` says the same."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from capm3_api.commands import findings, validate
from capm3_api.model import Raw
from capm3_testbed.dropin.calls import Answer
from capm3_testbed.dropin.site import Site

pytestmark = [pytest.mark.apiserver, pytest.mark.timeout(240)]
REALWORLD = Path(__file__).parents[3] / "libs" / "capm3-api" / "tests" / "data" / "realworld"
VERDICTS: dict[str, dict[str, Any]] = yaml.safe_load((REALWORLD / "verdicts.yaml").read_text())
_UNKNOWN = re.compile(r'unknown field "([^"]+)"')


def _asked(site: Site, namespace: str, document: Raw) -> Answer:
    """The server's answer to the document, in its own namespace where it names one; nothing is stored."""
    wanted = str(document["metadata"].get("namespace") or namespace)
    site.namespace(wanted)
    placed = {**document, "metadata": {**document["metadata"], "namespace": wanted}}
    return site.calls.create(placed, dryRun="All", fieldValidation="Warn")


def _paths(found: Iterable[findings.Finding], text: str) -> list[str]:
    return sorted(finding.path for finding in found if text in finding.message)


def _server_paths(answer: Answer) -> list[str]:
    """Field paths as ours: the server leaves out the position of an owner reference, and names no field for a version."""
    if answer.code == 404:
        return ["apiVersion"]
    return sorted(field.replace("ownerReferences.uid", "ownerReferences[0].uid") for field in answer.fields)


@pytest.mark.parametrize("name", VERDICTS)
def test_server_and_program_give_the_verdict_of_the_index(name: str, site: Site, namespace: str) -> None:
    results = validate.check([str(REALWORLD / name)])
    expected = VERDICTS[name]
    assert [result.verdict for result in results] == expected["verdicts"]
    refused, dropped, warned = [], [], []
    for result in results:
        if result.verdict == "skipped":
            continue
        answer = _asked(site, namespace, result.document.raw)
        assert ("accepted" if answer.accepted else "refused") == result.verdict, answer.message
        errors = sorted(finding.path for finding in result.findings if finding.severity == findings.ERROR)
        assert _server_paths(answer) == errors, answer.message
        unknown = sorted(match.group(1) for text in answer.warnings for match in _UNKNOWN.finditer(text))
        assert unknown == _paths(result.findings, "it is dropped")
        refused += _server_paths(answer)
        dropped += unknown
        warned += answer.warnings
    assert sorted(refused) == sorted(expected.get("errors", []))
    assert sorted(dropped) == sorted(expected.get("dropped", []))
    deprecated = any(" is deprecated; use infrastructure.cluster.x-k8s.io/v1beta2 " in text for text in warned)
    assert deprecated >= bool(expected.get("deprecated"))


def test_an_old_manifest_is_accepted_once_its_version_is_written_anew(site: Site, namespace: str) -> None:
    text = (REALWORLD / "capm3" / "07-m3mt-v1alpha5-bare-md5.yaml").read_text().replace("v1alpha5", "v1beta1")
    assert _asked(site, namespace, yaml.safe_load(text)).accepted
