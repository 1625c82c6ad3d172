"""Runs a recorded rendering case on our managers, and says what came of it there and here.

Apart from `vectors_rendering`, which judges, and from `rendering_rules`, which explains: each case is a whole little site;
its inputs go into a `World`, and the machine, data template, data and IP pool managers run until nothing changes.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
from collections.abc import Callable, Mapping

from capm3_api import conversion, defaults, kinds, meta, names
from capm3_api.meta import Key, Kind
from capm3_api.model import Raw

from capm3_managers import data, datatemplate, ippool, machine
from capm3_managers.data import report
from capm3_managers.settings import Settings
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.world import World

Texts = Mapping[str, Mapping[str, str]]
"""Secret -> key -> text."""

BY_HOST_NAME = "bmhname-"
"""Cases whose name begins so ran with ``--enable-bmh-name-based-preallocation``."""

USUAL_NAMESPACE = "site-a"


@dataclasses.dataclass(frozen=True)
class Result:
    """What a run led to.

    Args:
        errors: Metal3Data -> ``status.errorMessage``.
        outcome: ``ready``, ``error`` or ``wait``.
        reasons: Metal3Data -> the reason that ours report; only there to be explained, never compared.
    """

    rendered: Texts
    errors: Mapping[str, str]
    outcome: str
    reasons: Mapping[str, str] = dataclasses.field(default_factory=dict, compare=False)


@dataclasses.dataclass(frozen=True)
class Case:
    """A recording and the template as the API server stored it; ``None`` when there is none."""

    raw: Raw
    template: Raw | None

    @property
    def name(self) -> str:
        return str(self.raw["name"])

    @property
    def spec(self) -> Raw:
        return (self.template or {}).get("spec") or {}

    @property
    def inputs(self) -> list[Raw]:
        return [obj for obj in self.raw.get("inputs") or [] if isinstance(obj, dict)]

    @property
    def observed(self) -> list[Raw]:
        return [obj for obj in self.raw.get("observed") or [] if isinstance(obj, dict)]

    @property
    def namespace(self) -> str:
        found = (meta.key_of(obj).namespace for obj in self.inputs if obj.get("kind") == kinds.METAL3_MACHINE.kind)
        return next(found, USUAL_NAMESPACE)

    @property
    def names_claims_by_host(self) -> bool:
        """Whether the flag was on: the name says so, or a claim has the labels that only the flag makes."""
        claims = (obj for obj in self.observed if _is(obj, kinds.IP_CLAIM))
        labelled = any(names.DATA_NAME_LABEL in ((obj.get("metadata") or {}).get("labels") or {}) for obj in claims)
        return labelled or self.name.startswith(BY_HOST_NAME)


def case_of(raw: Raw) -> Case:
    template = raw.get("dataTemplate")
    return Case(raw, stored_template(template) if template else None)


def stored_template(template: Raw) -> Raw:
    """The template as the API server stores it: defaulted and converted."""
    template = defaults.schema_defaults(template)
    if template["apiVersion"] != kinds.METAL3_DATA_TEMPLATE.api_version:
        template = conversion.convert(template, to=kinds.METAL3_DATA_TEMPLATE.version)
    return defaults.schema_defaults(template)


def recorded(case: Case) -> Result:
    """What the Go programs did."""
    errors = {name: text for name, text in (case.raw.get("errorMessages") or {}).items() if text}
    return Result(case.raw.get("rendered") or {}, errors, str(case.raw["expect"]))


def run(case: Case) -> Result:
    """What ours do."""
    world = play(case)
    found = world.list(kinds.METAL3_DATA, case.namespace)
    told = {meta.key_of(item).name: item.get("status") or {} for item in found}
    errors = {name: status["errorMessage"] for name, status in told.items() if status.get("errorMessage")}
    reports = {meta.key_of(item).name: report.of(item) for item in found}
    reasons = {name: item.reason for name, item in reports.items() if item is not None}
    ready = bool(found) and all(status.get("ready") for status in told.values())
    outcome = "ready" if ready else "error" if errors else "wait"
    return Result(_rendered(world, case), errors, outcome, reasons)


def play(case: Case) -> World:
    """The world in the end. The machines come one after the other, so that they get the indexes of the recording."""
    world = World(collect=False)
    managers = [machine.MANAGER, datatemplate.MANAGER, data.MANAGER, ippool.MANAGER]
    settings = Settings(bmh_name_based_preallocation=case.names_claims_by_host)
    scenario = Scenario(world, managers, settings=settings, actors=[_provider(case)])
    for obj in case.inputs:
        world.put(_stored(case, obj))
        if obj["kind"] == kinds.METAL3_MACHINE.kind:
            scenario.until_settled()
    scenario.until_settled()
    return world


def _stored(case: Case, obj: Raw) -> Raw:
    """An input as the API server keeps it."""
    if obj["kind"] == kinds.METAL3_DATA_TEMPLATE.kind:
        chosen = case.template is not None and meta.key_of(obj) == meta.key_of(case.template)
        return case.template if chosen and case.template else stored_template(obj)
    if obj["kind"] == kinds.SECRET.kind and obj.get("stringData"):
        plain = {name: base64.b64encode(str(text).encode()).decode() for name, text in obj["stringData"].items()}
        kept = {name: value for name, value in obj.items() if name != "stringData"}
        return {**kept, "data": {**(obj.get("data") or {}), **plain}}
    return obj


def _rendered(world: World, case: Case) -> Texts:
    """The texts of all Secrets that could be rendered ones: of the recording, or of the usual name."""
    wanted = set(case.raw.get("rendered") or {})
    secrets = {meta.key_of(secret).name: secret for secret in world.list(kinds.SECRET, case.namespace)}
    ours = {name for name in secrets if name.endswith(("-metadata", "-networkdata"))}
    return {
        name: {key: _decoded(text) for key, text in (secrets[name].get("data") or {}).items()}
        for name in sorted((wanted | ours) & set(secrets))
    }


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode(errors="replace")


def _provider(case: Case) -> Callable[[World, datetime.datetime], None]:
    """The other IPAM provider of the recording: answers Cluster API's claims as they were answered there."""
    listed = [*case.inputs, *case.observed]
    addresses = {_claim_of(obj): obj for obj in listed if _is(obj, kinds.CAPI_IP_ADDRESS)}
    claims = [obj for obj in listed if _is(obj, kinds.CAPI_IP_ADDRESS_CLAIM)]
    answers = {meta.key_of(obj).name: _answer(obj) for obj in claims}

    def answer(world: World, now: datetime.datetime) -> None:
        for name, address in answers.items():
            key = Key(case.namespace, name)
            claim = world.get(kinds.CAPI_IP_ADDRESS_CLAIM, key)
            if claim is None or not address or _answer(claim) == address:
                continue
            if name in addresses:
                world.put(addresses[name])
            patch = {"status": {"addressRef": {"name": address}}}
            world.patch(kinds.CAPI_IP_ADDRESS_CLAIM, key, patch, subresource="status")

    return answer


def _claim_of(address: Raw) -> str:
    return str(((address.get("spec") or {}).get("claimRef") or {}).get("name") or "")


def _answer(claim: Raw) -> str:
    return str(((claim.get("status") or {}).get("addressRef") or {}).get("name") or "")


def _is(obj: Raw, kind: Kind) -> bool:
    return obj.get("kind") == kind.kind and meta.group_of(obj.get("apiVersion") or "") == kind.group
