"""Manifests become objects; values can't change the shape of a document; what is wrong is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from capm3_testbed import manifests
from capm3_testbed.demo import view
from capm3_testbed.manifests import Values

URL = "http://127.0.0.1:8080/live.iso"


def test_the_shipped_manifest_asks_for_one_control_plane_and_two_workers() -> None:
    objects = manifests.shipped(Values(URL))
    assert view.machines_wanted(objects) == 3
    assert manifests.namespaces(objects, "default") == ["metal3"]


def test_values_are_data_and_never_yaml() -> None:
    nasty = 'x"\n---\nkind: Secret # {{ 7 * 7 }}'
    objects = manifests.shipped(Values(nasty))
    assert len(objects) == len(manifests.shipped(Values(URL)))
    template = next(obj for obj in objects if obj["kind"] == "Metal3MachineTemplate")
    assert template["spec"]["template"]["spec"]["image"]["url"] == nasty


def test_a_users_manifest_may_ask_for_the_served_image(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {url: '${IMAGE_URL}'}\n---\n")
    (obj,) = manifests.load(file, URL)
    assert obj["data"] == {"url": URL}


def test_lists_are_unfolded() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
    assert [obj["kind"] for obj in manifests.parse(text, "x")] == ["ConfigMap"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [", "m.yaml: not YAML"),
        ("kind: Cluster\n", "document 1: no apiVersion or kind"),
        ("apiVersion: v1\nkind: ConfigMap\n", r"document 1 \(ConfigMap\): no metadata.name"),
        ("- a\n", "document 1: no apiVersion or kind"),
    ],
)
def test_what_is_wrong_is_named(text: str, told: str) -> None:
    with pytest.raises(manifests.ManifestError, match=told):
        manifests.parse(text, "m.yaml")


def test_a_missing_file_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(manifests.ManifestError, match="No such file"):
        manifests.load(tmp_path / "none.yaml", URL)
