"""Metal3Data and Metal3DataClaim between the versions (behaviour facts on CAPM3, section 2.8).

Apart from the machinery: this is the table of fields.
"""

from __future__ import annotations

from capm3_api.conversion.common import REFERENCE, SECRET, reference
from capm3_api.conversion.machinery import Field, Shape, always, forced, non_zero, part, pointer, required, written

DATA = Shape(
    (
        part(
            "spec",
            Shape(
                (
                    Field("index", "index", always(0), non_zero(int)),
                    part("metaData", SECRET, pointer),
                    part("networkData", SECRET, pointer),
                    reference("claim"),
                    reference("template"),
                ),
                old_only=("templateReference",),
            ),
            written,
        ),
        part("status", Shape((required("ready", False), forced("errorMessage", ""))), written),
    )
)
DATA_CLAIM = Shape(
    (
        part("spec", Shape((reference("template"),)), written),
        part("status", Shape((part("renderedData", REFERENCE, pointer), forced("errorMessage", ""))), written),
    )
)
