"""Makes the three objects of one machine: Machine, infrastructure machine and bootstrap config, all of one name.

Apart from MachineSet and KubeadmControlPlane, which differ only in the order of creation and in the labels.
"""

from __future__ import annotations

import dataclasses

from capm3_api import kinds, meta
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_testbed.capi import shapes
from capm3_testbed.capi.api import Core, deleting, kind_of


class MissingTemplateError(Exception):
    """A template that a machine owner names is not there; the message names it."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """What a new machine is made from.

    Args:
        owner: the MachineSet or KubeadmControlPlane.
        labels: of all three objects.
        spec: of the Machine, without the two references.
    """

    owner_kind: Kind
    owner: Raw
    name: str
    labels: dict[str, str]
    annotations: dict[str, str]
    spec: Raw

    @property
    def namespace(self) -> str:
        return meta.key_of(self.owner).namespace

    @property
    def plain_owner(self) -> Raw:
        return shapes.owner_ref(self.owner_kind, self.owner)

    @property
    def extra(self) -> Raw:
        return {"labels": self.labels, "annotations": self.annotations}


def template(core: Core, namespace: str, ref: Raw) -> tuple[Kind, Raw]:
    """The template object of a reference.

    Raises:
        MissingTemplateError: there is none.
    """
    kind = kind_of(ref)
    obj = core.api.get(kind, Key(namespace, str(ref.get("name") or "")))
    if obj is None:
        raise MissingTemplateError(f"{kind.kind} {namespace}/{ref.get('name')} does not exist")
    return kind, obj


def adopt_template(core: Core, cluster: Raw, namespace: str, ref: Raw) -> None:
    """Gives a template the Cluster as a plain owner; references to other than templates are left alone."""
    if not str(ref.get("kind") or "").endswith("Template"):
        return
    kind, obj = template(core, namespace, ref)
    if not deleting(obj):
        core.save(kind, obj, shapes.with_owner(obj, shapes.owner_ref(kinds.CLUSTER, cluster)))


def create_clone(core: Core, machine: Machine, ref: Raw) -> Raw:
    """Creates the infrastructure machine or bootstrap config from its template; gives the contract reference."""
    kind, obj = template(core, machine.namespace, ref)
    core.api.create(shapes.clone(obj, kind, machine.name, extra=machine.extra, owner=machine.plain_owner))
    return shapes.reference(kind, machine.name)


def create_machine(core: Core, machine: Machine, infra: Raw, bootstrap: Raw, annotations: dict[str, str]) -> Raw:
    """Creates the Machine with its owner as controller."""
    obj = kinds.MACHINE.new(
        machine.namespace,
        machine.name,
        spec={**machine.spec, "infrastructureRef": infra, "bootstrap": {"configRef": bootstrap}},
    )
    obj["metadata"].update(
        labels=machine.labels,
        annotations={**machine.annotations, **annotations},
        ownerReferences=[shapes.owner_ref(machine.owner_kind, machine.owner, controller=True)],
        finalizers=["machine.cluster.x-k8s.io"],
    )
    return core.api.create(obj)


def delete_clone(core: Core, namespace: str, ref: Raw) -> None:
    """Takes back an object of a failed creation."""
    kind = kind_of(ref)
    obj = core.api.get(kind, Key(namespace, str(ref.get("name") or "")))
    if obj is not None:
        core.delete(kind, obj)


def owned_machines(core: Core, owner: Raw) -> list[Raw]:
    """The Machines whose controller is this owner, oldest first."""
    found = core.api.list(kinds.MACHINE, meta.key_of(owner).namespace)
    mine = [item for item in found if (shapes.controller_of(item) or {}).get("uid") == meta.uid_of(owner)]
    return sorted(mine, key=lambda item: (str(item["metadata"].get("creationTimestamp")), item["metadata"]["name"]))
