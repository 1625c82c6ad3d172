"""The state of one object in a few words, and what it waits for.

Apart from `chain`, which follows a wait from object to object: this looks at one, and at most at the next to it. The
sentences are the same in the demo's table, in its log and in ``capm3 tree``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from capm3_api import condition, kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import hosts
from capm3_managers.data import report
from capm3_managers.overview import objects as looking
from capm3_managers.overview.objects import Objects


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of a table.

    Args:
        done: whether it is as it should be, for the colour.
        why: what it waits for; empty when it waits for nothing.
    """

    kind: str
    name: str
    state: str
    why: str
    done: bool


Look = Callable[[Raw, Objects], tuple[str, str, bool]]
"""State, why, done."""


def of(obj: Raw, objects: Objects) -> Row:
    """The state of an object of any kind."""
    kind = looking.kind_of(obj)
    look = _LOOKS.get(kind, _other) if kind is not None else _other
    state, why, done = look(obj, objects)
    if looking.deleting(obj) and not state.startswith("Deleting"):
        state, done = f"Deleting, {state}" if state else "Deleting", False
    return Row(str(obj.get("kind")), looking.name_of(obj), state, why, done)


def rows(objects: Objects) -> list[Row]:
    """What a person follows: clusters, their control planes and deployments, machines, hosts."""
    shown = (
        kinds.CLUSTER,
        kinds.KUBEADM_CONTROL_PLANE,
        kinds.MACHINE_DEPLOYMENT,
        kinds.MACHINE,
        kinds.BARE_METAL_HOST,
    )
    return [of(obj, objects) for kind in shown for obj in objects.all(kind)]


def _cluster(cluster: Raw, objects: Objects) -> tuple[str, str, bool]:
    done = condition.is_true(cluster, "Available")
    return _phase(cluster), "" if done else _message(cluster, "Available"), done


def _scaled(obj: Raw, objects: Objects) -> tuple[str, str, bool]:
    want, have = looking.number(obj, 1, "spec", "replicas"), looking.number(obj, 0, "status", "availableReplicas")
    done = have >= want
    state = "Deleting" if looking.deleting(obj) else f"{have} of {want} available"
    return state, "" if done else _message(obj, "Available"), done


def _machine(machine: Raw, objects: Objects) -> tuple[str, str, bool]:
    done = hosts.text(machine, "status", "phase") == "Running"
    name = hosts.text(machine, "spec", "infrastructureRef", "name")
    infra = objects.get(kinds.METAL3_MACHINE, Key(meta.key_of(machine).namespace, name))
    why = "" if done else _machine_why(machine, infra)
    on = looking.host_name(infra) if infra else ""
    return f"{_phase(machine)} on {on}" if on else _phase(machine), why, done


def _machine_why(machine: Raw, infra: Raw | None) -> str:
    """The most telling message: deletion, then bootstrap, then the infrastructure's own conditions, then the Node."""
    if looking.deleting(machine):
        return _message(machine, "Deleting")
    if not condition.is_true(machine, "BootstrapConfigReady"):
        return _message(machine, "BootstrapConfigReady")
    if infra is not None and not looking.provisioned(infra):
        told = _told(infra)
        if told:
            return told
    return _message(machine, "InfrastructureReady") or _message(machine, "NodeHealthy")


def _told(obj: Raw) -> str:
    """What the first condition that is not true says; a summary only when nothing else does."""
    told = [item for item in looking.conditions(obj) if item.get("status") == "False"]
    told.sort(key=lambda item: item.get("type") == "Ready")
    for item in told:
        if item.get("type") not in ("Paused", "Deleting") and (item.get("message") or item.get("reason")):
            return looking.line(str(item.get("message") or item.get("reason")))
    return ""


def _host(host: Raw, objects: Objects) -> tuple[str, str, bool]:
    state = hosts.state(host) or "new"
    powered = hosts.part(host, "status").get("poweredOn")
    power = {True: "on", False: "off"}.get(powered, "power unknown") if isinstance(powered, bool) else "power unknown"
    holder = hosts.text(host, "spec", "consumerRef", "name")
    error = hosts.text(host, "status", "errorMessage")
    why = looking.line(error) if error else (f"held by {holder}" if holder else "")
    done = not error and state in ("available", "ready", "provisioned")
    return f"{state}, {power}", why, done


def _infrastructure(obj: Raw, objects: Objects) -> tuple[str, str, bool]:
    done = looking.provisioned(obj)
    on = looking.host_name(obj)
    state = "provisioned" if done else "not provisioned"
    return f"{state}, host {on}" if on else state, _told(obj), done and not _told(obj)


def _data(data: Raw, objects: Objects) -> tuple[str, str, bool]:
    done = hosts.part(data, "status").get("ready") is True
    told = report.of(data)
    why = told.message if told is not None else hosts.text(data, "status", "errorMessage")
    index = f"index {looking.number(data, 0, 'spec', 'index')}"
    return f"{index}, {'ready' if done else 'not ready'}", "" if done else looking.line(why), done


def _claim(claim: Raw, objects: Objects) -> tuple[str, str, bool]:
    answer = next((name for path in _ANSWERS if (name := hosts.text(claim, "status", *path, "name"))), "")
    error = hosts.text(claim, "status", "errorMessage")
    return f"answered by {answer}" if answer else "not answered", looking.line(error), bool(answer) and not error


def _address(address: Raw, objects: Objects) -> tuple[str, str, bool]:
    return hosts.text(address, "spec", "address"), "", True


def _pool(pool: Raw, objects: Objects) -> tuple[str, str, bool]:
    used = len(hosts.part(pool, "status", "indexes"))
    return f"{used} addresses used", "", True


def _other(obj: Raw, objects: Objects) -> tuple[str, str, bool]:
    ready = condition.get(obj, "Ready") or {}
    done = ready.get("status") in (None, "True")
    return "" if done else "not ready", "" if done else _told(obj), done


def _phase(obj: Raw) -> str:
    return "Deleting" if looking.deleting(obj) else hosts.text(obj, "status", "phase") or "new"


def _message(obj: Raw, type_: str) -> str:
    return looking.line(looking.message(obj, type_))


_ANSWERS = (("renderedData",), ("address",), ("addressRef",))
_LOOKS: Mapping[Kind, Look] = {
    kinds.CLUSTER: _cluster,
    kinds.KUBEADM_CONTROL_PLANE: _scaled,
    kinds.MACHINE_DEPLOYMENT: _scaled,
    kinds.MACHINE_SET: _scaled,
    kinds.MACHINE: _machine,
    kinds.BARE_METAL_HOST: _host,
    kinds.METAL3_CLUSTER: _infrastructure,
    kinds.METAL3_MACHINE: _infrastructure,
    kinds.METAL3_DATA: _data,
    kinds.METAL3_DATA_CLAIM: _claim,
    kinds.IP_CLAIM: _claim,
    kinds.CAPI_IP_ADDRESS_CLAIM: _claim,
    kinds.IP_ADDRESS: _address,
    kinds.CAPI_IP_ADDRESS: _address,
    kinds.IP_POOL: _pool,
}
