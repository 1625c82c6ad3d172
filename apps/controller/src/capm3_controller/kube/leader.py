"""Leader election by a Lease: the record and the rules of client-go, so that this and the Go program never both lead.

A lease of somebody else counts as expired only when it did not change for its whole duration on *our* clock: clocks of
different machines are never compared. Ours counts as held until the renew deadline after the last renewal was *sent*.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import random
import threading
from collections.abc import Callable
from typing import Any

from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_managers.ports import ApiError

from capm3_controller.kube import fence as fences
from capm3_controller.kube.client import Client
from capm3_controller.kube.fence import Fence

log = logging.getLogger(__name__)

NAME = "controller-leader-election-capm3"


@dataclasses.dataclass(frozen=True)
class Terms:
    """Seconds: how long others wait, how long we believe without a renewal, and between tries."""

    lease: float = 15.0
    renew: float = 10.0
    retry: float = 2.0

    def __post_init__(self) -> None:
        if not self.lease > self.renew > self.retry > 0:
            raise ValueError(
                "leader election needs lease duration > renew deadline > retry period > 0; "
                f"got {self.lease:g} s, {self.renew:g} s, {self.retry:g} s"
            )


class Elector:
    """One candidate.

    Args:
        identity: unique to this process.
        fence: opened with each renewal, closed on loss.
        wall: for the times inside the record, which are for people only.
    """

    def __init__(
        self,
        client: Client,
        key: Key,
        identity: str,
        fence: Fence,
        *,
        terms: Terms = Terms(),
        clock: Callable[[], float] = fences.steady_clock,
    ) -> None:
        self._client = client
        self.key = key
        self.identity = identity
        self._fence = fence
        self._terms = terms
        self._clock = clock
        self._seen: tuple[Any, ...] | None = None
        self._seen_at = 0.0
        self._renewed_at: float | None = None
        self._stopped = threading.Event()
        self.error = ""
        """Why the last try failed, for people; ``""`` when it did not."""

    @property
    def leading(self) -> bool:
        return self._renewed_at is not None

    def run(self, started: Callable[[], None], lost: Callable[[], None]) -> None:
        """Tries until stopped; calls `started` once this process leads and `lost` when it does not any more.

        After a loss it ends: what the process knew is not to be trusted, a new process begins afresh.
        """
        rng = random.Random()
        while not self._stopped.is_set():
            was = self.leading
            if self.turn():
                if not was:
                    log.info("Became the leader", extra={"facts": {"lease": str(self.key), "identity": self.identity}})
                    started()
            elif was and not self.leading:
                log.error("Lost the lease", extra={"facts": {"lease": str(self.key), "err": self.error}})
                lost()
                return
            pause = self._terms.retry * (1 if self.leading else 1 + 0.2 * rng.random())
            self._stopped.wait(pause)

    def turn(self) -> bool:
        """One try to get or renew the lease; whether this process leads after it."""
        begin = self._clock()
        try:
            won = self._try(begin)
            self.error = ""
        except ApiError as error:
            won = False
            self.error = str(error)
            level = logging.WARNING if self.leading or error.status in (401, 403) else logging.INFO
            log.log(level, "The lease could not be read or written", extra={"facts": {"err": self.error}})
        except Exception as error:
            won = False
            self.error = f"{type(error).__name__} (a bug)"
            log.exception("The lease could not be understood")
        if won:
            self._renewed_at = begin
            self._fence.open(begin + self._terms.renew)
        elif self._renewed_at is not None and (not self.error or self._clock() >= self._renewed_at + self._terms.renew):
            self._renewed_at = None
            self._fence.close()
        return self.leading

    def stop(self) -> None:
        """Ends `run`; the lease stays until `release`."""
        self._stopped.set()

    def release(self) -> None:
        """Gives the lease back, so that another needs not wait; only after the last write."""
        held = self.leading
        self._fence.close()
        self._renewed_at = None
        if not held:
            return
        try:
            lease = self._client.get(kinds.LEASE, self.key)
            if lease is not None and _spec(lease).get("holderIdentity") == self.identity:
                now = _now()
                self._write(lease, {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": now})
                log.info("Gave the lease back", extra={"facts": {"lease": str(self.key)}})
        except ApiError as error:
            log.warning("The lease could not be given back; it expires", extra={"facts": {"err": str(error)}})

    def _try(self, begin: float) -> bool:
        lease = self._client.get(kinds.LEASE, self.key)
        if lease is None:
            return self._create()
        spec = _spec(lease)
        holder = spec.get("holderIdentity") or ""
        record = (holder, spec.get("renewTime"), spec.get("acquireTime"), spec.get("leaseTransitions"))
        if record != self._seen:
            self._seen, self._seen_at = record, begin
        mine = holder == self.identity
        duration = float(spec.get("leaseDurationSeconds") or self._terms.lease)
        if holder and not mine and begin < self._seen_at + duration:
            return False
        now = _now()
        change: Raw = {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": round(self._terms.lease),
            "renewTime": now,
        }
        if not mine:
            change["acquireTime"] = now
            change["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + 1
        self._write(lease, change)
        return True

    def _create(self) -> bool:
        now = _now()
        lease = kinds.LEASE.new(
            self.key.namespace,
            self.key.name,
            spec={
                "holderIdentity": self.identity,
                "leaseDurationSeconds": round(self._terms.lease),
                "acquireTime": now,
                "renewTime": now,
                "leaseTransitions": 0,
            },
        )
        try:
            self._client.create(kinds.LEASE, lease)
        except ApiError as error:
            if error.status == 409:
                return False
            raise
        return True

    def _write(self, lease: Raw, change: Raw) -> None:
        """Compare-and-swap; a conflict raises, and the next turn sees who was faster."""
        patch = {"metadata": {"resourceVersion": meta.version_of(lease)}, "spec": change}
        self._client.merge(kinds.LEASE, self.key, patch)


def _spec(lease: Raw) -> Raw:
    return lease.get("spec") or {}


def _now() -> str:
    """A Kubernetes MicroTime."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
