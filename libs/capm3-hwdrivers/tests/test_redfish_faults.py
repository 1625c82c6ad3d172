"""BMCs that are busy, silent or unkind: within the time, no action twice, an error that says which (B50, B51, B56)."""

from __future__ import annotations

import datetime
import ipaddress
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from capm3_hwdrivers import errors, registry
from capm3_hwdrivers.capabilities import Driver
from capm3_hwdrivers.deadline import Limits
from capm3_hwdrivers.model import Access, PowerState
from capm3_hwdrivers.testing import redfish_profiles
from capm3_hwdrivers.testing.redfish_machine import Profile
from capm3_hwdrivers.testing.redfish_server import Fault, RedfishServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import SecretStr

IMAGE = "http://images.example.test/live.iso"


def open_driver(
    peer: RedfishServer, *, total: float = 15, read: float = 5, password: str = "password", **rest: object
) -> Driver:
    access = Access(address=peer.address, username="admin", password=SecretStr(password), **rest)  # type: ignore[arg-type]
    return registry.connect(access, Limits(connect=2, read=read, total=total))


@pytest.mark.parametrize("name", redfish_profiles.FAULTS)
def test_a_fault_that_passes_ends_in_exactly_one_power_on(name: str) -> None:
    with RedfishServer(faults=redfish_profiles.FAULTS[name]) as peer:
        driver = open_driver(peer)
        assert driver.power_state() == PowerState.OFF
        driver.set_power("on")
        assert driver.power_state() == PowerState.ON
        assert peer.machine.resets == ["On"]


@pytest.mark.parametrize("fault", ["rst-after", "answer-after"])
def test_an_insert_whose_answer_is_lost_is_not_repeated(fault: str) -> None:
    with RedfishServer(faults=(Fault(fault, path="InsertMedia", status=500),)) as peer:
        driver = open_driver(peer)
        driver.insert_media(IMAGE)
        assert peer.machine.image == IMAGE
        assert len(peer.machine.inserts) == 1


@pytest.mark.parametrize("kind", ["hang", "trickle"])
def test_a_silent_bmc_is_given_up_within_the_total_time(kind: str) -> None:
    with RedfishServer(faults=(Fault(kind, path="Systems", times=99),)) as peer:
        driver = open_driver(peer, total=1.5, read=1)
        start = time.monotonic()
        with pytest.raises(errors.Timeout) as caught:
            driver.power_state()
        assert time.monotonic() - start < 4
        assert caught.value.transient
        assert peer.url in caught.value.message


def test_a_bmc_that_stays_busy_is_reported_with_its_own_words_and_wait() -> None:
    body = (Path(__file__).parent / "data/redfish/09-dell-idrac9-busy-error.json").read_text()
    fault = Fault("answer", path="Systems", status=400, body=body, headers=(("Retry-After", "120"),), times=99)
    with RedfishServer(faults=(fault,)) as peer, pytest.raises(errors.Busy, match="SYS431") as caught:
        open_driver(peer).power_state()
    assert caught.value.retry_after == 120
    assert caught.value.transient


def test_a_closed_port_is_unreachable() -> None:
    with RedfishServer() as peer:
        gone = peer.address
    access = Access(address=gone, username="admin", password=SecretStr("password"))
    with pytest.raises(errors.Unreachable):
        registry.connect(access, Limits(connect=1, read=1, total=1)).power_state()


def test_other_client_errors_are_not_repeated() -> None:
    with RedfishServer(faults=(Fault("answer", path="Systems/1$", status=400, times=99),)) as peer:
        with pytest.raises(errors.Failed) as caught:
            open_driver(peer).power_state()
        assert caught.value.status == 400
        assert [path for _, path in peer.requests].count("/redfish/v1/Systems/1") == 1


@pytest.mark.parametrize("body", ["", "not json", "[]", '"text"', '{"error": "text"}', '{"error": []}', "<html>"])
def test_an_error_body_of_any_shape_is_read(body: str) -> None:
    fault = Fault("answer", path="Systems", status=400, body=body, times=99)
    with RedfishServer(faults=(fault,)) as peer, pytest.raises(errors.Failed):
        open_driver(peer).power_state()


