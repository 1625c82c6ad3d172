"""What vendors' BMCs answer that means something else than it says: tables and pure readers of error bodies.

One place, so that a new vendor's oddity is a row here and not a branch in a driver.
"""

from __future__ import annotations

import dataclasses
import email.utils
import re
from collections.abc import Iterator, Mapping
from typing import Any

BUSY_CODES = (
    (r"IDRAC\.[\d.]+\.SYS518", "iDRAC is applying the previous operation"),
    (r"IDRAC\.[\d.]+\.SYS431", "iDRAC runs an import or export"),
    (r"IDRAC\.[\d.]+\.RAC0508", "an iDRAC provider is not ready"),
    (r"IDRAC\.[\d.]+\.SYS403", "an iDRAC resource is locked for the moment"),
    (r"iLO\.[\d.]+\.InvalidOperationForSystemState", "iLO is in POST or still busy with the previous operation"),
    (r"iLO\.[\d.]+\.ResourceInUse", "iLO uses the resource"),
    (r"Base\.[\d.]+\.ServiceTemporarilyUnavailable", "the service is unavailable for the moment"),
    (r"Base\.[\d.]+\.ServiceInUnknownState", "the service is starting"),
    (r"Base\.[\d.]+\.ServiceShuttingDown", "the service is shutting down"),
    (r"Base\.[\d.]+\.ResourceInUse", "the resource is in use"),
    (r"Base\.[\d.]+\.ResourceInStandby", "the resource is in standby"),
)
"""Message ids that mean "later", in bodies of any status from 400 on, and what to call them."""

BUSY_STATUS = {429: "too many requests", 503: "the service is unavailable", 504: "the gateway timed out"}

PARAMETER_MISSING = ("ActionParameterMissing", "PropertyMissing", "CreateFailedMissingReqProperties")
PARAMETER_UNKNOWN = ("ActionParameterUnknown", "PropertyUnknown", "ActionParameterNotSupported")
NOTHING_INSERTED = (
    "NoVMediaInserted",
    "VirtualMediaNotInserted",
    "VRM0021",
    "VMediaNotInserted",
    "NoVirtualMediaConnectionAvailable",
)
PROTOCOL_REFUSED = ("FileTransferProtocolMismatch", "UnsupportedProtocol", "VMediaProtocolNotSupported")


@dataclasses.dataclass(frozen=True)
class Message:
    """One entry of a Redfish error body."""

    id: str
    text: str = ""
    arguments: tuple[str, ...] = ()


def messages(body: Any) -> tuple[Message, ...]:
    """Every message of an error body, in whatever of the usual places and shapes it stands."""
    return tuple(_messages(body))


def _messages(body: Any) -> Iterator[Message]:
    if not isinstance(body, Mapping):
        return
    error = body.get("error")
    for part in (error if isinstance(error, Mapping) else {}, body):
        extended = part.get("@Message.ExtendedInfo")
        for item in [extended] if isinstance(extended, Mapping) else extended if isinstance(extended, list) else []:
            if isinstance(item, Mapping):
                arguments = item.get("MessageArgs")
                yield Message(
                    str(item.get("MessageId") or ""),
                    str(item.get("Message") or ""),
                    tuple(str(one) for one in arguments) if isinstance(arguments, list) else (),
                )
    if isinstance(error, Mapping) and (error.get("code") or error.get("message")):
        yield Message(str(error.get("code") or ""), str(error.get("message") or ""))
    elif isinstance(error, str):
        yield Message("", error)


def busy(status: int, body: Any) -> str:
    """Why the BMC can't do it now; ``""`` when the answer does not mean that."""
    if status < 400:
        return ""
    for message in messages(body):
        for pattern, why in BUSY_CODES:
            if re.fullmatch(pattern, message.id):
                return f"{why} ({message.id})"
    return BUSY_STATUS.get(status, "")


def retry_after(header: str | None, now: float) -> float | None:
    """Seconds of a ``Retry-After`` header, given as a number or a date; ``None`` when there is none to use.

    Args:
        now: seconds since the epoch.
    """
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - now)
    except (TypeError, ValueError):
        return None


def error_only_in_messages(body: Any) -> bool:
    """Whether an answer that says success over HTTP carries an error message (some BMCs do that on insert)."""
    if not isinstance(body, Mapping):
        return False
    for item in messages(body):
        name = item.id.rpartition(".")[2]
        if name and name not in ("Success", "Created", "NoOperation", "OperationCompleted") and "error" in body:
            return True
    return False


def same_path(one: str, other: str) -> bool:
    """Whether two resource ids are the same: end slashes differ within one BMC."""
    return one.rstrip("/").lower() == other.rstrip("/").lower()


def link(body: Any, *names: str) -> str:
    """The ``@odata.id`` at the end of a chain of properties; ``""`` when any link of it is missing or odd."""
    here = body
    for name in names:
        here = here.get(name) if isinstance(here, Mapping) else None
    path = here.get("@odata.id") if isinstance(here, Mapping) else None
    return path if isinstance(path, str) else ""


def links(value: Any) -> tuple[str, ...]:
    """The ``@odata.id`` of each member of a list."""
    if not isinstance(value, list):
        return ()
    return tuple(
        item["@odata.id"] for item in value if isinstance(item, Mapping) and isinstance(item.get("@odata.id"), str)
    )


def texts(value: Any) -> tuple[str, ...]:
    """The texts of a list; anything else counts as empty: vendors send ``null`` and ``[]`` for "any"."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
