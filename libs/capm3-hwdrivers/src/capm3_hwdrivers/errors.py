"""What a server's BMC can do wrong, as one small family of typed errors.

Every error says where, what, and what mends it, holds no secret, and knows whether it may pass by itself: callers
back off on the transient ones and tell a person about the others.
"""

from __future__ import annotations


class DriverError(Exception):
    """A BMC that could not be asked, or refused.

    Args:
        message: for people: what happened, where, and what to do about it. Never a secret.
        transient: whether it may pass by itself; the class's default when ``None``.
        retry_after: seconds the BMC asked to be left alone, when it did.
    """

    reason = "Failed"
    transient = True

    def __init__(self, message: str, *, transient: bool | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = retry_after
        if transient is not None:
            self.transient = transient


class AddressInvalid(DriverError):
    """The BMC address can't be used; `code` says why: ``Empty``, ``Unparsable``, ``UnknownScheme``, ``HostInvalid``,
    ``PortInvalid``, ``ZoneGiven``, ``CredentialsInAddress``, ``ManagerPathGiven``, ``SystemNotFound``, ``SystemAmbiguous``.
    """

    reason = "AddressInvalid"
    transient = False

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class CredentialsRefused(DriverError):
    """User name or password is wrong, locked or lacks the right."""

    reason = "CredentialsRefused"
    transient = False


class Unreachable(DriverError):
    """No connection: host down, port closed, name unknown, connection reset."""

    reason = "Unreachable"


class Timeout(DriverError):
    """The BMC took the connection but did not answer in time."""

    reason = "Timeout"


class Busy(DriverError):
    """The BMC says it can't do it now."""

    reason = "Busy"


class TlsVerificationFailed(DriverError):
    """The BMC's certificate is not trusted, has expired or is for another name."""

    reason = "TlsVerificationFailed"
    transient = False


class NotSupported(DriverError):
    """The BMC, or this driver, has no such function."""

    reason = "NotSupported"
    transient = False


class Failed(DriverError):
    """Anything else the BMC answered.

    Args:
        status: HTTP status, 0 when it was no HTTP answer.
        codes: message ids of the answer, such as ``Base.1.12.ActionParameterMissing``.
        arguments: the messages' arguments, in order.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        codes: tuple[str, ...] = (),
        arguments: tuple[str, ...] = (),
        transient: bool | None = None,
    ) -> None:
        super().__init__(message, transient=transient)
        self.status = status
        self.codes = codes
        self.arguments = arguments

    def has(self, code: str) -> bool:
        """Whether a message id ends in `code`, whatever registry and version it is from."""
        return any(item.rpartition(".")[2] == code for item in self.codes)