@pytest.mark.parametrize("sessions", [True, False])
def test_a_wrong_password_is_tried_once_so_that_the_account_is_not_locked(sessions: bool) -> None:
    with RedfishServer(Profile(sessions=sessions)) as peer:
        with pytest.raises(errors.CredentialsRefused, match="correct the Secret"):
            open_driver(peer, password="wrong").power_state()
        assert peer.logins == 1


def test_a_password_that_is_no_latin_text_works() -> None:
    for sessions in (True, False):
        with RedfishServer(Profile(sessions=sessions), password="пароль€") as peer:
            assert open_driver(peer, password="пароль€").power_state() == PowerState.OFF


def test_a_session_that_expired_is_opened_again() -> None:
    with RedfishServer() as peer:
        driver = open_driver(peer)
        driver.power_state()
        peer.sessions.clear()
        assert driver.power_state() == PowerState.OFF


def test_a_session_is_given_back() -> None:
    with RedfishServer() as peer:
        driver = open_driver(peer)
        driver.power_state()
        assert len(peer.sessions) == 1
        driver.close()
        assert not peer.sessions


@pytest.mark.parametrize("target", ["http://192.0.2.1/redfish/v1/", "http://127.0.0.1:1/redfish/v1/"])
def test_a_redirect_to_another_host_is_not_followed(target: str) -> None:
    fault = Fault("answer", path="Systems", status=307, headers=(("Location", target),), times=9)
    with RedfishServer(faults=(fault,)) as peer, pytest.raises(errors.Failed, match="points elsewhere"):
        open_driver(peer).power_state()


def test_a_redirect_on_the_same_bmc_is_followed_with_its_method() -> None:
    where = "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"
    fault = Fault("answer", method="POST", path="Reset$", status=308, headers=(("Location", where),))
    with RedfishServer(faults=(fault,)) as peer:
        open_driver(peer).set_power("on")
        assert peer.machine.resets == ["On"]


@pytest.mark.parametrize("profile", redfish_profiles.BOOT, ids=lambda profile: profile.name)
def test_the_cd_becomes_the_next_boot_device(profile: Profile) -> None:
    with RedfishServer(profile) as peer:
        driver = open_driver(peer)
        driver.insert_media(IMAGE)
        driver.boot_once("cd", "UEFI")
        path, body = peer.machine.boot_patches[-1]
        assert body["BootSourceOverrideEnabled"] == "Once"
        assert body["BootSourceOverrideTarget"] in ("Cd", "UsbCd")
        assert path.endswith("Settings") == (profile.boot_settings == "required")
        assert ("BootSourceOverrideMode" in body) == profile.boot_needs_mode
        driver.set_power("on")
        assert peer.machine.booted_from == IMAGE


def test_a_device_that_the_bmc_does_not_offer_is_refused_with_what_it_offers() -> None:
    with RedfishServer(Profile(boot_targets=("None", "Hdd"))) as peer, pytest.raises(errors.NotSupported, match="Hdd"):
        open_driver(peer).boot_once("cd")


@pytest.mark.parametrize(
    ("profile", "error", "said"),
    [
        (Profile(media_at="none"), errors.NotSupported, "no virtual CD"),
        (Profile(insert_error="iBMC.1.0.FileTransferProtocolMismatch"), errors.NotSupported, "http://"),
        (Profile(success_with_error=True), errors.Failed, "ImageUrlInvalid"),
        (Profile(insert_error="Base.1.12.ResourceMissingAtURI"), errors.Failed, "400"),
    ],
)
def test_an_insert_that_can_not_work_says_why(profile: Profile, error: type[Exception], said: str) -> None:
    with RedfishServer(profile) as peer, pytest.raises(error, match=said):
        open_driver(peer).insert_media(IMAGE)


def test_an_image_that_stays_in_after_the_eject_is_an_error_in_time() -> None:
    with RedfishServer(Profile(eject_ignored=99)) as peer:
        driver = open_driver(peer, total=2)
        driver.insert_media(IMAGE)
        with pytest.raises(errors.Timeout, match="still holds an image"):
            driver.eject_media()


