"""etcd and kube-apiserver are found where they are, built when they are not, and the lack of Go is said in words."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from capm3_testbed.apiserver import binaries, build

FAKE_GO = """#!/bin/sh
if [ "$1" = list ]; then
  printf 'a\\nb\\nc\\n'
  exit 0
fi
echo "go: downloading example.test/x v1.0.0" >&2
for name in a b; do echo "$name" >&2; done
[ -n "$FAKE_GO_FAILS" ] && { echo "a.go:1: broken" >&2; exit 1; }
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\n' > "$2"
chmod +x "$2"
"""


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}


def test_the_folder_that_the_user_names_comes_first(tmp_path: Path, environ: dict[str, str]) -> None:
    for name in ("etcd", "kube-apiserver"):
        program(tmp_path / "assets" / name)
        program(binaries.cache_folder(environ) / name)
    found = binaries.look({**environ, "KUBEBUILDER_ASSETS": str(tmp_path / "assets")})
    assert found is not None
    assert found.etcd == tmp_path / "assets" / "etcd"
    cached = binaries.look(environ)
    assert cached is not None
    assert cached.origin == "cache"


def test_a_named_folder_without_the_programs_is_an_error(tmp_path: Path, environ: dict[str, str]) -> None:
    with pytest.raises(build.MissingToolError, match=r"KUBEBUILDER_ASSETS=.* holds no executable"):
        binaries.find(print, {**environ, "KUBEBUILDER_ASSETS": str(tmp_path)})


def test_the_cache_is_outside_the_repository_and_named_by_version(environ: dict[str, str]) -> None:
    folder = binaries.cache_folder(environ)
    assert folder.name == f"kubernetes-{build.KUBE_APISERVER.version}-etcd-{build.ETCD.version}"
    assert Path(environ["XDG_CACHE_HOME"]) in folder.parents


def test_a_lack_of_go_is_said_with_both_ways_out(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(build.MissingToolError, match=r"install Go .* KUBEBUILDER_ASSETS"):
        binaries.find(print, environ)


def test_what_is_missing_is_built_once_and_told(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "go", FAKE_GO)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    lines: list[str] = []
    found = binaries.find(lines.append, environ)
    assert found.origin == "built"
    assert os.access(found.kube_apiserver, os.X_OK)
    assert [line.partition(" ")[0] for line in lines] == ["building", "built", "building", "built"]
    assert sorted(path.name for path in binaries.cache_folder(environ).iterdir()) == ["etcd", "kube-apiserver"]
    lines.clear()
    assert binaries.find(lines.append, environ).origin == "cache"
    assert lines == []


def test_a_failed_build_shows_the_compiler_and_leaves_nothing(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "go", FAKE_GO)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_GO_FAILS", "1")
    with pytest.raises(build.MissingToolError, match=r"a\.go:1: broken"):
        binaries.find(print, environ)
    assert list(binaries.cache_folder(environ).iterdir()) == []


@pytest.mark.parametrize("program_", [build.ETCD, build.KUBE_APISERVER], ids=lambda item: item.name)
def test_the_tools_modules_pin_the_versions_that_are_built(program_: build.Program) -> None:
    text = (build.tools_folder() / program_.module / "go.mod").read_text()
    module = program_.package.removesuffix("/cmd/kube-apiserver")
    assert f"tool {program_.package}" in text
    assert f"{module} v{program_.version}" in text
