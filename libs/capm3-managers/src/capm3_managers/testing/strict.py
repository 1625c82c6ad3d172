"""Makes a `World` judge writes by the shipped CRDs: unknown fields are pruned, defaults filled in, bad values refused.

Apart from `World`, which serves any kind without schemas: with this, a manager that writes what no API server would take
fails in its own tests.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from capm3_api import schema, schemas
from capm3_api.meta import Kind
from capm3_api.model import Raw

from capm3_managers.ports import ApiError
from capm3_managers.testing.world import World
from capm3_managers.testing.world_errors import Cause
from capm3_managers.testing.world_types import Request


def install(world: World) -> World:
    """Registers a definition for every shipped CRD; answers the same world."""
    for (group, kind), crd in schemas.crds().items():
        spec = crd["spec"]
        stored = next(entry["name"] for entry in spec["versions"] if entry.get("storage"))
        served = Kind(group, stored, kind, spec["names"]["plural"])
        definition = world.definition(served)
        world.register(dataclasses.replace(definition, kind=served, decode=_decode(crd), validate=_validate(crd)))
    return world


def _decode(crd: Mapping[str, Any]) -> Callable[[Raw, Request], Raw]:
    def decode(obj: Raw, request: Request) -> Raw:
        found = schema.version_schema(crd, request.kind.version)
        if found is None:
            return obj
        pruned, unknown = schema.prune(found, obj)
        if unknown:
            raise ApiError(400, "BadRequest", f"unknown fields: {', '.join(unknown)}")
        return schema.default(found, pruned)

    return decode


def _validate(crd: Mapping[str, Any]) -> Callable[[Raw, Raw | None, Request], Sequence[Cause]]:
    def validate(new: Raw, old: Raw | None, request: Request) -> list[Cause]:
        found = schema.version_schema(crd, request.kind.version)
        errors = schema.validate(found, new, old) if found is not None else []
        return [Cause(error.type, error.path, error.message) for error in errors]

    return validate