def test_a_soft_power_off_that_has_no_effect_can_be_followed_by_a_hard_one() -> None:
    with RedfishServer(Profile(soft_works=False)) as peer:
        driver = open_driver(peer)
        driver.set_power("on")
        driver.set_power("off", "soft")
        assert driver.power_state() == PowerState.ON
        driver.set_power("off", "hard")
        assert driver.power_state() == PowerState.OFF
        assert peer.machine.resets == ["On", "GracefulShutdown", "ForceOff"]


@pytest.mark.parametrize("shown", ["missing", "Paused", "Unknown"])
def test_an_unclear_power_state_is_unknown(shown: str) -> None:
    with RedfishServer(Profile(power_state=shown)) as peer:
        assert open_driver(peer).power_state() == PowerState.UNKNOWN


def test_only_a_power_button_is_not_supported() -> None:
    with RedfishServer(Profile(reset_types=("PushPowerButton",))) as peer, pytest.raises(errors.NotSupported):
        open_driver(peer).set_power("on")


def test_the_only_system_is_found_and_several_are_listed() -> None:
    for count in (1, 3):
        with RedfishServer(Profile(systems=count)) as peer:
            access = Access(address=f"redfish+{peer.url}", username="admin", password=SecretStr("password"))
            driver = registry.connect(access, Limits(total=5))
            if count == 1:
                assert driver.power_state() == PowerState.OFF
                continue
            with pytest.raises(errors.AddressInvalid, match="/redfish/v1/Systems/3") as caught:
                driver.power_state()
            assert caught.value.code == "SystemAmbiguous"


def test_a_system_that_does_not_exist_is_named_with_those_that_do() -> None:
    with RedfishServer() as peer:
        access = Access(
            address=f"redfish+{peer.url}/System.Embedded.1", username="admin", password=SecretStr("password")
        )
        with pytest.raises(errors.AddressInvalid, match="it has /redfish/v1/Systems/1"):
            registry.connect(access, Limits(total=5)).power_state()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """PEM files: key and certificate of a server (``NAME``), the certificate alone to trust it (``NAME-ca``)."""
    folder = tmp_path_factory.mktemp("tls")
    address, other = x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("bmc.example.test")
    made = {}
    for name, alternative, days in (("good", address, 1), ("other", other, 1), ("expired", address, -1)):
        key, certificate = _certificate(name, alternative, days)
        (folder / f"{name}.pem").write_bytes(key + certificate)
        (folder / f"{name}.crt").write_bytes(certificate)
        made[name], made[f"{name}-ca"] = str(folder / f"{name}.pem"), str(folder / f"{name}.crt")
    return made


def _certificate(name: str, alternative: x509.GeneralName, days: int) -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=3))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
        .sign(key, hashes.SHA256())
    )
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return text, certificate.public_bytes(serialization.Encoding.PEM)


@pytest.fixture(params=[False, True], ids=["plain environment", "environment names a CA"])
def environment(
    request: pytest.FixtureRequest, certificates: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    if request.param:
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
            monkeypatch.setenv(name, certificates["good-ca"])
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    yield


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(
    ("server", "ca", "verify", "works"),
    [
        ("good", "good-ca", True, True),
        ("good", "", True, False),
        ("good", "other-ca", True, False),
        ("good", "", False, True),
        ("other", "other-ca", True, False),
        ("other", "", False, True),
        ("expired", "expired-ca", True, False),
        ("expired", "", False, True),
    ],
)
def test_the_certificate_is_checked_as_the_host_says_whatever_the_environment(
    certificates: dict[str, str], server: str, ca: str, verify: bool, works: bool
) -> None:
    with RedfishServer(certificate=certificates[server]) as peer:
        driver = open_driver(peer, verify_certificate=verify, ca_file=certificates.get(ca, ""))
        if works:
            assert driver.power_state() == PowerState.OFF
            return
        with pytest.raises(errors.TlsVerificationFailed, match="certificate") as caught:
            driver.power_state()
        assert not caught.value.transient
