"""Bodies that real BMCs sent: every one is read without an exception, and what could not be read is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from capm3_hwdrivers.model import PowerState
from capm3_hwdrivers.redfish import boot, inventory, media, power, quirks
from hypothesis import given, settings
from hypothesis import strategies as st

FOLDER = Path(__file__).parent / "data" / "redfish"
BODIES = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


def read_every_way(body: Any) -> list[str]:
    """Gives the body to every reader, as if it were the resource that reader is for; returns the notes."""
    notes: list[str] = []
    found = inventory.system(body)
    found.to_hardware()
    notes.extend(found.notes)
    notes.extend(inventory.nic(body)[1])
    notes.extend(inventory.storage(body)[2])
    notes.extend(inventory.drive(body)[1])
    notes.extend(inventory.processor(body)[1])
    power.state(body)
    power.reset_action(body)
    power.values_of(body, "ResetType")
    boot.info(body)
    boot.settings_path(body)
    media.slot("/redfish/v1/Managers/1/VirtualMedia/Cd", body)
    quirks.messages(body)
    quirks.busy(400, body)
    quirks.error_only_in_messages(body)
    return notes


@pytest.mark.parametrize("name", BODIES)
def test_a_real_body_is_read_by_every_reader_without_an_exception(name: str) -> None:
    read_every_way(BODIES[name])


def test_there_are_bodies() -> None:
    assert len(BODIES) >= 14


def test_hpe_system_mac_addresses_are_found_inside_the_uefi_paths() -> None:
    found = inventory.system(BODIES["01-hpe-ilo-system"])
    assert [nic.mac for nic in found.nics] == ["02:00:00:00:0a:01"]
    assert (found.manufacturer, found.product, found.ram_mib) == ("HPE", "Edgeline e930t", 256 * 1024)
    assert power.state(BODIES["01-hpe-ilo-system"]) == PowerState.ON
    assert "/redfish/v1/Systems/1: no core count; 1 processor(s)" in found.notes


def test_hpe_media_holds_its_image() -> None:
    found = media.slot("/redfish/v1/Managers/1/VirtualMedia/2", BODIES["03-hpe-ilo-virtualmedia-inserted"])
    assert (found.inserted, found.image, found.optical) == (True, "http://192.0.2.15/iso/node.iso", True)
    assert found.insert.endswith("InsertMedia")


def test_hpe_card_with_nulls_keeps_its_address_and_the_odd_ip_is_left_out() -> None:
    nic, notes = inventory.nic(BODIES["05-hpe-ilo-ethernet-sparse"])
    assert nic is not None
    assert (nic.mac, nic.name, nic.ip, nic.speed_gbps) == ("02:00:00:00:0a:01", "1", "", 0)
    assert any("N/A" in note for note in notes)


def test_hpe_storage_links_its_drive() -> None:
    linked, whole, _ = inventory.storage(BODIES["07-hpe-ilo-storage-nvme"])
    assert linked == ("/redfish/v1/Systems/1/Storage/DA000000/Drives/DA000000/",)
    assert whole == ()


def test_dell_busy_error_means_later() -> None:
    assert "SYS431" in quirks.busy(400, BODIES["09-dell-idrac9-busy-error"])


@pytest.mark.parametrize("name", ["11-dell-idrac9-manager-minimal", "17-ami-self-manager-no-virtualmedia-link"])
def test_a_manager_without_virtual_media_link_has_none(name: str) -> None:
    assert quirks.link(BODIES[name], "VirtualMedia") == ""


def test_lenovo_slot_without_actions_is_patched() -> None:
    found = media.slot("/redfish/v1/Managers/1/VirtualMedia/EXT1", BODIES["13-lenovo-xcc-ext1-no-actions"])
    assert (found.insert, found.eject, found.inserted, found.shows_image) == ("", "", True, True)


def test_supermicro_success_object_is_no_error() -> None:
    assert not quirks.error_only_in_messages(BODIES["15-supermicro-success-object"])


def test_inspur_slot_without_inserted_counts_as_empty_when_it_has_no_image() -> None:
    body = BODIES["19-inspur-virtualmedia-no-inserted"]
    assert media.slot("/x/CD", body).inserted is False
    assert media.slot("/x/CD", {**body, "Image": "http://192.0.2.1/a.iso"}).inserted is True


def test_cisco_system_named_by_its_serial_number_can_be_reset() -> None:
    target, allowed, _ = power.reset_action(BODIES["21-cisco-cimc-system-id-is-serial"])
    assert target.startswith("/redfish/v1/Systems/SER00000021/")
    assert "PowerCycle" in allowed
    assert power.state(BODIES["21-cisco-cimc-system-id-is-serial"]) == PowerState.UNKNOWN


def test_fujitsu_storage_member_in_full_has_no_drives_and_says_so() -> None:
    member = BODIES["23-fujitsu-irmc-storage-member"]["Members"][0]
    assert inventory.storage(member) == ((), (), ("/redfish/v1/Systems/0/Storage/0: no drives listed",))


def test_huawei_slot_with_only_the_vendors_action_names_it() -> None:
    found = media.slot("/redfish/v1/Managers/1/VirtualMedia/CD", BODIES["25-huawei-ibmc-virtualmedia-oem-only"])
    assert found.insert == ""
    assert found.oem == ("#VirtualMedia.VmmControl",)


def test_huawei_refuses_http_images_by_name() -> None:
    codes = [one.id.rpartition(".")[2] for one in quirks.messages(BODIES["27-huawei-ibmc-insert-http-refused"])]
    assert set(codes) & set(quirks.PROTOCOL_REFUSED)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("02:00:00:00:0A:01", "02:00:00:00:0a:01"),
        ("02-00-00-00-0a-01", "02:00:00:00:0a:01"),
        ("020000000A01", "02:00:00:00:0a:01"),
        ("00:00:00:00:00:00", ""),
        ("N/A", ""),
        ("", ""),
        ("02:00:00:00:0a:01:02:03", ""),
    ],
)
def test_mac_addresses_have_one_form(text: str, wanted: str) -> None:
    assert inventory.mac(text) == wanted


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("Manufacturer", 7, "Manufacturer is not text"),
        ("MemorySummary", [], "MemorySummary is not an object"),
        ("MemorySummary", {"TotalSystemMemoryGiB": "lots"}, "TotalSystemMemoryGiB is not a number"),
        ("ProcessorSummary", {"Count": -1}, "Count is not a number"),
    ],
)
def test_a_field_of_another_type_is_left_out_and_named(field: str, value: Any, said: str) -> None:
    notes = inventory.system({**BODIES["01-hpe-ilo-system"], field: value}).notes
    assert any(said in note for note in notes)


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=True)
    | st.sampled_from(["", "N/A", "On", "0x1"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["@odata.id", "target", "Address"]), inner)
    ),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(BODIES)), st.data())
def test_a_real_body_with_any_value_in_any_place_is_still_read(name: str, data: st.DataObject) -> None:
    body = json.loads(json.dumps(BODIES[name]))
    here, path = body, []
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        path.append(key)
        if isinstance(here[key], (dict, list)) and here[key] and data.draw(st.booleans()):
            here = here[key]
            continue
        here[key] = data.draw(_VALUES)
        break
    read_every_way(body)
