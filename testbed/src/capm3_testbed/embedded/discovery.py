"""What clients ask before they ask for anything: groups, versions, resources, in the old and the aggregated form.

Apart from OpenAPI, which describes the shape of objects; this says which there are.
"""

from __future__ import annotations

import re

from capm3_api.model import Raw

from capm3_testbed.embedded import crds
from capm3_testbed.embedded.api import Api
from capm3_testbed.embedded.messages import HttpRequest, HttpResponse, answer
from capm3_testbed.embedded.registry import VERBS, Served

VERSION: Raw = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.3+capm3-embedded",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "2026-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": "none",
    "platform": "python",
}
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_SUBRESOURCE_VERBS = ("get", "patch", "update")


def serve(api: Api, request: HttpRequest) -> HttpResponse | None:
    """Answers a discovery path; ``None`` for every other path."""
    parts = [part for part in request.path.split("/") if part]
    if parts == ["version"]:
        return answer(VERSION)
    if parts in (["api"], ["apis"]):
        return _groups(api, request, core=parts == ["api"])
    if len(parts) == 2 and parts[0] == "api":
        return _resources(api, "", parts[1])
    if len(parts) == 3 and parts[0] == "apis":
        return _resources(api, parts[1], parts[2])
    if len(parts) == 2 and parts[0] == "apis":
        group = _group(api, parts[1])
        return answer({"apiVersion": "v1", **group}) if group["versions"] else None
    return None


def versions(api: Api, group: str) -> list[str]:
    """The served versions of a group, preferred first."""
    found = {served.kind.version for served in api.registry.all() if served.kind.group == group}
    return sorted(found, key=crds.version_rank)


def _groups(api: Api, request: HttpRequest, *, core: bool) -> HttpResponse:
    if re.search(r"g=apidiscovery\.k8s\.io;v=v2;as=APIGroupDiscoveryList", request.headers.get("accept", "")):
        return _aggregated(api, core=core)
    if core:
        return answer({"kind": "APIVersions", "apiVersion": "v1", "versions": ["v1"], "serverAddressByClientCIDRs": []})
    names = sorted({served.kind.group for served in api.registry.all()} - {""})
    return answer({"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(api, name) for name in names]})


def _group(api: Api, name: str) -> Raw:
    entries = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions(api, name)]
    return {"kind": "APIGroup", "name": name, "versions": entries, "preferredVersion": entries[0] if entries else None}


def _resources(api: Api, group: str, version: str) -> HttpResponse | None:
    found = [s for s in api.registry.all() if (s.kind.group, s.kind.version) == (group, version)]
    if not found:
        return None
    resources: list[Raw] = []
    for served in found:
        row: Raw = {
            "name": served.kind.plural,
            "singularName": served.singular,
            "namespaced": served.kind.namespaced,
            "kind": served.kind.kind,
            "verbs": list(VERBS),
        }
        if served.short_names:
            row["shortNames"] = list(served.short_names)
        if served.categories:
            row["categories"] = list(served.categories)
        resources.append(row)
        resources += [_subresource(served, name, about) for name, about in _subresources(served).items()]
    group_version = f"{group}/{version}" if group else version
    body = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources}
    return answer(body)


def _subresources(served: Served) -> dict[str, Raw]:
    """Subresource -> the kind it answers with."""
    found: dict[str, Raw] = {}
    if served.status:
        found["status"] = {"group": served.kind.group, "version": served.kind.version, "kind": served.kind.kind}
    if served.scale:
        found["scale"] = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    return found


def _subresource(served: Served, name: str, about: Raw) -> Raw:
    row: Raw = {
        "name": f"{served.kind.plural}/{name}",
        "singularName": "",
        "namespaced": served.kind.namespaced,
        "kind": about["kind"],
        "verbs": list(_SUBRESOURCE_VERBS),
    }
    return row | ({"group": about["group"], "version": about["version"]} if name == "scale" else {})


def _aggregated(api: Api, *, core: bool) -> HttpResponse:
    everything = api.registry.all()
    groups = [""] if core else sorted({served.kind.group for served in everything} - {""})
    items = []
    for group in groups:
        entries = [
            {"version": version, "freshness": "Current", "resources": _described(everything, group, version)}
            for version in versions(api, group)
        ]
        items.append({"metadata": {"name": group, "creationTimestamp": None}, "versions": entries})
    body = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}
    return answer(body, content_type=_AGGREGATED)


def _described(everything: list[Served], group: str, version: str) -> list[Raw]:
    rows = []
    for served in everything:
        kind = served.kind
        if (kind.group, kind.version) != (group, version):
            continue
        response = {"group": kind.group, "version": kind.version, "kind": kind.kind}
        row: Raw = {
            "resource": kind.plural,
            "responseKind": response,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "singularResource": served.singular,
            "verbs": list(VERBS),
            "shortNames": list(served.short_names),
            "categories": list(served.categories),
        }
        subresources = [
            {"subresource": name, "responseKind": about, "verbs": list(_SUBRESOURCE_VERBS)}
            for name, about in _subresources(served).items()
        ]
        if subresources:
            row["subresources"] = subresources
        rows.append(row)
    return rows
