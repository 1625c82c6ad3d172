"""Owner garbage collection for a kube-apiserver that runs without its controller manager.

A stand-in for the real collector, of the kinds that this project owns and reads: an object goes when all its owners are
gone. Foreground and orphan deletion are left out: nothing here asks for them.
"""

from __future__ import annotations

import logging
import threading

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw
from capm3_managers.ports import ApiError

from capm3_testbed.kubeapi import KubeApi, kind_of
from capm3_testbed.mirror import Mirror

log = logging.getLogger(__name__)
_GATHER = 0.1
_RESYNC = 5.0

COLLECTED = (
    *kinds.OURS,
    kinds.BARE_METAL_HOST,
    kinds.HARDWARE_DATA,
    kinds.IP_POOL,
    kinds.IP_CLAIM,
    kinds.IP_ADDRESS,
    kinds.CLUSTER,
    kinds.MACHINE,
    kinds.MACHINE_SET,
    kinds.MACHINE_DEPLOYMENT,
    kinds.KUBEADM_CONTROL_PLANE,
    kinds.KUBEADM_CONFIG,
    kinds.KUBEADM_CONFIG_TEMPLATE,
    kinds.SECRET,
)


class Collector:
    """Watches the kinds and deletes orphans until it is stopped."""

    def __init__(self, api: KubeApi) -> None:
        self._api = api
        self._mirror = Mirror(api, COLLECTED)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="collector", daemon=True)

    def start(self) -> None:
        self._mirror.start()
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._mirror.stop()
        if self._thread.ident is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                self.collect()
            except ApiError as error:
                log.debug("collecting: %s", error)
            self._mirror.wake.wait(_RESYNC)
            self._over.wait(_GATHER)

    def collect(self) -> int:
        """One look; gives how many objects it deleted."""
        alive = {meta.uid_of(obj) for kind in COLLECTED for obj in self._mirror.all(kind)}
        deleted = 0
        for kind in COLLECTED:
            for obj in self._mirror.all(kind):
                owners = (obj.get("metadata") or {}).get("ownerReferences") or []
                if owners and not any(ref.get("uid") in alive for ref in owners) and self._orphaned(obj, owners):
                    deleted += self._delete(kind, obj)
        return deleted

    def _orphaned(self, obj: Raw, owners: list[Raw]) -> bool:
        """Asks the server itself, as the watch may be behind."""
        if (obj.get("metadata") or {}).get("deletionTimestamp"):
            return False
        namespace = meta.key_of(obj).namespace
        for ref in owners:
            owner = self._api.get(kind_of(ref), Key(namespace, str(ref.get("name") or "")))
            if owner is not None and meta.uid_of(owner) == ref.get("uid"):
                return False
        return True

    def _delete(self, kind: Kind, obj: Raw) -> int:
        try:
            self._api.delete(kind, meta.key_of(obj), uid=meta.uid_of(obj))
        except ApiError as error:
            if not error.is_not_found and not error.is_conflict:
                raise
            return 0
        return 1
