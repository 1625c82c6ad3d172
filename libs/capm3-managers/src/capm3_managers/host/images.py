"""What is to be deployed on a host, whether it can be deployed here, and whether it is another than the one there. Pure.

Deploying here is booting a live ISO from the virtual CD. Everything else needs an agent on the server, and is refused
with the name of what is missing.
"""

from __future__ import annotations

from capm3_api.external.bmo import BareMetalHost, Image

from capm3_managers.plan import Hardware
from capm3_managers.ports import BmcAccess, BmcView

_MISSING = "needs the Ironic driver, which is not part of this release"


def url(image: Image | None) -> str:
    return image.url if image is not None else ""


def method(host: BareMetalHost) -> str:
    return host.spec.custom_deploy.method if host.spec.custom_deploy is not None else ""


def wanted(host: BareMetalHost) -> bool:
    """Whether something is to be deployed."""
    return bool(url(host.spec.image) or method(host))


def cancelled(host: BareMetalHost) -> bool:
    """Whether what is there, or on its way there, is no longer wanted; only URLs and method names are compared."""
    there = host.status.provisioning
    method_there = there.custom_deploy.method if there.custom_deploy is not None else ""
    image_there = url(there.image)
    if method(host):
        other_method = bool(method_there) and method_there != method(host)
        return other_method or (bool(image_there) and url(host.spec.image) != image_there)
    if method_there or not url(host.spec.image):
        return True
    return bool(image_there) and image_there != url(host.spec.image)


def refusal(host: BareMetalHost, view: BmcView) -> str:
    """Why the image can't be deployed here, naming the field and the mend; ``""`` when it can."""
    image = host.spec.image
    if method(host):
        return f"spec.customDeploy {_MISSING}"
    if image is None or image.format != "live-iso":
        shown = image.format if image is not None and image.format else "none (a disk image)"
        return f"spec.image.format is {shown}: that {_MISSING}; only live-iso is deployed here, through virtual media"
    if not image.url.lower().startswith(("http://", "https://")):
        return "spec.image.url has to start with http:// or https:// for virtual media"
    if host.spec.boot_mode == "UEFISecureBoot":
        return f"spec.bootMode UEFISecureBoot {_MISSING}; use UEFI"
    if view.media is None:
        return "the BMC shows no virtual CD; a live ISO can't be given to this server"
    return ""


def same(media: str | None, image_url: str) -> bool:
    """Whether the virtual CD holds the image; BMCs leave the query out when they show it."""
    return bool(media) and bool(image_url) and (media or "").partition("?")[0] == image_url.partition("?")[0]


def boot_actions(access: BmcAccess, view: BmcView, image_url: str, boot_mode: str) -> tuple[Hardware, ...]:
    """What makes the server's next start one from the image."""
    mode = "legacy" if boot_mode == "legacy" else "UEFI"
    insert = () if same(view.media, image_url) else (Hardware(access, "insert-media", (("url", image_url),)),)
    return (*insert, Hardware(access, "boot-once", (("device", "cd"), ("mode", mode))))
