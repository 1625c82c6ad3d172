"""The virtual CD over Redfish: finds the slot, inserts and ejects, with the ways round that vendors need.

It differs on almost every vendor: the slot hangs under the System or its Manager, inserting is an action or a patch,
more or fewer parameters are demanded, and an empty slot answers an eject with an error.
"""

from __future__ import annotations

import dataclasses
import urllib.parse
from collections.abc import Iterator

from capm3_hwdrivers import errors
from capm3_hwdrivers.model import Media
from capm3_hwdrivers.redfish import quirks, repeat
from capm3_hwdrivers.redfish.connect import Body, Client

_INSERT, _EJECT = "#VirtualMedia.InsertMedia", "#VirtualMedia.EjectMedia"
_POLL = 0.5


@dataclasses.dataclass(frozen=True)
class Slot:
    """A virtual media resource, as read.

    Args:
        insert: target of the action, ``""`` when there is none and the resource has to be patched.
        oem: names of vendors' own actions, for the message when nothing standard is there.
    """

    path: str
    image: str
    inserted: bool
    insert: str
    eject: str
    optical: bool
    shows_image: bool
    oem: tuple[str, ...] = ()


def slot(path: str, body: Body) -> Slot:
    """Reads a VirtualMedia body. Pure; a missing ``Inserted`` counts as "there is an image"."""
    types = [item.upper() for item in quirks.texts(body.get("MediaTypes"))]
    image = body.get("Image")
    image = image if isinstance(image, str) else ""
    inserted = body.get("Inserted")
    return Slot(
        path=path,
        image=image,
        inserted=inserted if isinstance(inserted, bool) else bool(image),
        insert=_target(body, _INSERT),
        eject=_target(body, _EJECT),
        optical=any(item in ("CD", "DVD") for item in types) or (not types and "cd" in path.lower().rpartition("/")[2]),
        shows_image="Image" in body,
        oem=_vendor_actions(body),
    )


def _vendor_actions(body: Body) -> tuple[str, ...]:
    oem = body.get("Oem")
    parts = [part.get("Actions") for part in oem.values() if isinstance(part, dict)] if isinstance(oem, dict) else []
    return tuple(str(name) for part in parts if isinstance(part, dict) for name in part)


def find(client: Client, system_path: str) -> Slot | None:
    """The slot for a CD or DVD: under the System, else under one of its Managers; looked for once."""
    known = client.memory.get("media", "")
    body = client.find(known) if known else None
    if body is not None:
        return slot(known, body)
    here = _search(client, system_path)
    client.memory["media"] = here.path if here is not None else ""
    return here


def _search(client: Client, system_path: str) -> Slot | None:
    for collection in _collections(client, system_path):
        found: Slot | None = None
        for path in quirks.links((client.find(collection) or {}).get("Members")):
            body = client.find(path)
            here = slot(path, body) if body is not None else None
            if here is None or not here.optical:
                continue
            if here.insert:
                return here
            found = found or here
        if found is not None:
            return found
    return None


def read(client: Client, system_path: str) -> Media | None:
    here = find(client, system_path)
    return None if here is None else Media(image=here.image if here.inserted else "", slot=here.path)


def insert(client: Client, system_path: str, url: str) -> None:
    """Puts `url` in and waits until the BMC reports it; another image is ejected first."""
    here = _needed(client, system_path)
    if here.inserted and here.image == url:
        return
    if here.inserted:
        _eject(client, here)
    repeat.until(client, lambda: _insert(client, here, url), lambda: _holds(client, here, url))
    _wait(client, here, url)


def eject(client: Client, system_path: str) -> None:
    here = find(client, system_path)
    if here is not None and here.inserted:
        _eject(client, here)


def _eject(client: Client, here: Slot) -> None:
    def act() -> None:
        try:
            if here.eject:
                client.post(here.eject, {})
            else:
                client.patch(here.path, {"Image": None, "Inserted": False}, etag=client.etag(here.path))
        except errors.Failed as failure:
            nothing = any(failure.has(code) for code in quirks.NOTHING_INSERTED) or failure.status == 404
            if not (nothing and _holds(client, here, "")):
                raise

    repeat.until(client, act, lambda: _holds(client, here, ""))
    _wait(client, here, "")


