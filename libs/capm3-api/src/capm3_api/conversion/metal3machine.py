"""Metal3Machine and its template between the versions (behaviour facts on CAPM3, sections 2.5 and 2.6).

Apart from the machinery: this is the table of fields.
"""

from __future__ import annotations

from capm3_api.conversion.common import REFERENCE, SECRET, status
from capm3_api.conversion.machinery import (
    Field,
    Shape,
    always,
    copied,
    forced,
    kept,
    nested,
    non_zero,
    null_when_absent,
    part,
    parts,
    pointer,
    same,
    struct,
    written,
)

# Go writes checksumType and format as "" into v1beta1, where their enums do not allow it; here they are left out.
IMAGE = Shape(
    (
        forced("url", ""),
        Field("checksum", "checksum", always(""), non_zero(str)),
        same("checksumType"),
        same("format", new="diskFormat"),
    )
)
REQUIREMENT = Shape(
    (
        copied("key"),
        copied("operator"),
        Field("values", "values", non_zero(list), null_when_absent(kept(list))),
    )
)
SELECTOR = Shape((same("matchLabels", dict), parts("matchExpressions", REQUIREMENT)))

SPEC = Shape(
    (
        same("providerID"),
        part("image", IMAGE, written),
        part("customDeploy", Shape((same("method"),)), struct),
        part("userData", SECRET, pointer),
        nested("hostSelector", SELECTOR),
        part("dataTemplate", REFERENCE, pointer),
        part("metaData", SECRET, pointer),
        part("networkData", SECRET, pointer),
        same("automatedCleaningMode"),
        same("failureDomain"),
    )
)
STATUS = status(
    (
        same("lastUpdated"),
        same("addresses", list),
        part("userData", SECRET, pointer),
        part("metaData", SECRET, pointer),
        part("networkData", SECRET, pointer),
        part("renderedData", REFERENCE, pointer),
    ),
    phase=True,
)
MACHINE = Shape((part("spec", SPEC, written), part("status", STATUS, written)))

RESOURCE = Shape((nested("spec", SPEC),), new_only=("metadata",))
MACHINE_TEMPLATE = Shape((nested("spec", Shape((nested("template", RESOURCE), forced("nodeReuse", False)))),))
