"""What is wrong with one field, in the words and the structure of a Kubernetes API server.

Apart from the rules and the schema check, because both speak it: a client sees the same form of answer whether the
schema, a webhook or `capm3 validate` refused the object.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from typing import Any

from capm3_api.model import Raw

REQUIRED = "FieldValueRequired"
INVALID = "FieldValueInvalid"
TYPE_INVALID = "FieldValueTypeInvalid"
NOT_SUPPORTED = "FieldValueNotSupported"
DUPLICATE = "FieldValueDuplicate"
FORBIDDEN = "FieldValueForbidden"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"

_WORDS = {
    REQUIRED: "Required value",
    INVALID: "Invalid value",
    TYPE_INVALID: "Invalid value",
    NOT_SUPPORTED: "Unsupported value",
    DUPLICATE: "Duplicate value",
    FORBIDDEN: "Forbidden",
    TOO_LONG: "Too long",
    TOO_MANY: "Too many",
}
_WITHOUT_VALUE = frozenset({REQUIRED, FORBIDDEN, TOO_LONG})


@dataclasses.dataclass(frozen=True)
class FieldError:
    """One thing that is wrong.

    Args:
        path: JSON path, ``spec.image.url`` or ``spec.links[0].id``; ``""`` is the object itself.
        type: the cause's reason on the wire, one of the constants of this module.
        message: what a status cause carries: ``Invalid value: "x": must be ...``.
        rule: id of a rule that the Go program does not have (see the table of differences); ``""`` for the others.
    """

    path: str
    type: str
    message: str
    rule: str = ""

    def text(self) -> str:
        """Path and message on one line, as the API server joins them."""
        return f"{self.path or '<nil>'}: {self.message}"

    def cause(self) -> Raw:
        """The entry of ``details.causes``."""
        return {"reason": self.type, "message": self.message, "field": self.path or "<nil>"}


SchemaError = FieldError


def make(type_: str, path: str, value: Any = None, detail: str = "", *, rule: str = "") -> FieldError:
    """An error; `value` is printed where Kubernetes prints it for that type."""
    message = _WORDS[type_]
    if type_ not in _WITHOUT_VALUE:
        message += f": {value_text(value)}"
    if detail:
        message += f": {detail}"
    return FieldError(path, type_, message, rule)


def invalid(path: str, value: Any, detail: str, *, rule: str = "") -> FieldError:
    return make(INVALID, path, value, detail, rule=rule)


def required(path: str, detail: str = "", *, rule: str = "") -> FieldError:
    return make(REQUIRED, path, None, detail, rule=rule)


def forbidden(path: str, detail: str, *, rule: str = "") -> FieldError:
    return make(FORBIDDEN, path, None, detail, rule=rule)


def duplicate(path: str, value: Any, *, rule: str = "") -> FieldError:
    return make(DUPLICATE, path, value, rule=rule)


def not_supported(path: str, value: Any, allowed: Sequence[Any]) -> FieldError:
    shown = ", ".join(quote(item if isinstance(item, str) else compact(item)) for item in allowed)
    return make(NOT_SUPPORTED, path, value, f"supported values: {shown}" if allowed else "")


def value_text(value: Any) -> str:
    """A value as it stands in an error."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return compact(value)


def compact(value: Any) -> str:
    """JSON without blanks, with the three characters escaped that Go escapes."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_ESCAPES.update({"\\": "\\\\", '"': '\\"'})


def quote(text: str) -> str:
    """A string between double quotes, escaped as Go's ``%q`` does."""
    return '"' + "".join(_escaped(char) for char in text) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def invalid_status(group: str, kind: str, name: str, errors: Iterable[FieldError]) -> Raw:
    """A ``Status`` with code 422 for an object that is refused, without ``kind`` and ``apiVersion``."""
    found = list(errors)
    texts = list(dict.fromkeys(error.text() for error in found))
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    group_kind = f"{kind}.{group}" if group else kind
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"{group_kind} {quote(name)} is invalid: {joined}",
        "reason": "Invalid",
        "details": {
            "name": name,
            "group": group,
            "kind": kind,
            "causes": [error.cause() for error in found],
        },
        "code": 422,
    }