def _insert(client: Client, here: Slot, url: str) -> None:
    """The smallest request first; what the BMC says is missing is added, what it does not know is left out."""
    body: Body = {"Image": url} if here.insert else {"Image": url, "Inserted": True}
    for _ in range(4):
        try:
            if here.insert:
                client.post(here.insert, body)
            else:
                client.patch(here.path, body, etag=client.etag(here.path))
            return
        except errors.Failed as failure:
            better = _adapted(body, url, failure)
            if better is None or better == body:
                raise _explained(here, url, failure) from None
            body = better
    raise errors.Failed(f"{here.path}: the BMC kept asking for other parameters of the insert action", transient=False)


def _adapted(body: Body, url: str, failure: errors.Failed) -> Body | None:
    if not 400 <= failure.status < 500:
        return None
    about = " ".join((*failure.arguments, failure.message))
    if any(failure.has(code) for code in quirks.PARAMETER_MISSING) or "TransferProtocolType" in about:
        for name, value in _extras(url):
            if name in about and name not in body:
                return {**body, name: value}
    if any(failure.has(code) for code in (*quirks.PARAMETER_UNKNOWN, "PropertyNotWritable")):
        for name in [key for key in body if key != "Image" and key in about]:
            return {key: value for key, value in body.items() if key != name}
    return None


def _extras(url: str) -> Iterator[tuple[str, object]]:
    yield "TransferProtocolType", urllib.parse.urlsplit(url).scheme.upper()
    yield "TransferMethod", "Stream"
    yield "Inserted", True
    yield "WriteProtected", True
    yield "MediaTypes", "CD"
    yield "UserName", ""
    yield "Password", ""


def _explained(here: Slot, url: str, failure: errors.Failed) -> errors.DriverError:
    if any(failure.has(code) for code in quirks.PROTOCOL_REFUSED):
        scheme = urllib.parse.urlsplit(url).scheme
        return errors.NotSupported(
            f"{here.path}: the BMC does not take {scheme}:// images; serve the image another way ({failure.message})"
        )
    return failure


def _needed(client: Client, system_path: str) -> Slot:
    here = find(client, system_path)
    if here is None:
        raise errors.NotSupported(
            f"{client.address.base}{system_path} and its Managers have no virtual CD; is the licence for virtual media there?"
        )
    if not here.insert and not here.shows_image:
        raise errors.NotSupported(f"{here.path} shows neither an insert action nor an Image property")
    if not here.insert and here.oem:
        raise errors.NotSupported(f"{here.path} can only be filled by the vendor's own {', '.join(here.oem)}")
    return here


def _holds(client: Client, here: Slot, url: str) -> bool:
    now = slot(here.path, client.get(here.path))
    return (now.inserted and _same_image(now.image, url)) if url else not now.inserted


def _same_image(shown: str, url: str) -> bool:
    """Some BMCs show the image without its query or with the credentials taken out."""
    return shown == url or (bool(shown) and shown.partition("?")[0] == url.partition("?")[0])


def _wait(client: Client, here: Slot, url: str) -> None:
    while not _holds(client, here, url):
        if not client.deadline.pause(_POLL):
            what = f"still does not show {url}" if url else "still holds an image"
            raise errors.Timeout(f"{here.path}: the BMC accepted the request but {what}")


def _collections(client: Client, system_path: str) -> Iterator[str]:
    system = client.get(system_path)
    own = quirks.link(system, "VirtualMedia")
    if own:
        yield own
    managed = system.get("Links")
    managers = quirks.links(managed.get("ManagedBy")) if isinstance(managed, dict) else ()
    if not managers and client.root.managers:
        every = quirks.links((client.find(client.root.managers) or {}).get("Members"))
        managers = every if len(every) == 1 else ()
    for manager in managers:
        path = quirks.link(client.find(manager) or {}, "VirtualMedia")
        if path and not quirks.same_path(path, own):
            yield path


def _target(body: Body, name: str) -> str:
    actions = body.get("Actions")
    action = actions.get(name) if isinstance(actions, dict) else None
    target = action.get("target") if isinstance(action, dict) else None
    return target if isinstance(target, str) else ""
