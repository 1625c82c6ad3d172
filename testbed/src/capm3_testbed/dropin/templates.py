"""Fills in ``${VARIABLE}`` as clusterctl does, and reads YAML streams of manifests.

Apart from kubectl, which knows no variables. The forms are those of clusterctl's documentation: ``${A}``, and with a
preset ``${A:-x}`` and ``${A:=x}``; a variable without value and preset is an error that names it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import yaml
from capm3_api.model import Raw

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::?[=-]([^}]*))?\}")


class MissingVariablesError(Exception):
    """A template names variables that have neither a value nor a preset."""


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with its variables replaced.

    Raises:
        MissingVariablesError: some have no value.
    """
    missing: list[str] = []

    def value(found: re.Match[str]) -> str:
        name, preset = found.groups()
        if name not in values and preset is None:
            missing.append(name)
        return values.get(name, preset or "")

    filled = _VARIABLE.sub(value, text)
    if missing:
        raise MissingVariablesError(f"no value for {', '.join(sorted(set(missing)))}")
    return filled


def objects(file: Path, namespace: str, values: Mapping[str, str]) -> list[Raw]:
    """The objects of a file, its variables filled in and each one put into the namespace."""
    found = [item for item in yaml.safe_load_all(fill(file.read_text(), values)) if item]
    return [{**item, "metadata": {**item["metadata"], "namespace": namespace}} for item in found]
