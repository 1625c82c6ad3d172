"""Compares rendering with recorded runs of the Go programs: agreed, registered, pending or differing.

Apart from the tests, since the same comparison runs on any folder of recordings. Each case is a whole little site: its
inputs go into a `World`, and the machine, data template, data and IP pool managers run until nothing changes; compared
are the texts of the rendered Secrets, the error messages, and whether the data became ready. A difference is registered
when a rule of `RULES` explains all of it; rules go by what a template uses, not by the case, so that they hold for
recordings nobody has looked at.
"""

from __future__ import annotations

import base64
import copy
import dataclasses
import datetime
import json
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml
from capm3_api import conversion, defaults, kinds, meta
from capm3_api.meta import Key
from capm3_api.model import Raw

from capm3_managers import data, datatemplate, ippool, machine
from capm3_managers.settings import Settings
from capm3_managers.testing.scenario import Scenario
from capm3_managers.testing.world import World

Row = tuple[str, str, str]
"""``group/case``, verdict (``agreed``, ``registered``, ``pending``, ``differing``) and detail; see `identity`."""

Texts = Mapping[str, Mapping[str, str]]
"""Secret -> key -> text."""

BY_HOST_NAME = "bmhname-"
"""Cases whose name begins so ran with ``--enable-bmh-name-based-preallocation``."""


@dataclasses.dataclass(frozen=True)
class Result:
    """What a run led to.

    Args:
        errors: Metal3Data -> ``status.errorMessage``.
        outcome: ``ready``, ``error`` or ``wait``.
    """

    rendered: Texts
    errors: Mapping[str, str]
    outcome: str


@dataclasses.dataclass(frozen=True)
class Case:
    """A recording and the template as the API server stored it; ``None`` when there is none, or it can't be read yet."""

    raw: Raw
    template: Raw | None

    @property
    def name(self) -> str:
        return str(self.raw["name"])

    @property
    def spec(self) -> Raw:
        return (self.template or {}).get("spec") or {}


def compare(folder: pathlib.Path) -> list[Row]:
    """Every case of a folder laid out like the recorded ``rendering``; a case that breaks ours is a difference."""
    rows: list[Row] = []
    for path in sorted(folder.glob("*.json")):
        try:
            rows.append(judge(json.loads(path.read_text(encoding="utf-8"))))
        except Exception as error:
            rows.append((identity(path.stem), "differing", f"failed: {error!r}"))
    return rows


def identity(name: str) -> str:
    """A case with its group, the first word of its name: ``meta/meta-strings``."""
    return f"{name.partition('-')[0]}/{name}"


def judge(raw: Raw) -> Row:
    """One case."""
    template = raw.get("dataTemplate")
    stored = stored_template(template) if template else None
    if template and stored is None:
        return identity(raw["name"]), "pending", f"{template['apiVersion']} can't be converted yet"
    case = Case(raw, stored)
    ours, theirs = run(case), recorded(case)
    if ours == theirs:
        return identity(case.name), "agreed", theirs.outcome
    reasons = [reason for rule in RULES if (reason := rule(case, ours, theirs))]
    if reasons:
        return identity(case.name), "registered", reasons[0]
    return identity(case.name), "differing", _difference(ours, theirs)


def stored_template(template: Raw) -> Raw | None:
    """The template as the API server stores it: defaulted, and converted; ``None`` when it can't be converted."""
    template = defaults.schema_defaults(template)
    if template["apiVersion"] != kinds.METAL3_DATA_TEMPLATE.api_version:
        convert: Callable[..., Raw] | None = getattr(conversion, "convert", None)
        if convert is None:
            return None
        template = convert(template, to=kinds.METAL3_DATA_TEMPLATE.version)
    return defaults.schema_defaults(template)


def recorded(case: Case) -> Result:
    """What the Go programs did."""
    errors = {name: text for name, text in (case.raw.get("errorMessages") or {}).items() if text}
    return Result(case.raw.get("rendered") or {}, errors, str(case.raw["expect"]))


def run(case: Case) -> Result:
    """What ours do."""
    world = play(case)
    found = world.list(kinds.METAL3_DATA, _namespace(case))
    told = {meta.key_of(item).name: item.get("status") or {} for item in found}
    errors = {name: status["errorMessage"] for name, status in told.items() if status.get("errorMessage")}
    ready = bool(found) and all(status.get("ready") for status in told.values())
    outcome = "ready" if ready else "error" if errors else "wait"
    return Result(_rendered(world, case), errors, outcome)


def play(case: Case) -> World:
    """The world in the end. The machines come one after the other, so that they get the indexes of the recording."""
    world = World(collect=False)
    managers = [machine.MANAGER, datatemplate.MANAGER, data.MANAGER, ippool.MANAGER]
    settings = Settings(bmh_name_based_preallocation=case.name.startswith(BY_HOST_NAME))
    scenario = Scenario(world, managers, settings=settings, actors=[_provider(case)])
    for obj in case.raw["inputs"]:
        is_template = obj["kind"] == kinds.METAL3_DATA_TEMPLATE.kind
        world.put(case.template if is_template and case.template else obj)
        if obj["kind"] == kinds.METAL3_MACHINE.kind:
            scenario.until_settled()
    scenario.until_settled()
    return world


