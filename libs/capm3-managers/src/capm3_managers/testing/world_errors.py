"""The refusals of an API server, with the texts of the real one, as `ApiError`s.

One place, so that `World`, the embedded server and their tests agree on status, reason and wording.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from capm3_api.meta import Kind

from capm3_managers.ports import ApiError


@dataclasses.dataclass(frozen=True)
class Cause:
    """One entry of ``Status.details.causes``.

    Args:
        reason: ``FieldValueInvalid``, ``FieldValueRequired``, ``FieldValueForbidden``...
        field: JSON path.
    """

    reason: str
    field: str
    message: str


class StatusError(ApiError):
    """An `ApiError` with the details that a Status body carries.

    Args:
        name: of the object it is about.
    """

    def __init__(self, status: int, reason: str, message: str, causes: Sequence[Cause] = (), name: str = "") -> None:
        super().__init__(status, reason, message)
        self.causes = tuple(causes)
        self.name = name


def _resource(kind: Kind) -> str:
    return f"{kind.plural}.{kind.group}" if kind.group else kind.plural


def not_found(kind: Kind, name: str) -> StatusError:
    return StatusError(404, "NotFound", f'{_resource(kind)} "{name}" not found', name=name)


def no_such_path() -> StatusError:
    return StatusError(404, "NotFound", "the server could not find the requested resource")


def already_exists(kind: Kind, name: str) -> StatusError:
    return StatusError(409, "AlreadyExists", f'{_resource(kind)} "{name}" already exists', name=name)


def conflict(kind: Kind, name: str, why: str = "") -> StatusError:
    why = why or "the object has been modified; please apply your changes to the latest version and try again"
    return StatusError(
        409, "Conflict", f'Operation cannot be fulfilled on {_resource(kind)} "{name}": {why}', name=name
    )


def expired(version: int) -> StatusError:
    return StatusError(410, "Expired", f"too old resource version: {version}")


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def forbidden(kind: Kind, name: str, why: str) -> StatusError:
    return StatusError(403, "Forbidden", f'{_resource(kind)} "{name}" is forbidden: {why}', name=name)


def invalid(kind: Kind, name: str, causes: Sequence[Cause]) -> StatusError:
    """A 422 that names every field; the message lists them as the real server does."""
    texts = [f"{cause.field}: {cause.message}" for cause in causes]
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return StatusError(422, "Invalid", f'{kind.group_kind} "{name}" is invalid: {joined}', causes, name)
