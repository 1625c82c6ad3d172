"""BMC addresses: what each form means, and which are refused with what mend (report B52)."""

from __future__ import annotations

import pytest
from capm3_hwdrivers import address, errors, registry
from capm3_hwdrivers.model import Access
from hypothesis import example, given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "base", "path"),
    [
        ("redfish://[2001:db8::9]:8443/redfish/v1/Systems/1", "https://[2001:db8::9]:8443", "/redfish/v1/Systems/1"),
        ("redfish+http://bmc-a.example.test/redfish/v1/", "http://bmc-a.example.test", ""),
        ("redfish://bmc-a.example.test", "https://bmc-a.example.test", ""),
        ("redfish://bmc-a.example.test/", "https://bmc-a.example.test", ""),
        ("redfish+https://192.0.2.9:443/redfish/v1/Systems/1/", "https://192.0.2.9", "/redfish/v1/Systems/1"),
        ("redfish+http://192.0.2.9:80/redfish/v1/Systems/a", "http://192.0.2.9", "/redfish/v1/Systems/a"),
        (
            "redfish-virtualmedia+http://127.0.0.1:8000/redfish/v1/Systems/u",
            "http://127.0.0.1:8000",
            "/redfish/v1/Systems/u",
        ),
        ("REDFISH://192.0.2.9/redfish/v1/Systems/1", "https://192.0.2.9", "/redfish/v1/Systems/1"),
        ("idrac-virtualmedia://192.0.2.87/System.Embedded.1/", "https://192.0.2.87", "/System.Embedded.1"),
        (
            "redfish-virtualmedia+https://[2001:db8:20::21]/redfish/v1/Systems/1",
            "https://[2001:db8:20::21]",
            "/redfish/v1/Systems/1",
        ),
    ],
)
def test_a_redfish_address_gives_the_base_url_and_the_system(text: str, base: str, path: str) -> None:
    found = address.parse(text)
    assert (found.base, found.path) == (base, path)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("ipmi://192.0.2.9", "192.0.2.9", 623),
        ("192.0.2.9", "192.0.2.9", 623),
        ("192.0.2.9:6230", "192.0.2.9", 6230),
        ("[2001:db8::9]:6230", "2001:db8::9", 6230),
        ("[2001:db8::9]", "2001:db8::9", 623),
        ("2001:db8::9", "2001:db8::9", 623),
        ("bmc-a.example.test", "bmc-a.example.test", 623),
        ("ipmi:192.0.2.9", "192.0.2.9", 623),
        ("libvirt://192.0.2.1:6234", "192.0.2.1", 6234),
    ],
)
def test_an_address_without_scheme_is_ipmi_with_its_port(text: str, host: str, port: int) -> None:
    found = address.parse(text)
    assert (found.scheme.protocol, found.host, found.port, found.base) == ("ipmi", host, port, "")


@pytest.mark.parametrize(
    ("text", "code", "mend"),
    [
        ("", "Empty", "redfish://"),
        ("redfish://bmc-a.example.test/redfish/v1/Managers/1", "ManagerPathGiven", "/redfish/v1/Systems/1"),
        ("redfish://bmc-a.example.test/redfish/v1/managers/", "ManagerPathGiven", "System"),
        ("redfish://user:pw@bmc-a.example.test", "CredentialsInAddress", "credentialsName"),
        ("redfish://user@bmc-a.example.test", "CredentialsInAddress", "Secret"),
        ("irmc://192.0.2.111", "UnknownScheme", "redfish-virtualmedia"),
        ("myhost:6230", "UnknownScheme", "known are"),
        ("ipmi+http://192.0.2.9", "UnknownScheme", "known are"),
        ("redfish+ftp://192.0.2.9", "UnknownScheme", "known are"),
        ("redfish://[fe80::1%25eth0]/redfish/v1", "ZoneGiven", "without"),
        ("redfish://2001:db8::9/redfish/v1", "HostInvalid", "brackets"),
        ("redfish://[2001:db8::zz]/", "HostInvalid", ""),
        ("redfish://bmc_a.example.test", "HostInvalid", "DNS name"),
        ("redfish://-bmc.example.test", "HostInvalid", "DNS name"),
        ("redfish://192.0.2.9:99999", "PortInvalid", "65535"),
        ("redfish://192.0.2.9:https", "PortInvalid", "number"),
        ("redfish:///redfish/v1/Systems/1", "HostInvalid", ""),
    ],
)
def test_an_address_that_can_not_be_used_is_refused_with_a_code_and_a_mend(text: str, code: str, mend: str) -> None:
    with pytest.raises(errors.AddressInvalid) as caught:
        address.parse(text)
    assert caught.value.code == code
    assert mend in caught.value.message
    assert "pw" not in caught.value.message
    assert not caught.value.transient


@pytest.mark.parametrize("name", sorted(address.SCHEMES))
def test_every_scheme_parses_and_the_redfish_ones_take_both_suffixes(name: str) -> None:
    assert address.parse(f"{name}://192.0.2.9").scheme.name == name
    if address.SCHEMES[name].protocol == "redfish":
        assert address.parse(f"{name}+http://192.0.2.9").tls is False
        assert address.parse(f"{name}+https://192.0.2.9").tls is True


@pytest.mark.parametrize("text", ["ipmi://192.0.2.9", "libvirt://192.0.2.9:6230"])
def test_a_protocol_without_driver_is_refused_by_name_and_not_as_unknown(text: str) -> None:
    with pytest.raises(errors.NotSupported, match="needs the ipmi driver"):
        registry.connect(Access(address=text))


@given(st.text(max_size=60))
@example("//[")
@example("redfish://[::1]:")
@example("redfish://a:b:c@[x")
@example("a:\x00")
def test_any_text_is_parsed_or_refused_and_never_crashes(text: str) -> None:
    try:
        found = address.parse(text)
    except errors.AddressInvalid:
        return
    assert found.host and 0 < found.port < 65536
