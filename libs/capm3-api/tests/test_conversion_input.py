"""What the conversion makes of objects that no API server would have stored: wrong types, empty metadata."""

from __future__ import annotations

import pytest
from capm3_api import conversion
from capm3_api.model import Raw

GROUP = "infrastructure.cluster.x-k8s.io"


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("status.ready", {"status": {"ready": "true"}}, "must be true or false"),
        ("spec.noCloudProvider", {"spec": {"noCloudProvider": "no"}}, "must be true or false"),
        ("status.conditions[0].type", {"status": {"conditions": [{"type": 5}]}}, "must be a string"),
        (
            "spec.failureDomains.a.attributes.x",
            {"spec": {"failureDomains": {"a": {"attributes": {"x": 1}}}}},
            "a string",
        ),
    ],
)
def test_no_value_is_read_as_something_that_it_is_not(path: str, body: Raw, message: str) -> None:
    with pytest.raises(conversion.ConversionError, match=message) as caught:
        conversion.convert(
            {"apiVersion": f"{GROUP}/v1beta1", "kind": "Metal3Cluster", "metadata": {}, **body}, "v1beta2"
        )
    assert caught.value.path == path


def test_metadata_that_says_nothing_is_left_out_and_the_rest_is_kept() -> None:
    metadata = {"name": "a", "labels": {}, "finalizers": [], "uid": "", "deletionTimestamp": None}
    source = {"apiVersion": f"{GROUP}/v1beta1", "kind": "Metal3Data", "metadata": {**metadata, "odd": 1}}
    assert conversion.convert(source, "v1beta2")["metadata"] == {"name": "a", "odd": 1}
