"""A CustomResourceDefinition as the strategy of a resource: pruning, defaulting, validation, conversion.

Apart from `registry`, which says what is served where: this decides what happens to an object on its way in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from capm3_api import schema
from capm3_api.meta import Kind
from capm3_api.model import Raw
from capm3_managers.testing import world_errors
from capm3_managers.testing.world_errors import Cause
from capm3_managers.testing.world_types import Definition, Request

from capm3_testbed.embedded.conversion import Converter

_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
_TIME = "1970-01-01T00:00:00Z"


def version_rank(version: str) -> tuple[Any, ...]:
    """Sorts versions as Kubernetes prefers them: v2, v1, v1beta2, v1beta1, v1alpha1, then the rest by name."""
    found = _VERSION.fullmatch(version)
    if not found:
        return (1, version)
    stability = {None: 0, "beta": 1, "alpha": 2}[found[2]]
    return (0, stability, -int(found[1]), -int(found[3] or 0))


def definition(crd: Raw, converter: Converter) -> Definition:
    """The strategy of the resource that a valid CRD describes."""
    spec = crd["spec"]
    storage = next(version for version in spec["versions"] if version.get("storage"))
    kind = Kind(
        spec["group"], storage["name"], spec["names"]["kind"], spec["names"]["plural"], spec["scope"] == "Namespaced"
    )
    schemas = {
        f"{spec['group']}/{v['name']}": (v.get("schema") or {}).get("openAPIV3Schema") or {} for v in spec["versions"]
    }

    def decode(obj: Raw, request: Request) -> Raw:
        found = schemas[request.kind.api_version]
        pruned, unknown = schema.prune(found, obj)
        if unknown:
            report_unknown(unknown, request)
        return schema.default(found, pruned)

    def validate(new: Raw, old: Raw | None, request: Request) -> list[Cause]:
        errors = schema.validate(schemas[request.kind.api_version], new, old)
        return [Cause(error.type, error.path or "<nil>", error.message) for error in errors]

    def convert(objects: Sequence[Raw], api_version: str) -> list[Raw]:
        return converter.convert(crd, objects, api_version)

    return Definition(
        kind,
        status=any("status" in (version.get("subresources") or {}) for version in spec["versions"]),
        decode=decode,
        validate=validate,
        convert=convert,
    )


def established(crd: Raw) -> Raw:
    """The status that the server gives an accepted CRD; stored versions only grow."""
    spec, status = crd["spec"], crd.get("status") or {}
    stored = list(status.get("storedVersions") or [])
    storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
    if storage not in stored:
        stored.append(storage)
    since = (crd.get("metadata") or {}).get("creationTimestamp") or _TIME
    conditions = [
        _condition("NamesAccepted", "NoConflicts", "no conflicts found", since),
        _condition("Established", "InitialNamesAccepted", "the initial names have been accepted", since),
    ]
    names = {"singular": spec["names"]["kind"].lower(), "listKind": f"{spec['names']['kind']}List", **spec["names"]}
    return {**status, "acceptedNames": names, "conditions": conditions, "storedVersions": stored}


def deprecation(crd: Raw, version: Raw) -> str:
    """The warning that clients of a deprecated version get."""
    if not version.get("deprecated"):
        return ""
    spec = crd["spec"]
    text = f"{spec['group']}/{version['name']} {spec['names']['kind']} is deprecated"
    newer = sorted(
        (v["name"] for v in spec["versions"] if v.get("served") and not v.get("deprecated")), key=version_rank
    )
    if newer and version_rank(newer[0]) < version_rank(version["name"]):
        text += f"; use {spec['group']}/{newer[0]} {spec['names']['kind']}"
    return str(version.get("deprecationWarning") or text)


def problems(crd: Raw) -> list[Cause]:
    """Why a CRD could not be served; not all that the real server checks."""
    spec = crd.get("spec") or {}
    names, versions = spec.get("names") or {}, spec.get("versions") or []
    found = [
        Cause("FieldValueRequired", path, "Required value")
        for path, value in (
            ("spec.group", spec.get("group")),
            ("spec.scope", spec.get("scope")),
            ("spec.names.plural", names.get("plural")),
            ("spec.names.kind", names.get("kind")),
            ("spec.versions", versions),
        )
        if not value
    ]
    if found:
        return found
    if sum(bool(version.get("storage")) for version in versions) != 1:
        text = f"Invalid value: {len(versions)} versions: must have exactly one version marked as storage version"
        found.append(Cause("FieldValueInvalid", "spec.versions", text))
    for number, version in enumerate(versions):
        if not (version.get("schema") or {}).get("openAPIV3Schema"):
            path = f"spec.versions[{number}].schema.openAPIV3Schema"
            found.append(Cause("FieldValueRequired", path, "Required value: schemas are required"))
    wanted = f"{names['plural']}.{spec['group']}"
    if _name(crd) != wanted:
        text = f'Invalid value: "{_name(crd)}": must be spec.names.plural+"."+spec.group'
        found.append(Cause("FieldValueInvalid", "metadata.name", text))
    return found


def _name(obj: Raw) -> str:
    return str((obj.get("metadata") or {}).get("name") or "")


def _condition(type_: str, reason: str, message: str, since: str) -> Raw:
    return {"type": type_, "status": "True", "reason": reason, "message": message, "lastTransitionTime": since}


def report_unknown(unknown: Sequence[str], request: Request) -> None:
    """Refuses or warns about fields the schema does not have, as the request asks."""
    texts = [f'unknown field "{path}"' for path in unknown]
    if request.field_validation == "Strict":
        kind = request.kind
        text = f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: strict decoding error: '
        raise world_errors.bad_request(text + ", ".join(texts))
    if request.field_validation != "Ignore":
        request.warnings.extend(text for text in texts if text not in request.warnings)
