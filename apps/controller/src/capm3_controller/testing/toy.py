"""A toy manager, just big enough to see the runtime at work: it copies ``spec.wish`` to ``status.granted``.

Other words in the spec make it fail in every way a manager can.
"""

from __future__ import annotations

import dataclasses

from capm3_api import kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw
from capm3_managers import diff
from capm3_managers.env import Env
from capm3_managers.manager import Manager, Ports
from capm3_managers.plan import Create, Hardware, Plan
from capm3_managers.ports import BmcAccess, BmcFailure

from capm3_controller.controllers.definition import Definition

KIND = kinds.METAL3_CLUSTER
ACCESS = BmcAccess("redfish://bmc", "user", "secret-password")


@dataclasses.dataclass(frozen=True)
class Toy:
    observed: Raw | None


def observe(ports: Ports, key: Key, env: Env) -> Toy:
    return Toy(ports.reader.get(KIND, key))


def decide(toy: Toy, env: Env) -> Plan:
    obj = toy.observed
    if obj is None:
        return Plan(because="gone")
    wish = (obj.get("spec") or {}).get("wish")
    if wish == "bug":
        raise RuntimeError("a bug")
    wanted = diff.apply(obj, {"status": {"granted": wish}})
    if wish == "retry":
        return Plan(wanted, retry=True, because="not yet")
    if wish == "later":
        return Plan(wanted, requeue_after=30.0, because="later")
    if wish == "hardware":
        body = diff.apply(obj, {"metadata": {"annotations": {"toy": "yes"}}})
        return Plan(body, (Hardware(ACCESS, "power-on"),), because="power")
    if wish == "create":
        key = meta.key_of(obj)
        return Plan(wanted, (Create(kinds.METAL3_DATA.new(key.namespace, f"{key.name}-0"), exists_ok=True),))
    return Plan(wanted, because="granted")


def recover(toy: Toy, action: Hardware, failure: BmcFailure, env: Env) -> Plan:
    wanted = diff.apply(toy.observed, {"status": {"error": f"{action.op}: {failure.reason}", "list": ["x"]}})
    return Plan(wanted, requeue_after=5.0, because=failure.message)


MANAGER = Manager("metal3cluster", KIND, observe, decide, recover)
DEFINITION = Definition(MANAGER, "metal3cluster_concurrency")
