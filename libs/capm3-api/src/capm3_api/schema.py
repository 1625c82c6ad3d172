"""Structural schemas of CRDs, applied as the API server applies them: `validate`, `prune`, `default`.

Apart from `capm3_api.crdgen`, which makes schemas: this is the reader's side, used by ``capm3 validate`` without a
cluster and by the embedded API server. JSON Schema libraries answer in other words and know nothing of list types,
nullable fields, pruning and ratcheting, so the small dialect that structural schemas are is read here directly.
Rules in CEL (``x-kubernetes-validations``) are not run. Source: behaviour of kube-apiserver 1.36.

The order on the way in is the API server's: `prune`, `drop_nulls` (part of `default`), `default`, webhooks, `validate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capm3_api import schema_lists, schema_meta, schema_prune, schema_values
from capm3_api.model import Raw
from capm3_api.validation.errors import SchemaError

__all__ = ["SchemaError", "default", "prune", "validate", "version_schema"]


def validate(schema: Mapping[str, Any], obj: Raw, old: Raw | None = None) -> list[SchemaError]:
    """Everything the schema has against `obj`; empty when it is valid.

    Args:
        schema: the ``openAPIV3Schema`` of one version.
        obj: the whole object, pruned and defaulted.
        old: the stored object on update. What is unchanged since is then not held against the new object (ratcheting).
    """
    errors = schema_values.check(schema, obj, old)
    errors += schema_meta.embedded(schema, obj)
    if old is None or not schema_lists.check(schema, old):
        errors += schema_lists.check(schema, obj)
    return errors


def prune(schema: Mapping[str, Any], obj: Raw) -> tuple[Raw, list[str]]:
    """A copy without the fields that the schema does not have, and the sorted JSON paths of those fields."""
    return schema_prune.prune(schema, obj)


def default(schema: Mapping[str, Any], obj: Raw) -> Raw:
    """A copy with the schema's defaults; a ``null`` that the schema does not allow is dropped or defaulted."""
    return schema_prune.default(schema, obj)


def version_schema(crd: Mapping[str, Any], version: str) -> Raw | None:
    """The schema of one served version of a CustomResourceDefinition; ``None`` when it does not serve it."""
    for entry in crd.get("spec", {}).get("versions", []):
        if entry.get("name") == version and entry.get("served", True):
            found: Raw = entry.get("schema", {}).get("openAPIV3Schema") or {}
            return found
    return None