def _rendered(world: World, case: Case) -> Texts:
    """The texts of all Secrets that could be rendered ones: of our type, or of the usual name."""
    names = set(case.raw.get("rendered") or {})
    secrets = {meta.key_of(secret).name: secret for secret in world.list(kinds.SECRET, _namespace(case))}
    ours = {name for name in secrets if name.endswith(("-metadata", "-networkdata"))}
    return {
        name: {key: base64.b64decode(text).decode() for key, text in (secrets[name].get("data") or {}).items()}
        for name in sorted((names | ours) & set(secrets))
    }


def _provider(case: Case) -> Callable[[World, datetime.datetime], None]:
    """The other IPAM provider of the recording: answers Cluster API's claims with the recorded addresses."""
    listed = case.raw.get("observed") or []
    addresses = [obj for obj in listed if _is(obj, kinds.CAPI_IP_ADDRESS.api_version, kinds.CAPI_IP_ADDRESS.kind)]

    def answer(world: World, now: datetime.datetime) -> None:
        for address in addresses:
            key = Key(_namespace(case), address["spec"]["claimRef"]["name"])
            claim = world.get(kinds.CAPI_IP_ADDRESS_CLAIM, key)
            if claim is not None and not (claim.get("status") or {}).get("addressRef"):
                world.put(address)
                patch = {"status": {"addressRef": {"name": meta.key_of(address).name}}}
                world.patch(kinds.CAPI_IP_ADDRESS_CLAIM, key, patch, subresource="status")

    return answer


def _is(obj: Raw, api_version: str, kind: str) -> bool:
    return obj.get("kind") == kind and meta.group_of(obj.get("apiVersion") or "") == meta.group_of(api_version)


def _namespace(case: Case) -> str:
    return meta.key_of(next(obj for obj in case.raw["inputs"] if obj["kind"] == kinds.METAL3_MACHINE.kind)).namespace


def _difference(ours: Result, theirs: Result) -> str:
    for field in dataclasses.fields(Result):
        one, other = getattr(ours, field.name), getattr(theirs, field.name)
        if one != other:
            return f"{field.name}: ours {one!r}, theirs {other!r}"
    return ""


# Registered differences; each has its row in the table of differences


def dns_servers_are_rendered(case: Case, ours: Result, theirs: Result) -> str:
    """``dnsServersFromPool`` gives its keys, which the Go program claims an address for and leaves out."""
    keys = {item["key"] for item in (case.spec.get("metaData") or {}).get("dnsServersFromPool") or []}
    if not keys or (ours.errors, ours.outcome) != (theirs.errors, theirs.outcome):
        return ""
    same = set(ours.rendered) == set(theirs.rendered) and all(
        _without(ours.rendered[name], keys) == _without(theirs.rendered[name], keys) for name in ours.rendered
    )
    return "dnsServersFromPool is rendered" if same else ""


def annotated_gateways_are_claimed(case: Case, ours: Result, theirs: Result) -> str:
    """A DHCP or SLAAC network's gateway may come from a pool named by an annotation; the Go program never claims it."""
    failed = set(theirs.errors.values()) == {"failed to fetch pool from cache"}
    networks = (case.spec.get("networkData") or {}).get("networks") or {}
    dynamic = [item for part in ("ipv4DHCP", "ipv6DHCP", "ipv6SLAAC") for item in networks.get(part) or []]
    routes = [route for item in dynamic for route in item.get("routes") or []]
    annotated = any((route.get("gateway") or {}).get("fromPoolAnnotation") for route in routes)
    return "gateways named by annotations are claimed" if failed and annotated and ours.outcome != "error" else ""


def pool_kinds_count(case: Case, ours: Result, theirs: Result) -> str:
    """Group and kind of a pool in the metadata decide who is asked; the Go program always asks an IPPool.

    Explained when ours, given a template that says IPPool everywhere, does what the Go program did.
    """
    if all((item.get("apiGroup"), item.get("kind")) == _METAL3_POOL for item in _from_pools(case.spec)):
        return ""
    spec = copy.deepcopy(case.spec)
    for item in _from_pools(spec):
        item["apiGroup"], item["kind"] = _METAL3_POOL
    plain = run(Case(case.raw, {**(case.template or {}), "spec": spec}))
    explained = plain == theirs or bool(dns_servers_are_rendered(case, plain, theirs))
    return "apiGroup and kind of ...FromPool entries are honoured" if explained else ""


_METAL3_POOL = (kinds.METAL3_IPAM, kinds.IP_POOL.kind)

RULES: tuple[Callable[[Case, Result, Result], str], ...] = (
    dns_servers_are_rendered,
    annotated_gateways_are_claimed,
    pool_kinds_count,
)


def _from_pools(spec: Raw) -> Iterator[Raw]:
    metadata = spec.get("metaData") or {}
    for part in ("ipAddressesFromPool", "prefixesFromPool", "gatewaysFromPool", "dnsServersFromPool"):
        yield from metadata.get(part) or []


def _without(texts: Mapping[str, str], keys: set[str]) -> dict[str, Any]:
    """The documents as data, without some keys of the metadata."""
    result: dict[str, Any] = {}
    for name, text in texts.items():
        document = yaml.load(text, Loader=yaml.BaseLoader)
        result[name] = {k: v for k, v in document.items() if k not in keys} if name == "metaData" else document
    return result
