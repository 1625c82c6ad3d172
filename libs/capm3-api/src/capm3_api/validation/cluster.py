"""Metal3Cluster and Metal3ClusterTemplate: an endpoint there must be.

Source: behaviour facts on CAPM3 3.2 and 3.3.
"""

from __future__ import annotations

from capm3_api.validation import errors, template
from capm3_api.validation.errors import FieldError
from capm3_api.validation.values import Change, at, number, text


def check_cluster(change: Change) -> list[FieldError]:
    """Create and update alike; a missing port is defaulted before and never an error."""
    if text(at(change.new, "spec", "controlPlaneEndpoint", "host")):
        return []
    return [errors.invalid("spec.controlPlaneEndpoint", "", "is required")]


def check_template(change: Change) -> list[FieldError]:
    """A template has no defaulting, so that its port must be there."""
    return _endpoint(change) + template.immutable(change, _endpoint)


def _endpoint(change: Change) -> list[FieldError]:
    path = "spec.template.spec.controlPlaneEndpoint"
    endpoint = at(change.new, "spec", "template", "spec", "controlPlaneEndpoint")
    found = []
    if not text(at(endpoint, "host")):
        found.append(errors.required(f"{path}.host", "must be set in a template"))
    if not number(at(endpoint, "port")):
        found.append(errors.required(f"{path}.port", "must be set in a template"))
    return found
