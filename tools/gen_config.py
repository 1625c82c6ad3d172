"""Writes what the install manifests take from the code: CRDs, roles, webhook configurations; ``--check`` only compares.

Apart from the rest of ``config/``, which people write by hand. Names here are those before kustomize puts namespace and
prefix on: namespace ``system``, Service ``webhook-service``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml
from capm3_api import crdgen, crdgen_facts, kinds
from capm3_controller import rbac, wiring
from capm3_controller.settings import Settings
from capm3_webhook import manifests

CONFIG = Path(__file__).resolve().parent.parent / "config"
NAMESPACE, SERVICE = "system", "webhook-service"
HEAD = "# Made by `nox -s generate`; what it is made from: {source}.\n"

Raw = dict[str, Any]


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def crds() -> dict[str, str]:
    """The nine CRDs with their conversion webhook, and the kustomization that lists them."""
    webhook = crdgen.Webhook(service=SERVICE, namespace=NAMESPACE)
    ours = [facts for facts in crdgen_facts.ALL.values() if facts.kind in kinds.OURS]
    files = {
        f"crd/bases/{crdgen.file_name(facts.kind)}": _text("capm3_api.crdgen", [crdgen.generate(facts, webhook)])
        for facts in ours
    }
    listing: Raw = {
        "resources": sorted(name.removeprefix("crd/") for name in files),
        "configurations": ["kustomizeconfig.yaml"],
    }
    return {**files, "crd/kustomization.yaml": _text("capm3_api.crdgen_facts", [listing])}


def roles() -> str:
    """Rights of the controllers that run by default, and of the lease."""
    rules = rbac.rules(wiring.chosen(Settings()))
    return _text(
        "capm3_controller.rbac",
        [rbac.role("manager-role", rules), rbac.role("leader-election-role", rbac.LEADER, NAMESPACE)],
    )


def webhooks() -> str:
    """Both webhook configurations."""
    return _text("capm3_webhook.paths", manifests.configurations(manifests.Service(NAMESPACE, SERVICE), prefix=""))


def rendered() -> dict[str, str]:
    """Path below ``config/`` to text."""
    return {**crds(), "rbac/role.yaml": roles(), "webhook/manifests.yaml": webhooks()}


def _text(source: str, objects: list[Raw]) -> str:
    body = yaml.dump_all(objects, Dumper=_Dumper, sort_keys=True, width=1000, explicit_start=len(objects) > 1)
    return HEAD.format(source=source) + str(body)


def main() -> int:
    """Returns 1 when ``--check`` finds a file that differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 on a difference")
    check = parser.parse_args().check
    texts = rendered()
    stale = [name for name, text in texts.items() if not _same(CONFIG / name, text)]
    extra = sorted(path for path in (CONFIG / "crd" / "bases").glob("*") if f"crd/bases/{path.name}" not in texts)
    if check:
        for name in [*stale, *(f"crd/bases/{path.name}" for path in extra)]:
            print(f"differs: config/{name}; run nox -s generate")
        return 1 if stale or extra else 0
    for name in stale:
        (CONFIG / name).parent.mkdir(parents=True, exist_ok=True)
        (CONFIG / name).write_text(texts[name])
        print(f"written: config/{name}")
    for path in extra:
        path.unlink()
        print(f"removed: config/crd/bases/{path.name}")
    return 0


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main())
