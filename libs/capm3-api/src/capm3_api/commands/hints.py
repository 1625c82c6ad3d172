"""What to write instead: mends for the mistakes that people make most in these manifests.

Apart from the checks, which say what is wrong in the API server's words; a hint says it in the words of somebody who has
seen the same file before. Each is a small function on the object and the error or the path of a lost field.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from capm3_api import kinds, names
from capm3_api.model import Raw
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import at

_OLD = re.compile(r"v1alpha\d+\Z")
_MISTYPED = re.compile(r"must be of type (string|integer|boolean)\b")
_VARIABLE = re.compile(r"\$\{[A-Za-z_]")

RENAMED = {
    "format": "diskFormat",
    "ipAddressesFromIPPool": "ipAddressesFromPool",
    "prefixesFromIPPool": "prefixesFromPool",
    "gatewaysFromIPPool": "gatewaysFromPool",
    "dnsServersFromIPPool": "dnsServersFromPool",
    "timeout": "timeoutSeconds",
    "noCloudProvider": "cloudProviderEnabled",
}
"""Fields that have another name in v1beta2, by the name they have in v1beta1."""


MEANT = {"netmask": "prefix"}
"""Names from old documentation, and the field that took their place."""


def for_error(obj: Raw, error: FieldError) -> str:
    """The mend for one error; ``""`` when there is none to give."""
    value = _value_at(obj, error.path)
    if error.path == "apiVersion":
        return _old_version(obj)
    if isinstance(value, str) and _VARIABLE.search(value):
        return "this looks like a template variable: render the manifest first, as with 'clusterctl generate'"
    wanted = _MISTYPED.search(error.message)
    if error.path.endswith(".timeout") and (wanted or "invalid duration" in error.message):
        return "a duration has units: 300s, 5m or 1h30m0s"
    if wanted:
        return _requoted(value, wanted[1])
    return next((hint for path, text, hint in _MENDS if path.search(error.path) and text in error.message), "")


_MENDS = (
    (
        re.compile(r"\.parameters\[\d+\]\.value\Z"),
        "must be of type object",
        "v1beta2 takes only objects here; a plain value as in 'miimon: 100' can be written in a "
        f"{kinds.INFRASTRUCTURE}/v1beta1 object: parameters: {{miimon: 100}}",
    ),
    (
        re.compile(r"\.macAddress\Z"),
        "Required",
        "say where the MAC address comes from: macAddress: {fromHostInterface: <NIC name>}",
    ),
    (re.compile(r"\.parameters\Z"), "Required", "v1beta2 wants parameters on every bond; v1beta1 does not"),
    (re.compile(r"image\.url\Z"), "", "write where the image lies, as in url: http://<server>/<image>.qcow2"),
    (
        re.compile(r"image\.checksum\Z"),
        "Required",
        "write the URL of a checksum file, or the digest itself with its checksumType",
    ),
)
"""Path, a part of the message, and the mend."""


def _requoted(value: Any, wanted: str) -> str:
    """The mend for a value that YAML reads as another type than was meant; ``""`` for any other."""
    if wanted == "string" and isinstance(value, (bool, int, float)):
        return "YAML reads this as a number or as true or false: put it in quotes"
    if wanted == "integer" and isinstance(value, str) and re.fullmatch(r"[-+]?[0-9]+", value, re.ASCII):
        return f"write it without quotes: {value}"
    if wanted == "boolean" and isinstance(value, str) and value.lower() in _BOOLEANS:
        return f"write it without quotes: {_BOOLEANS[value.lower()]}"
    return ""


_BOOLEANS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}


def for_lost(schema: Mapping[str, Any], obj: Raw, path: str) -> str:
    """The mend for a field that the schema does not have and that is dropped without a word."""
    name = path.rpartition(".")[2]
    if name == "noCloudProvider":
        wanted = "false" if _value_at(obj, path) is True else "true"
        return f"write cloudProviderEnabled: {wanted} (its opposite) instead"
    version = str(obj.get("apiVersion")).rpartition("/")[2]
    if version == "v1beta2" and name in RENAMED:
        return f"in v1beta2 this field is called {RENAMED[name]}"
    siblings = _properties(schema, path)
    if MEANT.get(name) in siblings:
        return f"write {MEANT[name]} instead"
    same = [sibling for sibling in siblings if sibling.lower() == name.lower()]
    if same:
        return f"did you mean {same[0]}? Names are case-sensitive"
    elsewhere = _elsewhere(schema, path, name)
    if elsewhere:
        return f"{name} belongs at {elsewhere}"
    close = difflib.get_close_matches(name, siblings, 1, 0.7)
    return f"did you mean {close[0]}?" if close else ""


def for_accepted(obj: Raw) -> Iterator[tuple[str, str, str]]:
    """Path, message and mend of what is accepted but does nothing or not what it seems to."""
    where = {"Metal3Cluster": ("spec",), "Metal3ClusterTemplate": ("spec", "template", "spec")}.get(
        str(obj.get("kind"))
    )
    flag = at(obj, *where, "noCloudProvider") if where and str(obj.get("apiVersion")).endswith("/v1beta1") else None
    if where and isinstance(flag, bool):
        wanted = "false" if flag else "true"
        path = ".".join((*where, "noCloudProvider"))
        yield path, "is ignored", f"write cloudProviderEnabled: {wanted} (its opposite) instead"
    annotations = at(obj, "metadata", "annotations")
    if obj.get("kind") == "Machine" and isinstance(annotations, dict) and "metal3.io/BareMetalHost" in annotations:
        message = "metal3.io/BareMetalHost has no effect on a Machine"
        hint = "put the annotation on the Metal3Machine, or choose the host by hostSelector"
        yield "metadata.annotations.metal3.io/BareMetalHost", message, hint


def for_foreign(obj: Raw) -> Iterator[tuple[str, str, str]]:
    """The same for bootstrap and control plane objects, whatever provider they are of: how a node gets its identity."""
    group = str(obj.get("apiVersion")).rpartition("/")[0]
    if group not in (kinds.CAPI_CONTROL_PLANE, kinds.CAPI_BOOTSTRAP):
        return
    texts = dict(_texts(obj.get("spec"), "spec"))
    if any(names.NODE_UUID_LABEL in text for text in texts.values()):
        return
    for path, text in texts.items():
        named = path.endswith("provider-id") or "provider-id=" in text
        if named and "providerid" not in text and re.search(r"metal3://([^/\s]|\{\{[^}]*\}\})+\s*\Z", text):
            message = (
                "the node gets a provider ID that no Metal3Machine matches, and not the label that would be looked for"
            )
            hint = "drop provider-id and write node-labels: 'metal3.io/uuid={{ ds.meta_data.uuid }}'"
            yield path, message, hint


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{path}[{index}]")
    elif isinstance(value, str):
        yield path, value


def _old_version(obj: Raw) -> str:
    version = str(obj.get("apiVersion")).rpartition("/")[2]
    if not _OLD.match(version):
        return ""
    return (
        f"write apiVersion: {kinds.INFRASTRUCTURE}/v1beta1 (deprecated) or v1beta2; fields of {version} keep their names "
        "in v1beta1, and 'capm3 convert --to v1beta2' renames them from there"
    )


def _value_at(obj: Any, path: str) -> Any:
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        if index and isinstance(obj, list) and int(index) < len(obj):
            obj = obj[int(index)]
        elif name and isinstance(obj, Mapping):
            obj = obj.get(name)
        else:
            return None
    return obj


def _properties(schema: Mapping[str, Any], path: str) -> list[str]:
    """The fields that the map around `path` may have."""
    here: Any = schema
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)[:-1]:
        if index:
            here = here.get("items") or {}
        else:
            here = (here.get("properties") or {}).get(name) or here.get("additionalProperties") or {}
        if not isinstance(here, Mapping):
            return []
    return sorted(here.get("properties") or {})


def _elsewhere(schema: Mapping[str, Any], path: str, name: str) -> str:
    """Another place for a field of that name: the one that shares the longest start with `path`."""
    plain = re.sub(r"\[\d+\]", "[]", path)
    found = [place for place in _places(schema, "", name) if place != plain and place.startswith("spec")]
    return max(found, key=lambda place: (_shared(place, plain), -len(place)), default="")


def _shared(left: str, right: str) -> int:
    count = 0
    for one, other in zip(left.split("."), right.split("."), strict=False):
        if one != other:
            break
        count += 1
    return count


def _places(schema: Any, path: str, name: str) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    for key, child in (schema.get("properties") or {}).items():
        inner = f"{path}.{key}" if path else key
        if key == name:
            yield inner
        yield from _places(child, inner, name)
    if "items" in schema:
        yield from _places(schema["items"], f"{path}[]", name)
