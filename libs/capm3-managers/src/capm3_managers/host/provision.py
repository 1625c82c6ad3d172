"""Deploying a live ISO: from an available host to one that runs from its virtual CD, and what happens to it then.

The server is switched off and its CD emptied before the state changes to provisioning; then the image goes in, and in
a later pass the power on. "On" counts only when that start is remembered: a start that was asked for earlier and comes
late (its memory may be lost to a conflict) is one from the disk, and the server is switched off again. Secrets with
user data, metadata or network data are not delivered: a live ISO has no config drive (the Baremetal Operator gives none
either).
"""

from __future__ import annotations

from capm3_managers.draft import Draft
from capm3_managers.env import Env
from capm3_managers.host import images, inspect, power, states, status
from capm3_managers.host.snapshot import Snapshot
from capm3_managers.plan import Hardware


def available(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    host = snapshot.host
    draft = power.record(snapshot, draft)
    if host.spec.externally_provisioned:
        return status.enter(snapshot, draft, states.EXTERNALLY_PROVISIONED, "the host is provisioned by somebody else")
    if inspect.is_asked_for(snapshot):
        return status.enter(snapshot, draft, states.INSPECTING, "inspection was asked for")
    if images.wanted(host) and host.spec.online:
        return _begin(snapshot, draft, env)
    if host.status.error_type == states.PROVISIONING_ERROR:
        draft = status.succeeded(draft)
    return power.keep(snapshot, draft, env)


def _begin(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    refusal = images.refusal(snapshot.host, snapshot.view)
    if refusal:
        seconds = env.settings.host_power_poll_seconds
        return status.refused(snapshot, draft, states.PROVISIONING_ERROR, refusal, seconds)
    draft = power.towards(snapshot, draft, env, "off")
    if draft.ended:
        return draft
    if snapshot.view.media:
        return draft.act(Hardware(snapshot.bmc, "eject-media")).end("the virtual CD is emptied", seconds=0.0)
    image = snapshot.host.spec.image
    draft = status.put(draft, {"lastAttemptedImage": None})
    draft = status.put(status.cleared(draft), {"lastAttemptedImage": image.to_raw() if image else None})
    return status.enter(snapshot, draft, states.PROVISIONING, f"provisioning of {images.url(image)} starts")


def provisioning(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    host, view = snapshot.host, snapshot.view
    draft = power.record(snapshot, draft)
    if images.cancelled(host):
        return status.enter(snapshot, status.cleared(draft), states.DEPROVISIONING, "the image is no longer wanted")
    refusal = images.refusal(host, view)
    if refusal:
        return status.refused(snapshot, draft, states.PROVISIONING_ERROR, refusal)
    url = images.url(host.spec.image)
    inserted = images.same(view.media, url)
    if not (view.power == "off" or (inserted and power.is_starting(snapshot))):
        return power.towards(snapshot, draft, env, "off")
    if not inserted:
        insert = Hardware(snapshot.bmc, "insert-media", (("url", url),))
        return draft.act(insert).end("the image goes into the virtual CD", seconds=0.0)
    before = images.boot_actions(snapshot.bmc, view, url, host.status.provisioning.boot_mode)
    draft = power.towards(snapshot, draft, env, "on", before=before)
    if draft.ended:
        return draft
    draft = status.put(draft, {"provisioning": {"image": None, "customDeploy": None}})
    draft = status.put(draft, {"provisioning": {"image": host.spec.image.to_raw() if host.spec.image else None}})
    draft = status.put(status.succeeded(draft), {"provisioningFailCount": 0})
    return status.enter(snapshot, draft, states.PROVISIONED, f"the server runs {url}")


def provisioned(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Only power is managed; each start is one from the image, since nothing is on a disk."""
    host = snapshot.host
    if images.cancelled(host):
        return status.enter(snapshot, draft, states.DEPROVISIONING, "the image is no longer wanted")
    url = images.url(host.status.provisioning.image)
    live = host.status.provisioning.image is not None and host.status.provisioning.image.format == "live-iso"
    mode = host.status.provisioning.boot_mode
    before = images.boot_actions(snapshot.bmc, snapshot.view, url, mode) if live and url else ()
    return power.keep(snapshot, draft, env, before)


def externally_provisioned(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    host = snapshot.host
    if host.spec.externally_provisioned:
        return power.keep(snapshot, draft, env)
    there = {"image": host.spec.image.to_raw() if host.spec.image else {"url": ""}}
    draft = status.put(draft, {"provisioning": {"image": None}})
    draft = status.put(draft, {"provisioning": there})
    return status.enter(snapshot, draft, states.PROVISIONED, "the host is no longer provisioned by somebody else")


def deprovisioning(snapshot: Snapshot, draft: Draft, env: Env) -> Draft:
    """Off, and the CD emptied. Disks are not cleaned: that needs an agent on the server."""
    draft = power.record(snapshot, draft)
    if not snapshot.host.spec.disable_power_off:
        draft = power.towards(snapshot, draft, env, "off")
        if draft.ended:
            return draft
    if snapshot.view.media:
        draft = draft.act(Hardware(snapshot.bmc, "eject-media"))
    draft = status.put(
        status.succeeded(draft), {"provisioning": {"image": None, "customDeploy": None, "rootDeviceHints": None}}
    )
    after = states.POWERING_OFF if snapshot.deleting else states.AVAILABLE
    return status.enter(snapshot, draft, after, "the image is gone from the server")
