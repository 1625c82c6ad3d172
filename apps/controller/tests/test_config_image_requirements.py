"""What goes into an image is all that the app needs of constraints.txt, with hashes, and nothing that it does not."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[3]
WEBHOOK = ("libs/capm3-api", "apps/webhook")
CONTROLLER = ("libs/capm3-managers", "libs/capm3-hwdrivers", "apps/controller", *WEBHOOK)

SAMPLE = """\
# made by hand
aa-b==1 \\
    --hash=sha256:11 \\
    --hash=sha256:12
    # via
    #   Cc.D
    #   capm3-api (libs/capm3-api/pyproject.toml)
Cc_D==2 ; sys_platform == 'win32' \\
    --hash=sha256:21
    # via ee
ee==3 \\
    --hash=sha256:31
    # via capm3-testbed (testbed/pyproject.toml)
"""


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("image_requirements", ROOT / "tools" / "image_requirements.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def picked(tool, folders):
    projects = [ROOT / folder for folder in folders]
    table = tool.pins((ROOT / "constraints.txt").read_text())
    own = frozenset({"capm3-api", "capm3-managers", "capm3-hwdrivers", "capm3-webhook", "capm3-controller"})
    return {name: table[name] for name in tool.closure(table, tool.direct(projects, own))}


def test_pins_keep_hashes_and_markers_and_leave_notes_out(tool):
    table = tool.pins(SAMPLE)
    assert list(table) == ["aa-b", "cc-d", "ee"]
    assert table["aa-b"].text == "aa-b==1 \\\n    --hash=sha256:11 \\\n    --hash=sha256:12"
    assert table["cc-d"].text.startswith("Cc_D==2 ; sys_platform == 'win32'")
    assert table["aa-b"].needed_by == {"cc-d", "capm3-api"}


def test_what_is_needed_through_others_is_picked_and_the_rest_is_not(tool):
    table = tool.pins(SAMPLE)
    assert tool.closure(table, {"ee"}) == ["aa-b", "cc-d", "ee"]
    assert tool.closure(table, {"aa-b"}) == ["aa-b"]


def test_a_package_that_is_not_pinned_is_named_with_the_mend(tool):
    with pytest.raises(SystemExit, match="lacks zz; run nox -s constraints"):
        tool.closure(tool.pins(SAMPLE), {"zz"})


@pytest.mark.parametrize("folders", [WEBHOOK, CONTROLLER], ids=["webhook", "controller"])
def test_every_package_comes_with_a_hash_and_with_what_it_needs_itself(tool, folders):
    chosen = picked(tool, folders)
    assert all("--hash=sha256:" in pin.text for pin in chosen.values())
    lacking = []
    for name, pin in chosen.items():
        if Requirement(pin.text.partition("\\")[0]).marker is not None:
            continue
        wanted = [Requirement(text) for text in importlib.metadata.requires(name) or []]
        needed = [one.name for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
        lacking += [f"{name} needs {one}" for one in needed if tool.normal(one) not in chosen]
    assert lacking == []


def test_the_webhook_image_has_no_kubernetes_client_and_neither_has_what_tests(tool):
    assert not {"kubernetes", "sushy", "requests"} & set(picked(tool, WEBHOOK))
    assert {"kubernetes", "sushy", "starlette"} <= set(picked(tool, CONTROLLER))
    assert not {"pytest", "hypothesis", "sushy-tools", "hatchling", "uv"} & set(picked(tool, CONTROLLER))
