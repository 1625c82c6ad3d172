"""Takes a Machine apart in core's order: hooks, infrastructure machine, bootstrap config, Node, finalizer.

Apart from the rest of a Machine's pass, because the order is the contract here: user data outlive the hardware. Draining
is left out: no pods run in the testbed's workload clusters.
"""

from __future__ import annotations

from capm3_api import condition, kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_testbed.capi import shapes
from capm3_testbed.capi.api import Core, deleting, kind_of, mapping, name_of, put, text

FINALIZER = "machine.cluster.x-k8s.io"
_PRE_DRAIN = "pre-drain.delete.hook.machine.cluster.x-k8s.io"
_PRE_TERMINATE = "pre-terminate.delete.hook.machine.cluster.x-k8s.io"


def run(core: Core, machine: Raw, wanted: Raw, cluster: Raw) -> None:
    """One pass over a Machine that is being deleted; says in its Deleting condition what is awaited."""
    waiting = _next(core, machine, cluster)
    if waiting is None:
        core.save(kinds.MACHINE, machine, shapes.without_finalizer(machine, FINALIZER))
        return
    reason, message = waiting
    wanted = condition.set_condition(wanted, "Deleting", "True", reason, message, now=core.now)
    core.save(kinds.MACHINE, machine, put(wanted, "Deleting", "status", "phase"))


def _next(core: Core, machine: Raw, cluster: Raw) -> tuple[str, str] | None:
    """The step that is awaited, as reason and message; ``None`` when nothing is left."""
    node_may_go = not deleting(cluster)
    if node_may_go and _hooks(machine, _PRE_DRAIN):
        return "WaitingForPreDrainHook", f"Waiting for {', '.join(_hooks(machine, _PRE_DRAIN))}"
    if _hooks(machine, _PRE_TERMINATE):
        return "WaitingForPreTerminateHook", f"Waiting for {', '.join(_hooks(machine, _PRE_TERMINATE))}"
    infra = mapping(machine, "spec", "infrastructureRef")
    if _remains(core, machine, infra):
        return "WaitingForInfrastructureDeletion", f"Waiting for {infra.get('kind')} to be deleted"
    if _remains(core, machine, mapping(machine, "spec", "bootstrap", "configRef")):
        return "WaitingForBootstrapDeletion", "Waiting for the bootstrap config to be deleted"
    node = text(machine, "status", "nodeRef", "name") or _node_by_id(core, machine, cluster)
    if node_may_go and node:
        core.workload.delete_node(meta.key_of(cluster), node)
    return None


def _hooks(machine: Raw, prefix: str) -> list[str]:
    return sorted(key for key in shapes.annotations_of(machine) if key.startswith(prefix))


def _remains(core: Core, machine: Raw, ref: Raw) -> bool:
    """Asks for deletion of a companion and says whether it is still there."""
    if not ref:
        return False
    kind = kind_of(ref)
    key = Key(meta.key_of(machine).namespace, str(ref.get("name") or ""))
    obj = core.api.get(kind, key)
    if obj is None:
        return False
    core.delete(kind, obj)
    return core.api.get(kind, key) is not None


def _node_by_id(core: Core, machine: Raw, cluster: Raw) -> str:
    provider_id = text(machine, "spec", "providerID")
    if not provider_id:
        return ""
    nodes = core.workload.nodes(meta.key_of(cluster))
    return next((name_of(node) for node in nodes if text(node, "spec", "providerID") == provider_id), "")
