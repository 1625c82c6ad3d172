"""Breaks reviews in every way that a broken or hostile client might: the input of the endurance test.

Apart from the test, so that the long session and benches can draw from it too. All choices come from the given random
source, so that a failure can be repeated by its seed.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

from capm3_api import kinds

from capm3_webhook import paths

Request = tuple[str, bytes, dict[str, str]]
"""Path, body and headers."""

_JUNK: tuple[Any, ...] = (None, True, 0, -1, 1.5, 2**70, "", "x" * 2000, "\x00", [], {}, [[]], {"a": None}, "é\u2028")


def request(rng: random.Random) -> Request:
    """One broken request to one of the webhooks."""
    path = rng.choice([hook.path for hook in paths.ALL] + [paths.CONVERT] * 6)
    review = _conversion(rng) if path == paths.CONVERT else _admission(rng, path)
    for _ in range(rng.randint(0, 4)):
        _spoil(rng, review)
    body = rng.choice(_BODIES)(rng, review)
    content_type = rng.choice(["application/json"] * 8 + ["text/plain", "", "application/json; charset=utf-8"])
    return path, body, {"content-type": content_type} if content_type else {}


def _object(rng: random.Random, version: str) -> Any:
    kind = rng.choice(kinds.OURS).at(version)
    spec = rng.choice(
        [
            {},
            {"controlPlaneEndpoint": {"host": "h.example", "port": 6443}, "noCloudProvider": True},
            {"image": {"url": "http://h.example/a.raw", "checksum": "http://h.example/a.sum", "format": "raw"}},
            {
                "template": {
                    "spec": {"image": {"url": "oci://h.example/a:1"}, "strategy": {"type": "Reboot", "timeout": "9m"}}
                }
            },
            {
                "metaData": {"strings": [{"key": "a", "value": "b"}]},
                "networkData": {"links": {"ethernets": [{"id": "e"}]}},
            },
            {"index": 3, "template": {"name": "t"}, "claim": {"name": "c"}, "strategy": {"type": "Reboot"}},
        ]
    )
    return {**kind.new("site-a", rng.choice(["x", "t-3"])), "spec": copy.deepcopy(spec), "status": {}}


def _admission(rng: random.Random, path: str) -> Any:
    version = rng.choice(["v1beta2"] * 5 + ["v1beta1", "v9"])
    obj, old = _object(rng, version), _object(rng, version)
    kind = next(hook.kind for hook in paths.ALL if hook.path == path)
    if rng.random() < 0.8:
        obj["kind"] = old["kind"] = kind.kind
    operation = rng.choice(["CREATE", "UPDATE", "UPDATE", "DELETE", "CONNECT", "PEEK", ""])
    inner = {"uid": "u", "operation": operation, "object": obj, "oldObject": old, "name": "x", "namespace": "site-a"}
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": inner}


def _conversion(rng: random.Random) -> Any:
    wanted = rng.choice(["v1beta1", "v1beta2", "v1beta2", "v9", ""])
    objects = [_object(rng, rng.choice(["v1beta1", "v1beta2"])) for _ in range(rng.randint(0, 5))]
    inner = {"uid": "u", "desiredAPIVersion": f"{kinds.INFRASTRUCTURE}/{wanted}", "objects": objects}
    return {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "request": inner}


def _spoil(rng: random.Random, review: Any) -> None:
    """Replaces, drops or adds one value somewhere."""
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, item in entries:
            places.append((value, key))
            walk(item)

    walk(review)
    if not places:
        return
    parent, key = rng.choice(places)
    what = rng.random()
    if what < 0.7:
        parent[key] = copy.deepcopy(rng.choice(_JUNK))
    elif isinstance(parent, dict) and what < 0.85:
        del parent[key]
    elif isinstance(parent, dict):
        parent[rng.choice(["surprise", "", "spec", "metadata", "a.b/c"])] = copy.deepcopy(rng.choice(_JUNK))
    else:
        parent.append(copy.deepcopy(rng.choice(_JUNK)))


def _whole(_rng: random.Random, review: Any) -> bytes:
    return json.dumps(review).encode()


def _cut(rng: random.Random, review: Any) -> bytes:
    body = json.dumps(review).encode()
    return body[: rng.randint(0, len(body))]


def _flipped(rng: random.Random, review: Any) -> bytes:
    body = bytearray(json.dumps(review).encode())
    for _ in range(rng.randint(1, 5)):
        body[rng.randrange(len(body))] = rng.randrange(256)
    return bytes(body)


def _deep(rng: random.Random, review: Any) -> bytes:
    depth = rng.choice([50, 900, 5000])
    opening, closing = rng.choice([(b"[", b"]"), (b'{"a":', b"}")])
    text = json.dumps(review).encode()
    return text[:-1] + b',"deep":' + opening * depth + b"1" + closing * depth + b"}"


def _huge(rng: random.Random, _review: Any) -> bytes:
    return rng.choice([b'{"a":"' + b"x" * 60_000 + b'"}', b" " * 60_000, b"[" + b"0," * 30_000 + b"0]"])


_BODIES: tuple[Callable[[random.Random, Any], bytes], ...] = (
    _whole,
    _whole,
    _whole,
    _whole,
    _cut,
    _flipped,
    _deep,
    _huge,
)
