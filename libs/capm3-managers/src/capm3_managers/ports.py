"""The seams: what a manager may ask of the world outside, and how that may fail.

`Reader` for the management cluster, `RemoteReader` for workload clusters, `Bmc` for servers. The controller implements
them with caches and connections, `testing.World` in memory. Only `observe` functions and the executor use them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Protocol

from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

ALL_NAMESPACES = "*"
"""Said where a list really has to span namespaces; an un-namespaced list can't happen by leaving something out."""


class ApiError(Exception):
    """The API server refused or could not be asked. Never means "not there": readers answer ``None`` for that.

    Args:
        status: HTTP status, 0 when there was no answer.
        reason: the machine-readable reason of the answer's Status, ``Conflict``, ``AlreadyExists``, ``Invalid``...
        message: for people; holds no secret.
    """

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message

    @property
    def is_conflict(self) -> bool:
        return self.reason == "Conflict"

    @property
    def is_not_found(self) -> bool:
        return self.reason == "NotFound"

    @property
    def already_exists(self) -> bool:
        return self.reason == "AlreadyExists"

    @property
    def is_transient(self) -> bool:
        """Whether trying again later may help without anybody changing anything."""
        return self.status == 0 or self.status >= 500 or self.status in (408, 409, 429)


class ContractError(Exception):
    """A bug of ours, or a world that breaks a rule this code stands on; never the user's input."""


class Reader(Protocol):
    """Reads of the management cluster. Answers are read-only raw objects.

    With ``live=False`` they may be a little old (a watch cache); with ``live=True`` they come from the API server.
    Every failure raises `ApiError`.
    """

    def get(self, kind: Kind, key: Key, *, live: bool = False) -> Raw | None:
        """The object, ``None`` when there is none."""
        ...

    def list(
        self,
        kind: Kind,
        namespace: str,
        *,
        labels: Mapping[str, str] | None = None,
        index: tuple[str, str] | None = None,
        live: bool = False,
    ) -> Sequence[Raw]:
        """All objects of a namespace (or of `ALL_NAMESPACES`) that carry all `labels`.

        Args:
            index: (name, value) of an index in `capm3_managers.indexes.INDEXES[kind]`; cached reads only.
        """
        ...


@dataclasses.dataclass(frozen=True)
class Unreachable:
    """A workload cluster that could not be asked: a value, so that it can't be mistaken for absence.

    Args:
        reason: one of ``KubeconfigMissing``, ``KubeconfigInvalid``, ``WorkloadAPIUnreachable``, ``Forbidden``.
        message: for people.
    """

    reason: str
    message: str


class RemoteReader(Protocol):
    """Reads of a workload cluster, named by its Cluster's key; always live."""

    def nodes(self, cluster: Key, *, labels: Mapping[str, str] | None = None) -> Sequence[Raw] | Unreachable:
        """All Nodes that carry all `labels`."""
        ...


@dataclasses.dataclass(frozen=True)
class BmcAccess:
    """How to reach one server's BMC.

    Args:
        address: as in ``BareMetalHost.spec.bmc.address``.
        verify_certificate: False only when the host says ``disableCertificateVerification``.
    """

    address: str
    username: str
    password: str = dataclasses.field(repr=False)
    verify_certificate: bool = True
    boot_mac: str = ""


@dataclasses.dataclass(frozen=True)
class BmcFailure:
    """A BMC that could not be asked, or refused.

    Args:
        reason: one of ``AddressInvalid``, ``CredentialsRefused``, ``Unreachable``, ``Timeout``, ``Busy``,
            ``TlsVerificationFailed``, ``NotSupported``, ``Failed``.
        message: for people; holds no secret.
        transient: whether it may pass by itself.
    """

    reason: str
    message: str
    transient: bool = True


class BmcError(Exception):
    """A hardware action that failed."""

    def __init__(self, failure: BmcFailure) -> None:
        super().__init__(f"{failure.reason}: {failure.message}")
        self.failure = failure


@dataclasses.dataclass(frozen=True)
class BmcView:
    """What a server looks like right now.

    Args:
        power: ``on``, ``off``, ``powering-on``, ``powering-off`` or ``unknown``; unknown is never "off".
        media: URL of the image in the virtual CD, ``""`` when it is empty, ``None`` when the BMC has no such slot or
            it was not asked for.
        boot_mode: ``UEFI``, ``legacy`` or ``""`` when the BMC does not say.
        inventory: hardware details in the shape of ``BareMetalHost.status.hardware``; ``None`` unless asked for.
        notes: what could not be read from the inventory, for people.
    """

    power: str
    media: str | None = None
    boot_mode: str = ""
    inventory: Raw | None = None
    notes: tuple[str, ...] = ()


class Bmc(Protocol):
    """Real servers. Calls block, but never longer than the driver's deadline."""

    def observe(self, access: BmcAccess, *, inventory: bool = False, media: bool = False) -> BmcView | BmcFailure:
        """Connects (or reuses a session) and reads. Never raises for what a BMC or its address can do wrong."""
        ...

    def perform(self, access: BmcAccess, op: str, args: Mapping[str, str]) -> None:
        """Does one hardware action; see `plan.Hardware` for the operations.

        Raises:
            BmcError: it failed; what happened on the server is unknown until the next `observe`.
        """
        ...
