"""Reads a BMC address as ``BareMetalHost.spec.bmc.address`` has it, and says which driver it wants.

The grammar and the schemes are those of the Baremetal Operator (behaviour facts on it, section 5). What it accepts and
then fails on later is refused here with a code of its own: a path to a Manager, credentials or a zone in the address.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import re
import urllib.parse

from capm3_hwdrivers import errors


@dataclasses.dataclass(frozen=True)
class Scheme:
    """One row of the table of schemes.

    Args:
        protocol: what is spoken: ``redfish`` or ``ipmi``.
        boot: how the scheme's name says that the server is to be started: ``pxe``, ``virtual-media`` or ``http``.
        driver: Ironic's hardware type, for those who configure it from the same address.
        needs_mac: a boot MAC address has to be given.
        port: default port; 0 where TLS decides (443 or 80).
    """

    name: str
    protocol: str
    boot: str
    driver: str
    needs_mac: bool = False
    port: int = 0


_ROWS = (
    Scheme("ipmi", "ipmi", "pxe", "ipmi", port=623),
    Scheme("libvirt", "ipmi", "pxe", "ipmi", needs_mac=True, port=623),
    Scheme("redfish", "redfish", "pxe", "redfish"),
    Scheme("ilo5-redfish", "redfish", "pxe", "redfish"),
    Scheme("redfish-virtualmedia", "redfish", "virtual-media", "redfish"),
    Scheme("ilo5-virtualmedia", "redfish", "virtual-media", "redfish"),
    Scheme("redfish-uefihttp", "redfish", "http", "redfish"),
    Scheme("idrac-redfish", "redfish", "pxe", "idrac"),
    Scheme("idrac-virtualmedia", "redfish", "virtual-media", "idrac"),
)
SCHEMES = {row.name: row for row in _ROWS}
"""Every scheme without its ``+http`` or ``+https`` (the redfish family takes both; https is the default)."""

FORMER = ("ilo4", "ilo4-virtualmedia", "ilo5", "idrac", "irmc", "ibmc", "idrac-wsman", "redfish-uefiboot")
"""Schemes that older releases had; named in the error."""

_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")


@dataclasses.dataclass(frozen=True)
class Address:
    """A BMC address, taken apart.

    Args:
        name: the scheme as written, ``redfish-virtualmedia+http``.
        host: without brackets.
        port: always set, by default 443, 80 or 623.
        path: path of the System without a slash at the end; ``""`` means the only System that there is.
        query: as written, without ``?``.
    """

    name: str
    scheme: Scheme
    host: str
    port: int
    tls: bool
    path: str = ""
    query: str = ""

    @property
    def authority(self) -> str:
        """``host`` or ``host:port``, the port only where it is not the default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = self.scheme.port or (443 if self.tls else 80)
        return host if self.port == default else f"{host}:{self.port}"

    @property
    def base(self) -> str:
        """The BMC's base URL; ``""`` for protocols without one."""
        if self.scheme.protocol != "redfish":
            return ""
        return f"{'https' if self.tls else 'http'}://{self.authority}"


def parse(text: str) -> Address:
    """Takes an address apart.

    Raises:
        AddressInvalid: with its `code` and a message that says what to write instead.
    """
    text = text.strip()
    if not text:
        raise errors.AddressInvalid(
            "Empty", "the BMC address is empty; write e.g. redfish://192.0.2.9/redfish/v1/Systems/1"
        )
    url = _split(text)
    name = url.scheme.lower()
    scheme, tls = _scheme(name, text)
    if "@" in url.netloc:
        raise errors.AddressInvalid(
            "CredentialsInAddress",
            "the BMC address holds a user name or password; put them in the Secret that bmc.credentialsName names",
        )
    host, port = _host_port(url.netloc, text)
    path = _system_path(url.path, text) if scheme.protocol == "redfish" else ""
    return Address(name, scheme, host, port or scheme.port or (443 if tls else 80), tls, path, url.query)


def _split(text: str) -> urllib.parse.SplitResult:
    head, colon, rest = text.partition(":")
    if "://" in text:
        pass
    elif _is_ip(text):
        text = f"ipmi://[{text}]" if ":" in text else f"ipmi://{text}"
    elif not colon or text.startswith("[") or (_is_ip(head) and rest):
        text = f"ipmi://{text}"
    else:
        text = f"{head}://{rest}"
    try:
        return urllib.parse.urlsplit(text)
    except ValueError as error:
        code = "HostInvalid" if "[" in text or "]" in text else "Unparsable"
        raise errors.AddressInvalid(code, f"the BMC address {_shown(text)} is not a URL: {error}") from None


def _scheme(name: str, text: str) -> tuple[Scheme, bool]:
    plain, _, suffix = name.partition("+")
    scheme = SCHEMES.get(plain)
    if scheme is None or (suffix and (scheme.protocol != "redfish" or suffix not in ("http", "https"))):
        known = ", ".join(sorted(SCHEMES))
        hint = f"; {plain} is no longer supported, try redfish-virtualmedia" if plain in FORMER else ""
        raise errors.AddressInvalid(
            "UnknownScheme",
            f"Unknown BMC type '{name}' for address {_shown(text)}{hint}; known are {known}"
            " (the redfish ones also with +http and +https)",
        )
    return scheme, scheme.protocol == "redfish" and suffix != "http"


def _host_port(netloc: str, text: str) -> tuple[str, int]:
    match = re.fullmatch(r"(?:\[(?P<v6>[^\]]*)\]|(?P<name>[^:\[\]]*))(?::(?P<port>[^:]*))?", netloc)
    if match is None:
        raise errors.AddressInvalid(
            "HostInvalid",
            f"the host of {_shown(text)} can't be read; an IPv6 address goes in brackets: redfish://[2001:db8::9]",
        )
    host = match["v6"] if match["v6"] is not None else match["name"]
    if "%" in host:
        raise errors.AddressInvalid(
            "ZoneGiven", f"the address {_shown(text)} names a zone ({host}); use an address that is routed without one"
        )
    if not (_is_ip(host) if match["v6"] is not None else _is_ip(host) or _is_name(host)):
        raise errors.AddressInvalid(
            "HostInvalid", f"the host '{host}' of {_shown(text)} is neither an IP address nor a DNS name"
        )
    return host, _port(match["port"], text)


def _port(given: str | None, text: str) -> int:
    if not given:
        return 0
    if not given.isascii() or not given.isdigit() or not 0 < int(given) < 65536:
        raise errors.AddressInvalid("PortInvalid", f"the port '{given}' of {_shown(text)} is no number from 1 to 65535")
    return int(given)


def _system_path(path: str, text: str) -> str:
    path = re.sub("/{2,}", "/", path).rstrip("/")
    if re.search(r"/Managers(/|$)", path, re.IGNORECASE):
        raise errors.AddressInvalid(
            "ManagerPathGiven",
            f"the BMC address {_shown(text)} points at a Manager; give the System it manages,"
            " such as /redfish/v1/Systems/1, or no path where there is only one",
        )
    return "" if path.lower() in ("", "/redfish", "/redfish/v1", "/redfish/v1/systems") else path


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _is_name(host: str) -> bool:
    labels = host.removesuffix(".").split(".")
    return bool(host) and all(_LABEL.fullmatch(label) for label in labels)


def _shown(text: str) -> str:
    """The address without what stands before an ``@``: it may be a password."""
    return re.sub(r"//[^/?#]*@", "//***@", text)
